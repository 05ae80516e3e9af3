//! Fuzz target of the configuration parser.

#![no_main]

#[path = "../../crates/eddy-dialects/tests/fuzz/mod.rs"]
mod fuzz;

libfuzzer_sys::fuzz_target!(|text: &str| {
    fuzz::configuration(text);
});
