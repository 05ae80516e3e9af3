//! What a parser saw in a string of bytes, in the terms that all parsers share.

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};

use crate::wire::WireRequest;

/// What a parser saw.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct ParserObservation {
    /// The whole requests, in order.
    pub messages: Vec<SeenMessage>,
    /// What ended the reading; empty when everything was read.
    pub error: String,
}

/// A request as far as parsers must agree on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct SeenMessage {
    /// The method.
    pub method: String,
    /// The request target.
    pub target: String,
    /// The value of `Host`.
    pub host: String,
    /// The body.
    #[serde(deserialize_with = "from_base64")]
    pub body: Vec<u8>,
}

/// What a parser in another process is asked.
#[derive(Serialize)]
pub(super) struct Question {
    raw: String,
}

impl Question {
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

/// A text with a character for each byte.
pub(super) fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

fn from_base64<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    BASE64.decode(text.as_bytes()).map_err(serde::de::Error::custom)
}
