//! Third-party software as published: filters, and programs to compare and communicate with.
//!
//! None of their sources are in this tree. A test whose software is not available is skipped, with a notice of
//! `test_peers`. With `EDDY_REQUIRE_PEERS=1` it fails instead, unless the sources are in a repository rather than
//! in a package registry.

mod envoy;
mod grpc;
mod h2spec;
mod listening;
mod pebble;
mod registry;
mod sdk_go;
mod sdk_rust;

pub use envoy::{BUILD_TIME_MAX, EnvoyFilter, envoy_filters};
pub use grpc::{Conformance, access_log_service, grpc_conformance, grpc_peer};
pub use h2spec::h2spec;
pub use listening::listening;
pub use pebble::{Pebble, PebblePrograms, PebbleSettings};
pub use registry::FilterSource;
pub use sdk_go::go_sdk_examples;
pub use sdk_rust::rust_sdk_examples;
