//! Fuzz target of the response scanner and parser.

#![no_main]

#[path = "../../crates/eddy-http/tests/fuzz/mod.rs"]
#[allow(dead_code, unused_imports, reason = "each target runs one of the bodies")]
mod fuzz;

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::response_head(data));
