//! What others wrote, as they published it: filters, and programs to compare and to talk with. None of their sources are in
//! this tree.
//!
//! What cannot be had skips the test, with a notice of `test_peers`. With `EDDY_REQUIRE_PEERS=1`, what comes from a package
//! registry must be there.

mod envoy;
mod grpc;
mod h2spec;
mod pebble;
mod registry;
mod sdk_go;
mod sdk_rust;

pub use envoy::{BUILD_TIME_MAX, EnvoyFilter, envoy_filters};
pub use grpc::{Conformance, access_log_service, grpc_conformance, grpc_peer};
pub use h2spec::h2spec;
pub use pebble::{Pebble, PebblePrograms, PebbleSettings};
pub use registry::FilterSource;
pub use sdk_go::go_sdk_examples;
pub use sdk_rust::rust_sdk_examples;
