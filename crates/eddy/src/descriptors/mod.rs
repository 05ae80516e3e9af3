//! Descriptors of protobuf: fetched from a server that tells of itself, and told of as an API of HTTP.

mod call;
mod openapi;
mod reflection;
mod set;

pub(crate) use openapi::{OpenApiOptions, open_api};
pub(crate) use reflection::{ServerAddress, fetch};
