//! Test cases: valid messages in both forms, mutated; the same in each run.

use std::fmt;
use std::sync::Arc;

use eddy_protobuf::{FromJson, FromJsonOptions, ProtobufLimits, Schema};

use super::REFUSED;
use super::values::mix;

/// An input in one of the forms.
#[derive(Clone, Debug)]
pub(crate) struct DifferentialCase {
    pub(crate) form: CaseEncoding,
    /// Index of its message in [`MESSAGES`].
    pub(crate) message: usize,
    pub(crate) bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaseEncoding {
    Wire,
    Json,
}

impl fmt::Display for DifferentialCase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.form {
            CaseEncoding::Wire => write!(formatter, "{} {:02x?}", MESSAGES[self.message], self.bytes),
            CaseEncoding::Json => {
                write!(formatter, "{} {}", MESSAGES[self.message], String::from_utf8_lossy(&self.bytes))
            }
        }
    }
}

/// Generates test cases.
pub(crate) struct Cases {
    seeds: Vec<DifferentialCase>,
    state: u64,
}

impl Cases {
    pub(crate) fn new(schema: &Arc<Schema>) -> Self {
        let mut seeds = Vec::new();
        for (message, json) in
            SEEDS.iter().flat_map(|json| (0..MESSAGES.len()).map(move |message| (message, json)))
        {
            let id = schema.find_message(MESSAGES[message]).unwrap();
            let mut reader =
                FromJson::new(schema.clone(), id, FromJsonOptions::default(), ProtobufLimits::default());
            let wire = reader
                .convert(json.as_bytes())
                .unwrap_or_else(|fault| panic!("{}: {json}", fault.describe(schema)));
            seeds.push(DifferentialCase { form: CaseEncoding::Wire, message, bytes: wire.to_vec() });
            seeds.push(DifferentialCase {
                form: CaseEncoding::Json,
                message,
                bytes: json.as_bytes().to_vec(),
            });
        }
        Self { seeds, state: 1 }
    }

    /// Returns a number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        self.state = self.state.wrapping_add(1);
        usize::try_from(mix(self.state) % bound.max(1) as u64).unwrap()
    }

    pub(crate) fn next(&mut self) -> DifferentialCase {
        let seed = self.below(self.seeds.len());
        let mut case = self.seeds[seed].clone();
        for _ in 0..self.below(4) {
            self.mutate(&mut case);
        }
        case
    }

    fn mutate(&mut self, case: &mut DifferentialCase) {
        let length = case.bytes.len();
        let at = self.below(length);
        let other = self.below(self.seeds.len());
        match self.below(9) {
            0 => case.bytes.truncate(at),
            1 if length > 0 => case.bytes[at] ^= 1 << self.below(8),
            2 if length > 0 => case.bytes[at] = self.interesting(case.form),
            3 => {
                let byte = self.interesting(case.form);
                case.bytes.insert(at, byte);
            }
            4 if length > 0 => {
                case.bytes.remove(at);
            }
            // Duplicates a part.
            5 => {
                let end = (at + self.below(20)).min(length);
                let part = case.bytes[at.min(length)..end].to_vec();
                case.bytes.splice(at..at, part);
            }
            // Removes a part.
            6 => {
                let end = (at + self.below(8)).min(length);
                case.bytes.drain(at.min(length)..end);
            }
            // Appends another message, which forms one message on the wire.
            7 if self.seeds[other].form == case.form => {
                case.bytes.extend_from_slice(&self.seeds[other].bytes)
            }
            // Inserts a value of another type.
            _ if case.form == CaseEncoding::Json => {
                let token = TOKENS[self.below(TOKENS.len())];
                if let Some(colon) =
                    case.bytes.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b':'))
                {
                    let start = at + colon + 1;
                    let rest = &case.bytes[start..];
                    let end =
                        rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']')).unwrap_or(rest.len());
                    case.bytes.splice(start..start + end, token.bytes());
                }
            }
            _ => {
                let byte = self.interesting(case.form);
                case.bytes.extend([byte, 1]);
            }
        }
    }

    fn interesting(&mut self, form: CaseEncoding) -> u8 {
        let bytes: &[u8] = match form {
            CaseEncoding::Wire => {
                &[0, 1, 2, 3, 4, 5, 7, 8, 0x0a, 0x10, 0x12, 0x1a, 0x7f, 0x80, 0x81, 0xc3, 0xe2, 0xff]
            }
            CaseEncoding::Json => b"{}[]\",:\\0123456789.-+eEnulltruefalse @_ \n\x00\x7f\xc3\xff",
        };
        bytes[self.below(bytes.len())]
    }
}

