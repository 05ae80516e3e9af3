//! Refuses requests that come too often.

mod config;

pub use config::{RateFields, RateKey, RateLimitConfig};
