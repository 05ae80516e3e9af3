//! The committed Go code of the benchmark equals the output of the generator.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

#[test]
fn the_generated_go_code_is_up_to_date() {
    let host = Path::new(env!("CARGO_MANIFEST_DIR"));
    let declaration = fs::read_to_string(host.join("src/figures.rs")).expect("the declaration");
    let made = eddy_bridge_gen::go_text(&declaration, "figures.rs", "main").expect("it is one");
    let there = fs::read_to_string(host.join("../program/figures_bridge.go")).expect("the Go side");
    assert!(
        there == made,
        "run: eddy-bridge generate bench/bridge/host/src/figures.rs --go bench/bridge/program --package main"
    );
}
