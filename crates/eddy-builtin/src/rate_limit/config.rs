//! Configuration of `rate_limit`.

use std::sync::Arc;
use std::time::Duration;

use crate::address::ClientConfig;

/// Configuration of `rate_limit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimitConfig {
    /// Number of requests allowed per `per`; at least 1.
    pub requests: u32,
    /// Time window of `requests`; at least a millisecond.
    pub per: Duration,
    /// Maximum burst of requests after a pause; at least 1.
    pub burst: u32,
    /// Key by which requests are counted.
    pub key: RateKey,
    /// Maximum number of keys counted at a time.
    pub keys_max: u32,
    /// Responses with `RateLimit` headers.
    pub fields: RateFields,
}

/// Key by which requests are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RateKey {
    /// All requests together.
    All,
    /// By client address; IPv6 addresses with the same prefix count as one client.
    Client {
        /// Source of the client address.
        client: ClientConfig,
        /// Prefix length of IPv6 addresses in bits.
        ipv6_prefix_bits: u8,
    },
    /// By the value of a request header.
    Field(Arc<str>),
}

/// Responses with the headers `RateLimit` and `RateLimit-Policy`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateFields {
    /// No responses.
    Never,
    /// Only responses to refused requests.
    #[default]
    Refused,
    /// All responses.
    Always,
}
