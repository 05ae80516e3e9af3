//! Conversion from the wire format to JSON.

mod converter;
mod entry;
mod fields;
mod frame;
mod machine;
mod ongoing;
mod scalar;
mod special;
mod text;

pub use converter::ToJson;
