//! Status of a gRPC call.

use std::sync::{Arc, LazyLock};

use crate::json::{ToJson, ToJsonOptions, decode_base64, write_base64, write_text};
use crate::limits::ProtobufLimits;
use crate::schema::{Schema, Special};
use crate::wire::{Items, WireValue};

/// Content of a `google.rpc.Status`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RpcStatus {
    /// gRPC status code; 0 is success.
    pub code: u32,
    /// Message for developers.
    pub message: String,
    /// Details, each as a type URL and an encoded message.
    pub details: Vec<(String, Vec<u8>)>,
}

impl RpcStatus {
    /// Creates a status with a code and a message.
    pub fn new(code: u32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Vec::new() }
    }

    /// Parses the status from trailers: the values of `grpc-status`, `grpc-message` and `grpc-status-details-bin`. A
    /// code that is not a number becomes 2, `UNKNOWN`; invalid details are left out.
    ///
    /// # Spec
    /// [gRPC over HTTP/2](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md), Status.
    pub fn from_trailers(code: &[u8], message: Option<&[u8]>, details: Option<&[u8]>) -> Self {
        let code = std::str::from_utf8(code).ok().and_then(|code| code.trim().parse().ok());
        let mut status = Self::new(code.unwrap_or(UNKNOWN), plain(message.unwrap_or_default()));
        let mut bytes = Vec::new();
        if let Some(details) = details
            && details.len() <= DETAILS_BYTES_MAX
            && decode_base64(&mut bytes, details).is_some()
        {
            status.read_details(&bytes);
        }
        status
    }

    /// Adds the details of an encoded `google.rpc.Status` that are valid.
    fn read_details(&mut self, status: &[u8]) {
        let mut items = Items::new(status, 1);
        while let Ok(Some((number, item))) = items.next() {
            let (DETAILS, WireValue::Bytes(any)) = (number, item) else { continue };
            let mut detail = (String::new(), Vec::new());
            let mut fields = Items::new(any, 1);
            while let Ok(Some((number, item))) = fields.next() {
                match (number, item) {
                    (1, WireValue::Bytes(url)) => detail.0 = String::from_utf8_lossy(url).into_owned(),
                    (2, WireValue::Bytes(value)) => detail.1 = value.to_vec(),
                    _ => {}
                }
            }
            if !detail.0.is_empty() && self.details.len() < DETAILS_MAX {
                self.details.push(detail);
            }
        }
    }

    /// Returns the JSON form. Details of types that neither `schema` nor `google/rpc/error_details.proto` contain are
    /// written as Base64.
    pub fn to_json(&self, schema: &Arc<Schema>, options: ToJsonOptions, limits: ProtobufLimits) -> Vec<u8> {
        let mut out = format!("{{\"code\":{},\"message\":", self.code).into_bytes();
        write_text(&mut out, &self.message);
        if !self.details.is_empty() {
            out.extend_from_slice(b",\"details\":[");
            for (at, (url, value)) in self.details.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write_detail(&mut out, schema, (url, value), options, limits);
            }
            out.push(b']');
        }
        out.push(b'}');
        out
    }

    /// Returns the equivalent HTTP status.
    ///
    /// # Spec
    /// [google/rpc/code.proto](https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto)
    pub fn http_status(&self) -> u16 {
        match self.code {
            0 => 200,
            // CANCELLED: the client closed the request.
            1 => 499,
            // INVALID_ARGUMENT, FAILED_PRECONDITION, OUT_OF_RANGE
            3 | 9 | 11 => 400,
            // DEADLINE_EXCEEDED
            4 => 504,
            // NOT_FOUND
            5 => 404,
            // ALREADY_EXISTS, ABORTED
            6 | 10 => 409,
            // PERMISSION_DENIED
            7 => 403,
            // RESOURCE_EXHAUSTED
            8 => 429,
            // UNIMPLEMENTED
            12 => 501,
            // UNAVAILABLE
            14 => 503,
            // UNAUTHENTICATED
            16 => 401,
            // UNKNOWN, INTERNAL, DATA_LOSS, and unknown codes.
            _ => 500,
        }
    }
}

fn write_detail(
    out: &mut Vec<u8>,
    schema: &Arc<Schema>,
    (url, value): (&str, &[u8]),
    options: ToJsonOptions,
    limits: ProtobufLimits,
) {
    out.extend_from_slice(b"{\"@type\":");
    write_text(out, url);
    let known = [schema, &*ERROR_DETAILS]
        .into_iter()
        .find_map(|schema| Some((schema, schema.find_by_url(url.as_bytes())?)));
    let written = known.and_then(|(schema, id)| {
        let mut json = ToJson::new(Arc::clone(schema), id, options, limits);
        let json = json.convert(value).ok()?;
        match schema.message(id).special {
            Special::None => match json {
                b"{}" => {}
                _ => {
                    out.push(b',');
                    out.extend_from_slice(json.get(1..json.len() - 1).unwrap_or_default());
                }
            },
            _ => {
                out.extend_from_slice(b",\"value\":");
                out.extend_from_slice(json);
            }
        }
        Some(())
    });
    if written.is_none() {
        out.extend_from_slice(b",\"value\":\"");
        write_base64(out, value);
        out.push(b'"');
    }
    out.push(b'}');
}

/// Decodes percent-encoded text; an invalid escape is kept literally.
fn plain(text: &[u8]) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, behind)) = rest.split_first() {
        let hex = behind.get(..2).and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match hex.filter(|_| *byte == b'%' && behind.first() != Some(&b'+')) {
            Some(value) => {
                out.push(value);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                out.push(*byte);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Detail types that services use without declaring them.
static ERROR_DETAILS: LazyLock<Arc<Schema>> = LazyLock::new(|| {
    let schema = Schema::from_descriptors(include_bytes!("error_details.binpb"));
    Arc::new(schema.expect("the descriptors are part of the program"))
});

/// `google.rpc.Status.details`.
const DETAILS: u32 = 3;
const UNKNOWN: u32 = 2;
/// Maximum bytes of encoded details that are parsed; response heads are not much larger.
const DETAILS_BYTES_MAX: usize = 64 * 1024;
const DETAILS_MAX: usize = 64;
