//! Conversion from JSON to the wire format.

mod any;
mod capture;
mod converter;
mod frame;
mod member;
mod message;
mod parser;
mod scalar;
mod token;
mod value;

pub use converter::FromJson;
