//! Program for the protobuf conformance runner: requests on standard input, responses on standard output.
//!
//! `conformance_test_runner target/release/examples/conformance`. Each conversion is done as a whole and in pieces,
//! which must agree.

#![expect(clippy::cast_possible_truncation, reason = "the low seven bits are what is meant")]

use std::io::{self, Read, Write};
use std::sync::Arc;

use eddy_protobuf::{
    FromJson, FromJsonOptions, MessageId, ProtobufError, ProtobufLimits, Schema, ToJson, ToJsonOptions,
    Unknown, canonical,
};

const DESCRIPTORS: &[u8] = include_bytes!("../tests/schema/conformance.binpb");

fn main() -> io::Result<()> {
    let schema = Arc::new(Schema::from_descriptors(DESCRIPTORS).expect("the descriptors are sound"));
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    loop {
        let mut length = [0; 4];
        if input.read_exact(&mut length).is_err() {
            return Ok(());
        }
        let mut request = vec![0; u32::from_le_bytes(length) as usize];
        input.read_exact(&mut request)?;
        let (field, payload) = answer(&schema, &ConformanceRequest::read(&request));
        let mut response = vec![field << 3 | 2];
        write_varint(&mut response, payload.len());
        response.extend(payload);
        let length = u32::try_from(response.len()).expect("answers are small");
        output.write_all(&length.to_le_bytes())?;
        output.write_all(&response)?;
        output.flush()?;
    }
}

/// Fields of a `ConformanceRequest`.
#[derive(Default)]
struct ConformanceRequest<'r> {
    protobuf: Option<&'r [u8]>,
    json: Option<&'r [u8]>,
    format: u64,
    message: &'r str,
    category: u64,
}

impl<'r> ConformanceRequest<'r> {
    fn read(mut bytes: &'r [u8]) -> Self {
        let mut request = Self::default();
        while !bytes.is_empty() {
            let tag = read_varint(&mut bytes);
            let value = read_varint(&mut bytes);
            if tag & 7 == 0 {
                match tag >> 3 {
                    3 => request.format = value,
                    5 => request.category = value,
                    _ => {}
                }
                continue;
            }
            let (text, rest) = bytes.split_at(usize::try_from(value).expect("lengths are small"));
            bytes = rest;
            match tag >> 3 {
                1 => request.protobuf = Some(text),
                2 => request.json = Some(text),
                4 => request.message = std::str::from_utf8(text).expect("names are UTF-8"),
                _ => {}
            }
        }
        request
    }
}

/// Returns the field number of the `ConformanceResponse`, and its content.
fn answer(schema: &Arc<Schema>, request: &ConformanceRequest<'_>) -> (u8, Vec<u8>) {
    let refused = |field: u8, fault: ProtobufError| (field, fault.describe(schema).into_bytes());
    if request.message == "conformance.FailureSet" {
        return (PROTOBUF, Vec::new());
    }
    if !matches!(request.format, FORMAT_PROTOBUF | FORMAT_JSON) || request.protobuf.or(request.json).is_none()
    {
        return (SKIPPED, b"only the wire format and JSON are supported".to_vec());
    }
    let Some(message) = schema.find_message(request.message) else {
        return (SKIPPED, b"unknown message type".to_vec());
    };
    let unknown = if request.category == IGNORE_UNKNOWN { Unknown::Ignore } else { Unknown::Refuse };
    let parsed = match (request.protobuf, request.json) {
        (Some(bytes), _) => {
            let mut ordered = Vec::new();
            match canonical(schema, message, bytes, &ProtobufLimits::default(), &mut ordered) {
                Ok(()) if request.format == FORMAT_JSON => Ok(bytes.to_vec()),
                Ok(()) => Ok(ordered),
                Err(fault) => {
                    let written = to_json(schema, message, bytes);
                    assert!(written.is_err(), "what is no message has no JSON");
                    Err(fault)
                }
            }
        }
        (None, json) => from_json(schema, message, json.unwrap_or_default(), unknown),
    };
    match parsed {
        Err(fault) => refused(PARSE_ERROR, fault),
        Ok(bytes) if request.format == FORMAT_PROTOBUF => (PROTOBUF, bytes),
        Ok(bytes) => match to_json(schema, message, &bytes) {
            Ok(json) => (JSON, json),
            Err(fault) => refused(SERIALIZE_ERROR, fault),
        },
    }
}

fn to_json(schema: &Arc<Schema>, message: MessageId, bytes: &[u8]) -> Result<Vec<u8>, ProtobufError> {
    let mut converter =
        ToJson::new(schema.clone(), message, ToJsonOptions::default(), ProtobufLimits::default());
    let whole = converter.convert(bytes).map(<[u8]>::to_vec);
    for step in [1, 3, 50] {
        converter.reset();
        let pushed =
            bytes.chunks(step).try_for_each(|piece| converter.push(piece)).and_then(|()| converter.finish());
        match &whole {
            Ok(whole) => assert_eq!(pushed.map(|()| converter.ready()), Ok(&whole[..]), "by {step}"),
            Err(_) => assert!(pushed.is_err(), "by {step}"),
        }
    }
    whole
}

fn from_json(
    schema: &Arc<Schema>,
    message: MessageId,
    json: &[u8],
    unknown: Unknown,
) -> Result<Vec<u8>, ProtobufError> {
    let options = FromJsonOptions { unknown, ..FromJsonOptions::default() };
    let mut converter = FromJson::new(schema.clone(), message, options, ProtobufLimits::default());
    let whole = converter.convert(json).map(<[u8]>::to_vec);
    for step in [1, 3, 50] {
        converter.reset();
        let mut pieces = json.chunks(step);
        let pushed = pieces.try_for_each(|piece| match converter.push(piece) {
            Ok(used) if used < piece.len() => Err(None),
            Ok(_) => Ok(()),
            Err(fault) => Err(Some(fault)),
        });
        let pushed = pushed.and_then(|()| converter.finish().map_err(Some));
        match &whole {
            Ok(whole) => assert_eq!(pushed, Ok(&whole[..]), "by {step}"),
            Err(_) => assert!(pushed.is_err(), "by {step}"),
        }
    }
    whole
}

fn read_varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for place in 0..10 {
        let (byte, rest) = bytes.split_first().expect("requests are whole");
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << (7 * place);
        if *byte < 0x80 {
            break;
        }
    }
    value
}

fn write_varint(out: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

const PARSE_ERROR: u8 = 1;
const PROTOBUF: u8 = 3;
const JSON: u8 = 4;
const SKIPPED: u8 = 5;
const SERIALIZE_ERROR: u8 = 6;
const FORMAT_PROTOBUF: u64 = 1;
const FORMAT_JSON: u64 = 2;
const IGNORE_UNKNOWN: u64 = 3;
