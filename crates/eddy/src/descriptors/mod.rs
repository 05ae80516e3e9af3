//! Protobuf descriptors: fetched from a server by gRPC reflection, and described as an HTTP API.

mod call;
mod openapi;
mod reflection;
mod set;

pub(crate) use openapi::{OpenApiOptions, open_api};
pub(crate) use reflection::{ServerAddress, fetch};
