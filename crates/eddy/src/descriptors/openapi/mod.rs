//! Describes the HTTP API of `grpc_json` as OpenAPI 3.1.

mod document;
mod operation;
mod parameters;
mod paths;
mod schemas;

pub(crate) use document::{OpenApiOptions, open_api};

#[cfg(test)]
mod tests;
