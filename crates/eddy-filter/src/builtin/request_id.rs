//! Gives requests an id.

use std::sync::Arc;

use super::address::IpBlock;

/// The configuration of `request_id`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestIdConfig {
    /// The field that carries the id.
    pub field: Arc<str>,
    /// What a new id looks like.
    pub format: IdFormat,
    /// Peers whose own id is kept.
    pub trusted: Vec<IpBlock>,
    /// Whether the client is told the id.
    pub is_told: bool,
}

/// What an id looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdFormat {
    /// 32 hexadecimal digits.
    Hex,
    /// A random UUID (RFC 9562, version 4).
    Uuid4,
    /// A UUID that begins with the time (RFC 9562, version 7).
    #[default]
    Uuid7,
}

impl Default for RequestIdConfig {
    fn default() -> Self {
        Self {
            field: "x-request-id".into(),
            format: IdFormat::default(),
            trusted: Vec::new(),
            is_told: false,
        }
    }
}
