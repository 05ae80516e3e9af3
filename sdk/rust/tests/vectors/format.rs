//! File format of `abi/vectors`, for programs that run the cases.

use std::iter::repeat_n;

use serde::Deserialize;
use serde_json::Value;

/// A file of test cases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    #[serde(rename = "about")]
    _about: String,
    pub(crate) cases: Vec<VectorCase>,
}

/// Filters, and the calls that they get.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VectorCase {
    pub(crate) name: String,
    #[serde(rename = "why", default)]
    _why: String,
    #[serde(default)]
    pub(crate) needs: Vec<String>,
    pub(crate) steps: Vec<StepOf>,
    pub(crate) calls: Vec<CallOf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepOf {
    pub(crate) config: Value,
    pub(crate) rule: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallOf {
    pub(crate) phase: String,
    pub(crate) request: Option<RequestOf>,
    pub(crate) response: Option<ResponseOf>,
    #[serde(default)]
    pub(crate) trailers: Vec<FieldOf>,
    #[serde(default)]
    pub(crate) body: VectorBytes,
    #[serde(default)]
    pub(crate) end: bool,
    #[serde(default)]
    pub(crate) buffered: bool,
    #[serde(default)]
    pub(crate) local: bool,
    #[serde(default)]
    pub(crate) tls: bool,
    #[serde(default)]
    pub(crate) sample: bool,
    #[serde(default)]
    pub(crate) metadata: Vec<(String, String, String)>,
    #[serde(default)]
    pub(crate) about: AboutOf,
    pub(crate) expect: VectorExpectation,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestOf {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) authority: String,
    pub(crate) scheme: String,
    pub(crate) version: u8,
    pub(crate) fields: Vec<FieldOf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResponseOf {
    pub(crate) status: u16,
    pub(crate) fields: Vec<FieldOf>,
}

/// A name and a value; with a count, that many fields, where `#` in the name is the number of each.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum FieldOf {
    One(VectorBytes, VectorBytes),
    Many(VectorBytes, VectorBytes, usize),
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AboutOf {
    pub(crate) peer: String,
    pub(crate) local: String,
    pub(crate) listener: String,
    pub(crate) rule: String,
    pub(crate) cluster: String,
    pub(crate) endpoint: String,
    pub(crate) request_id: String,
    pub(crate) details: String,
    pub(crate) attempts: u32,
    pub(crate) request_bytes: u64,
    pub(crate) response_bytes: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VectorExpectation {
    pub(crate) stopped: Option<usize>,
    #[serde(default)]
    pub(crate) verdicts: Vec<String>,
    pub(crate) edits: Vec<EditOf>,
    #[serde(default)]
    pub(crate) refused: bool,
    pub(crate) resume: Option<ResumeOf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResumeOf {
    pub(crate) verdict: String,
    pub(crate) edits: Vec<EditOf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct EditOf {
    pub(crate) step: u16,
    pub(crate) op: String,
    pub(crate) name: VectorBytes,
    pub(crate) value: VectorBytes,
    #[serde(deserialize_with = "some")]
    pub(crate) json: Option<Value>,
    pub(crate) contains: Option<String>,
    pub(crate) space: String,
    pub(crate) key: String,
    pub(crate) number: u32,
}

/// Deserializes a present value, even if it is null.
fn some<'d, D: serde::Deserializer<'d>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

/// Bytes in the form of the vectors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "VectorBytesForm")]
pub(crate) struct VectorBytes(pub(crate) Vec<u8>);

#[derive(Deserialize)]
#[serde(untagged)]
enum VectorBytesForm {
    Plain(String),
    Hex { hex: String },
    Repeat { repeat: String, times: usize },
}

impl TryFrom<VectorBytesForm> for VectorBytes {
    type Error = String;

    fn try_from(form: VectorBytesForm) -> Result<Self, String> {
        match form {
            VectorBytesForm::Plain(text) => Ok(Self(text.into_bytes())),
            VectorBytesForm::Repeat { repeat, times } => Ok(Self(repeat.repeat(times).into_bytes())),
            VectorBytesForm::Hex { hex } => {
                let (pairs, _) = hex.as_bytes().as_chunks::<2>();
                let byte = |pair: &[u8; 2]| {
                    let digits = std::str::from_utf8(pair).map_err(|error| error.to_string())?;
                    u8::from_str_radix(digits, 16).map_err(|error| error.to_string())
                };
                pairs.iter().map(byte).collect::<Result<_, _>>().map(Self)
            }
        }
    }
}

impl EditOf {
    /// Whether an edit equals this one.
    pub(crate) fn is_that(&self, op: u8, step: u16, number: u32, name: &[u8], value: &[u8]) -> bool {
        let own = match self.op.as_str() {
            "metadata" => [self.space.as_bytes(), b"\0", self.key.as_bytes()].concat(),
            _ => self.name.0.clone(),
        };
        let is_value = match (&self.json, &self.contains) {
            (_, Some(part)) => String::from_utf8_lossy(value).contains(part.as_str()),
            (Some(json), None) => serde_json::from_slice::<Value>(value).is_ok_and(|value| value == *json),
            (None, None) => value == self.value.0,
        };
        op == 1 + number_of(OPS, &self.op)
            && (step, number) == (self.step, self.number)
            && name.eq_ignore_ascii_case(&own)
            && is_value
    }
}

/// Returns the fields of a section by name and value, with repeated ones expanded.
pub(crate) fn listed(list: &[FieldOf]) -> impl Iterator<Item = (String, &[u8])> {
    list.iter().flat_map(|field| {
        let (name, value, times) = match field {
            FieldOf::One(name, value) => (name, value, 1),
            FieldOf::Many(name, value, times) => (name, value, *times),
        };
        repeat_n((name, value), times).enumerate().map(|(index, (name, value))| {
            (String::from_utf8_lossy(&name.0).replace('#', &index.to_string()), &*value.0)
        })
    })
}

/// Returns the number of a name of the filter ABI.
pub(crate) fn number_of(names: &[&str], name: &str) -> u8 {
    let place = names.iter().position(|known| *known == name).expect("a name of the contract");
    u8::try_from(place).expect("there are few")
}

pub(crate) const PHASES: &[&str] = &[
    "request_head",
    "request_body",
    "request_trailers",
    "response_head",
    "response_body",
    "response_trailers",
    "log",
];
pub(crate) const VERDICTS: &[&str] = &["continue", "reply", "pause", "buffer", "fault", "reset"];
pub(crate) const OPS: &[&str] = &[
    "set",
    "add",
    "remove",
    "method",
    "target",
    "authority",
    "status",
    "body_set",
    "body_append",
    "body_prepend",
    "body_drain",
    "reply",
    "reply_field",
    "metadata",
    "clear_route",
    "endpoint",
    "fault",
    "reply_grpc",
];
