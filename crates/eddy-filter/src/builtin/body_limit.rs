//! Refuses bodies that are too large.

/// The configuration of `body_limit`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BodyLimitConfig {
    /// Largest body of a request, bytes; `None` for any.
    pub request_bytes_max: Option<u64>,
    /// Largest body of a response, bytes; `None` for any.
    pub response_bytes_max: Option<u64>,
}
