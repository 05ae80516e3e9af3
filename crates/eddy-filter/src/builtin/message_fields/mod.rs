//! Fields of protobuf messages for the access log, for headers, and by these for routes.

mod config;
mod filter;
mod notes;
mod places;
mod plan;
mod reading;
mod value;

pub use config::{MessageFieldsConfig, WantedField, WhichMessage};
pub use places::{FieldPlace, field_json, field_places};

pub(crate) use filter::MessageFields;

#[cfg(test)]
mod tests;
