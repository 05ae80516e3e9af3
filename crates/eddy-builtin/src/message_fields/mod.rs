//! Protobuf fields in access logs, headers and, through headers, routing.

mod config;
mod filter;
mod notes;
mod plan;
mod reading;
mod value;

pub use config::{FieldToExtract, MessageFieldsConfig, WhichMessage};

pub(crate) use filter::MessageFields;

#[cfg(test)]
mod tests;
