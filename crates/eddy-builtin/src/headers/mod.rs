//! Changes to headers of requests and responses.

mod config;
mod filter;

pub use config::{FieldRules, HeadersConfig};
pub(super) use filter::HeadersFilter;
