//! gRPC-Web, as used by browsers, for gRPC services.

mod call;
mod filter;
mod text;

pub use filter::GrpcWebConfig;

pub(super) use filter::GrpcWeb;

#[cfg(test)]
mod tests;