/// Intended differences.
pub(crate) fn is_known_difference(case: &DifferentialCase, found: &str, expected: &str) -> bool {
    // Go accepts hours of one digit, and a comma before the fraction of a second, which RFC 3339 does not allow.
    let text = String::from_utf8_lossy(&case.bytes);
    let bytes = text.as_bytes();
    let has_lax_time = bytes.windows(3).any(|part| matches!(part, [b'T', b'0'..=b'9', b':']))
        || bytes.windows(4).any(|part| matches!(part, [b':', b'0'..=b'9', b'0'..=b'9', b',']));
    // Go accepts `1e` as an integer, which is not a JSON number.
    let has_lax_number = bytes
        .windows(3)
        .any(|part| matches!(part, [b'0'..=b'9', b'e' | b'E', b',' | b'}' | b']' | b'"' | b' ' | b'\n']));
    // Go accepts seconds without digits on one side of the dot.
    let has_lax_text = [".s\"", "\".", "-.", "+."].iter().any(|part| text.contains(part));
    let is_lax = has_lax_time || has_lax_number || has_lax_text;
    case.form == CaseEncoding::Json && found == REFUSED && expected != REFUSED && is_lax
}

pub(crate) const MESSAGES: [&str; 2] = [
    "protobuf_test_messages.proto3.TestAllTypesProto3",
    "protobuf_test_messages.editions.proto3.TestAllTypesProto3",
];

/// JSON values.
const TOKENS: &[&str] = &[
    "null",
    "true",
    "0",
    "-0",
    "1",
    "-1",
    "1.0",
    "1.5",
    "1e2",
    "1E+2",
    "100e-2",
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e400",
    "3.5e38",
    "1e-400",
    "0.1",
    "01",
    "1.",
    ".5",
    "1e",
    "+1",
    "\"\"",
    "\"0\"",
    "\"-0\"",
    "\"1e2\"",
    "\" 1\"",
    "\"1 \"",
    "\"NaN\"",
    "\"Infinity\"",
    "\"-Infinity\"",
    "\"inf\"",
    "\"FOO\"",
    "\"BAR\"",
    "\"NEG\"",
    "\"foo\"",
    "\"AQI=\"",
    "\"AQI\"",
    "\"_-8\"",
    "\"+/8=\"",
    "\"A\"",
    "\"AA==\"",
    "\"AA=\"",
    "\"\\u0041\"",
    "\"\\ud834\\udd1e\"",
    "\"\\ud834\"",
    "\"\\x\"",
    "\"é\"",
    "\"1s\"",
    "\"-1.5s\"",
    "\"1.0000000001s\"",
    "\"315576000001s\"",
    "\"1970-01-01T00:00:00Z\"",
    "\"9999-12-31T23:59:59.999999999Z\"",
    "\"0001-01-01T00:00:00Z\"",
    "\"1970-01-01T00:00:00+01:00\"",
    "\"1970-02-30T00:00:00Z\"",
    "\"fooBar,baz.q\"",
    "\"foo_bar\"",
    "[]",
    "[1]",
    "[null]",
    "[1,2,]",
    "[\"a\"]",
    "{}",
    "{\"a\":1}",
    "{\"1\":{}}",
    "{\"true\":true}",
    "{\"a\":1,\"a\":2}",
    "{\"@type\":\"type.googleapis.com/google.protobuf.Duration\",\"value\":\"1s\"}",
    "{\"value\":{},\"@type\":\"x/google.protobuf.Empty\"}",
    "{\"@type\":\"x/google.protobuf.Any\",\"value\":{}}",
    "{\"@type\":\"none.Such\"}",
    "{\"@type\":\"x/protobuf_test_messages.proto3.ForeignMessage\",\"c\":5}",
];

