//! A Go program that loads a Rust library with the services of the other tests.
#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::env;
use std::path::Path;
use std::process::Command;

#[test]
fn a_go_program_loads_a_rust_library() {
    // Cargo builds it with this test, beside it.
    let library = env::current_exe().unwrap().with_file_name("libeddy_bridge_e2e.so");
    let output = Command::new("go")
        .args(["test", "-count=1", "-v", "-timeout=5m", "."])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("go"))
        .env("EDDY_BRIDGE_LIBRARY", &library)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let passed = printed.matches("--- PASS").count();
    assert!(output.status.success() && passed > 0 && !printed.contains("--- SKIP"), "{printed}");
}
