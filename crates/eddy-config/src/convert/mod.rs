//! Writes the routes of a configuration in another language, and names each place where that cannot be exact.
//!
//! What is kept is which requests go where, and with which path, host and fields; for paths that are read alike in all
//! dialects, without escapes, double slashes and dot segments, and for hosts without a port and a final dot.

mod cluster;
mod eddy;
mod foreign;
mod gateway_api;
mod named;
mod sites;
mod tls;
mod whole;
mod yaml;

pub use whole::{ConversionTarget, Converted, Loss, convert};