const SEEDS: &[&str] = &[
    "{}",
    r#"{"optionalInt32":-5,"optionalInt64":"9007199254740993","optionalUint32":4000000000,"optionalUint64":"18446744073709551615"}"#,
    r#"{"optionalSint32":-7,"optionalSint64":"-8","optionalFixed32":9,"optionalFixed64":"10","optionalSfixed32":-11,"optionalSfixed64":"-12"}"#,
    r#"{"optionalFloat":1.5,"optionalDouble":-2.5e300,"optionalBool":true,"optionalString":"a \"text\" é 𝄞","optionalBytes":"AQID/w=="}"#,
    r#"{"optionalNestedMessage":{"a":1,"corecursive":{"optionalInt32":2,"optionalNestedMessage":{"a":3}}},"optionalForeignMessage":{"c":4}}"#,
    r#"{"optionalNestedEnum":"BAR","optionalForeignEnum":"FOREIGN_BAZ","optionalAliasedEnum":"MOO","repeatedNestedEnum":["FOO","NEG",7]}"#,
    r#"{"recursiveMessage":{"recursiveMessage":{"optionalString":"deep","repeatedString":["x",""]}}}"#,
    r#"{"repeatedInt32":[1,-2,300],"repeatedInt64":["1","-2"],"repeatedUint64":["3"],"repeatedSint32":[-1,1],"repeatedFixed32":[1,2]}"#,
    r#"{"repeatedFloat":[0.5,"NaN","Infinity"],"repeatedDouble":[1e-7,"-Infinity",-0.0],"repeatedBool":[true,false],"repeatedBytes":["","AQ=="]}"#,
    r#"{"repeatedNestedMessage":[{"a":1},{},{"corecursive":{}}],"repeatedForeignMessage":[{"c":1}],"repeatedString":["a","b"]}"#,
    r#"{"packedInt32":[1,2],"packedSint64":["-1"],"packedDouble":[1.5],"unpackedInt32":[1,2],"unpackedFixed64":["3"],"unpackedNestedEnum":["BAZ"]}"#,
    r#"{"mapInt32Int32":{"1":2,"-3":4},"mapInt64Int64":{"5":"6"},"mapBoolBool":{"true":true,"false":false},"mapStringString":{"a":"b","":""}}"#,
    r#"{"mapStringBytes":{"k":"AQI="},"mapStringNestedMessage":{"k":{"a":1},"l":{}},"mapStringNestedEnum":{"k":"BAR"},"mapInt32Double":{"1":1.5}}"#,
    r#"{"oneofUint32":5}"#,
    r#"{"oneofNestedMessage":{"a":0}}"#,
    r#"{"oneofString":"","optionalBoolWrapper":false,"optionalInt32Wrapper":0,"optionalStringWrapper":"w","optionalBytesWrapper":"AQ=="}"#,
    r#"{"optionalInt64Wrapper":"5","optionalUint64Wrapper":"6","optionalDoubleWrapper":1.5,"optionalFloatWrapper":2.5,"repeatedInt32Wrapper":[0,1]}"#,
    r#"{"oneofNullValue":null,"optionalNullValue":null}"#,
    r#"{"optionalDuration":"1.5s","repeatedDuration":["-1s","0.000001s"],"optionalTimestamp":"2024-02-29T12:00:00.5Z","repeatedTimestamp":["0001-01-01T00:00:00Z"]}"#,
    r#"{"optionalFieldMask":"fooBar,baz.quxQuux","repeatedFieldmask":["a","b,c"]}"#,
    r#"{"optionalStruct":{"a":1,"b":[null,true,"s",{"c":{}}]},"repeatedStruct":[{},{"x":1.5}]}"#,
    r#"{"optionalValue":{"a":[1,2,{"b":null}]},"repeatedValue":[1,"x",null,[],{}],"repeatedListValue":[[1],[]]}"#,
    r#"{"optionalAny":{"@type":"type.googleapis.com/protobuf_test_messages.proto3.TestAllTypesProto3","optionalInt32":5}}"#,
    r#"{"optionalAny":{"value":"1.5s","@type":"type.googleapis.com/google.protobuf.Duration"},"repeatedAny":[{},{"@type":"x/google.protobuf.Empty"}]}"#,
    r#"{"optionalAny":{"@type":"x/google.protobuf.Struct","value":{"a":{"b":1}}}}"#,
    r#"{"fieldname1":1,"fieldName2":2,"FieldName3":3,"fieldName4":4,"field0name5":5}"#,
];
