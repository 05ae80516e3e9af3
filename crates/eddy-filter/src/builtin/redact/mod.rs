//! Takes out of protobuf messages, or masks in them, what must not go on.

mod body;
mod config;
mod filter;
mod policy;
mod refusal;

pub use config::{AnyValues, Directions, RedactConfig, RedactEdit};

pub(crate) use filter::Redact;

#[cfg(test)]
mod tests;
