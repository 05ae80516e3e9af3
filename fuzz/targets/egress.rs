//! Fuzz target of the egress check: a head is parsed again before it is sent.

#![no_main]

#[path = "../../crates/eddy-http/tests/fuzz/mod.rs"]
#[allow(dead_code, unused_imports, reason = "each target runs one of the bodies")]
mod fuzz;

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::egress(data));
