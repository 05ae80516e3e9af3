//! Result of a parser for a byte string, in a form common to all parsers.

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};

use crate::wire::WireRequest;

/// Result of a parser for a byte string.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct ParserObservation {
    /// Complete requests, in order.
    pub messages: Vec<SeenMessage>,
    /// Error that stopped the parser; empty when everything was read.
    pub error: String,
}

/// The parts of a request on which parsers must agree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct SeenMessage {
    /// Request method.
    pub method: String,
    /// Request target.
    pub target: String,
    /// Value of `Host`.
    pub host: String,
    /// Request body.
    #[serde(deserialize_with = "from_base64")]
    pub body: Vec<u8>,
}

/// Input of a parser in another process.
#[derive(Serialize)]
pub(super) struct ParserInput {
    raw: String,
}

impl ParserInput {
    pub(super) fn new(raw: &[u8]) -> Self {
        Self { raw: BASE64.encode(raw) }
    }
}

impl From<&WireRequest> for SeenMessage {
    fn from(request: &WireRequest) -> Self {
        Self {
            method: latin1(&request.method),
            target: latin1(&request.target),
            host: latin1(request.host()),
            body: request.body.clone(),
        }
    }
}

/// Decodes bytes as Latin-1: one character per byte.
pub(super) fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

fn from_base64<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    BASE64.decode(text.as_bytes()).map_err(serde::de::Error::custom)
}
