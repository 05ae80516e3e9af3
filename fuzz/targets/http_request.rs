//! Fuzz target of transcoding: JSON requests to a gRPC service.

#![no_main]

#[path = "../../crates/eddy-protobuf/tests/fuzz/mod.rs"]
#[allow(dead_code, unused_imports, reason = "each target runs one of the bodies")]
mod fuzz;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    fuzz::http::request(data);
});
