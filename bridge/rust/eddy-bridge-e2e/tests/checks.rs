//! Go's pointer checks and the C compiler's AddressSanitizer find no error.
#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use eddy_bridge_e2e::{Echo, ValueGenerator, View, build, open};

/// Path of the library, passed to the second program.
const LIBRARY: &str = "EDDY_BRIDGE_LIBRARY";

#[test]
fn checkptr_finds_nothing() {
    run(&["-gcflags=github.com/eddy-gateway/eddy/...=-d=checkptr"], &[], None);
}

#[test]
#[ignore = "Go's library is built anew with the checks in it: `cargo test -- --ignored`"]
fn cgocheck2_finds_nothing() {
    run(&[], &[("GOEXPERIMENT", "cgocheck2")], None);
}

#[test]
#[ignore = "a library with the sanitizer takes a minute to build: `cargo test -- --ignored`"]
fn the_address_sanitizer_finds_nothing() {
    let found = Command::new("cc").arg("-print-file-name=libasan.so").output().unwrap();
    let path = PathBuf::from(String::from_utf8(found.stdout).unwrap().trim());
    assert!(path.is_absolute(), "the C compiler has no libasan.so");
    run(&["-asan"], &[], Some(&path));
}

/// Builds the library, and runs `values_round_trip_under_sanitizers` with it in a separate program.
fn run(flags: &[&str], variables: &[(&str, &str)], preload: Option<&Path>) {
    let library = build(Path::new(env!("CARGO_TARGET_TMPDIR")), flags, variables);
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", "values_round_trip_under_sanitizers", "--include-ignored"])
        .env(LIBRARY, &library);
    if let Some(preload) = preload {
        // Memory that Go and Rust keep until exit is not a leak.
        command
            .env("LD_PRELOAD", preload)
            .env("ASAN_OPTIONS", "detect_leaks=0:detect_stack_use_after_return=0");
    }
    let output = command.output().unwrap();
    fs::remove_file(library).unwrap();
    let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
}

#[test]
#[ignore = "the other tests run it, with a library that has checks"]
fn values_round_trip_under_sanitizers() {
    let Some(library) = env::var_os(LIBRARY) else { return };
    let echo = Echo::bind(&open(Path::new(&library))).unwrap();
    for seed in 0..2000 {
        let mut random = ValueGenerator::new(seed);
        let value = random.every();
        assert!(echo.every(&value).unwrap() == value, "seed {seed}");
        assert!(echo.every_by_rust(&value).unwrap() == value, "seed {seed}");
        assert!(echo.every_by_short(&value).unwrap() == value, "seed {seed}");
        let narrow = random.narrow();
        assert_eq!(echo.narrow(&narrow).unwrap(), narrow, "seed {seed}");
        assert_eq!(echo.narrow_by_rust(&narrow).unwrap(), narrow, "seed {seed}");
        assert_eq!(echo.narrow_by_short(&narrow).unwrap(), narrow, "seed {seed}");
        assert_eq!(echo.back_by_rust("there and", 100).unwrap(), "there and", "seed {seed}");
        assert_eq!(echo.join_by_rust(&["a", "b"], &[], true).unwrap(), "ab[]true1.5255", "seed {seed}");
        let (name, body) = (random.text(), vec![1; 10_000]);
        let view = View { name: &name, body: &body, numbers: &[1, 2], maybe: Some(&name), count: seed };
        assert_eq!(echo.view(&view).unwrap().body, body, "seed {seed}");
        assert_eq!(echo.view_by_rust(&view).unwrap().name, name, "seed {seed}");
        if seed % 100 == 0 {
            echo.collect().unwrap();
        }
    }
}
