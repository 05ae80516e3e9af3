//! Redaction of private fields in protobuf messages.

mod body;
mod config;
mod filter;
mod policy;
mod refusal;

pub use config::{AnyValues, Directions, RedactConfig, RedactEdit};

pub(crate) use filter::Redact;

#[cfg(test)]
mod tests;
