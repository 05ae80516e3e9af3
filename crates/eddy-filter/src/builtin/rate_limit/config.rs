//! How the filter is configured.

use std::sync::Arc;
use std::time::Duration;

use crate::builtin::address::ClientConfig;

/// The configuration of `rate_limit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimitConfig {
    /// Requests that are let through in each `per`; at least 1.
    pub requests: u32,
    /// The time that `requests` are counted in; at least a millisecond.
    pub per: Duration,
    /// Most requests at once after a pause; at least 1.
    pub burst: u32,
    /// Which requests are counted together.
    pub key: RateKey,
    /// Most keys that are counted at once.
    pub keys_max: u32,
    /// Which answers tell of the limit.
    pub fields: RateFields,
}

/// Which requests are counted together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RateKey {
    /// All.
    All,
    /// Those of one client; IPv6 addresses that share so many bits count as one client.
    Client {
        /// Whose address counts.
        client: ClientConfig,
        /// How many bits of an IPv6 address count.
        ipv6_prefix_bits: u8,
    },
    /// Those with one value of a field.
    Field(Arc<str>),
}

/// Which answers tell of the limit in the fields `RateLimit` and `RateLimit-Policy`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateFields {
    /// None.
    Never,
    /// Those that refuse.
    #[default]
    Refused,
    /// All.
    Always,
}
