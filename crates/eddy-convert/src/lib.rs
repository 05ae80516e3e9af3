//! Writes the routes of a configuration in another language, and reports where the conversion cannot be exact.
//!
//! The conversion preserves which requests go to which cluster, and with which path, host and headers. This holds for
//! paths that all dialects interpret alike (without percent-encodings, double slashes and dot segments) and for hosts
//! without a port and a final dot.

#![forbid(unsafe_code)]

mod cluster;
mod eddy;
mod foreign;
mod gateway_api;
mod named;
mod plain;
mod sites;
mod tls;
mod whole;
mod yaml;

pub use plain::Loss;
pub use whole::{ConversionTarget, Converted, convert};
