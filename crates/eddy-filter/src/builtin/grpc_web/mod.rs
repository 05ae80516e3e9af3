//! gRPC-Web, as browsers speak it, for services that speak gRPC.

mod call;
mod filter;
mod text;
mod trailers;

pub use filter::GrpcWebConfig;

pub(super) use filter::GrpcWeb;

#[cfg(test)]
mod tests;
