//! Rate limits for requests.

mod bucket;
mod config;
mod filter;
mod table;

pub use config::{RateFields, RateKey, RateLimitConfig};
pub(super) use filter::RateLimit;

#[cfg(test)]
mod tests;
