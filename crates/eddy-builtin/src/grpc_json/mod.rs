//! JSON over HTTP for gRPC services.

mod config;
mod filter;
mod request;
mod response;

pub use config::{GrpcJsonConfig, UnknownRequests};
pub use eddy_protobuf::{EnumForm, JsonFieldNaming, StreamForm, Unknown};

pub(crate) use filter::GrpcJson;

#[cfg(test)]
mod tests;
