//! Changes fields of requests and responses.

mod config;

pub use config::{FieldRules, HeadersConfig};
