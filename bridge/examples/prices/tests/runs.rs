//! Builds and runs the example as its README describes.
#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn a_rust_program_uses_a_go_library() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libprices.so");
    let built = Command::new("go")
        .args(["build", "-buildmode=c-shared", "-o"])
        .arg(&library)
        .arg(".")
        .current_dir(root.join("go"))
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let run = Command::new(env!("CARGO_BIN_EXE_prices")).arg(&library).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let expected = "3 x apple: 0.90 (90 cents)\n2 x pear: 0.90 (90 cents)\n1 x melon: melon has no price\nasked: 30 cents\n";
    assert_eq!(String::from_utf8_lossy(&run.stdout), expected);
}

#[test]
fn the_generated_go_code_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let declaration = fs::read_to_string(root.join("src/prices.rs")).unwrap();
    let made = eddy_bridge_gen::go_text(&declaration, "prices.rs", "main").unwrap();
    let there = fs::read_to_string(root.join("go/prices_bridge.go")).unwrap();
    assert!(there == made, "run: eddy-bridge generate src/prices.rs --go go --package main");
}
