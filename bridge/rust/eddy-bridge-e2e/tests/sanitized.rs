//! The bridge under the address sanitizer: Rust, Go and C code, in Rust programs and in Go programs.
//!
//! A process can have only one sanitizer runtime: the Rust compiler's in a Rust program, Clang's in a Go program.
//! That is why Clang compiles the C code here; GCC would add a second runtime.
#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]
#![allow(clippy::print_stdout, reason = "how many tests there were is kept with the result of a long run")]

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::{env, process};

/// Set where the sanitizer is active.
const SANITIZED: &str = "EDDY_BRIDGE_SANITIZED";

#[test]
#[ignore = "compiles the bridge once more, as no stable compiler does by itself: `make nightly`"]
fn sanitizers_find_nothing_in_calls_between_rust_and_go() {
    let tests = ["--test", "values", "--test", "faults", "--test", "later", "--test", "library"];
    finds_nothing("eddy-bridge-e2e", &tests);
    finds_nothing("eddy-bridge", &["--tests"]);
}

#[test]
#[ignore = "compiles the bridge once more, as no stable compiler does by itself: `make nightly`"]
fn sanitizers_find_nothing_in_calls_between_processes() {
    // Not `deaths`, which measures memory: the sanitizer keeps freed memory to detect its use.
    finds_nothing("eddy-bridge-ring", &["--lib", "--test", "processes"]);
    finds_nothing("eddy-bridge-apart", &["--tests"]);
}

#[test]
#[ignore = "compiles the bridge once more, as no stable compiler does by itself: `make nightly`"]
fn sanitizers_find_planted_errors() {
    let wrong = ["--test", "sanitized", "memory_is_read_after_it_is_freed", "--", "--ignored", "--exact"];
    let output = under_sanitizer("eddy-bridge-e2e", &wrong);
    let printed = printed(&output);
    assert!(!output.status.success() && printed.contains("heap-use-after-free"), "{printed}");
}

#[test]
#[ignore = "the test above runs it, for the sanitizer to find something"]
fn memory_is_read_after_it_is_freed() {
    if env::var_os(SANITIZED).is_none() {
        return;
    }
    let text = black_box("gone".to_owned());
    let at = text.as_ptr();
    drop(text);
    // SAFETY: none; this reads freed memory on purpose. The sanitizer ends this program, which does nothing else.
    black_box(unsafe { at.read() });
}

/// Runs tests of a crate in which the sanitizer must find nothing; prints how many there were.
fn finds_nothing(package: &str, tests: &[&str]) {
    let output = under_sanitizer(package, tests);
    let printed = printed(&output);
    assert!(output.status.success(), "{printed}");
    let passed: u32 = printed.lines().filter_map(passed).sum();
    assert!(passed > 0, "no test ran: {printed}");
    println!("{package}: {passed} tests");
}

/// Returns the number of passed tests, if the line is the summary of a test program.
fn passed(line: &str) -> Option<u32> {
    line.strip_prefix("test result: ok. ")?.split(' ').next()?.parse().ok()
}

fn under_sanitizer(package: &str, tests: &[&str]) -> process::Output {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sanitized");
    // With an explicit target, code that runs in the compiler is not sanitized.
    let target = format!("{}-unknown-linux-gnu", env::consts::ARCH);
    Command::new(env!("CARGO"))
        .args(["test", "--offline", "--no-fail-fast", "--target", &target, "--target-dir"])
        .arg(folder)
        .args(["-p", package])
        .args(tests)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        // The runtime is beside the standard library of every toolchain; the flag that links it is unstable.
        .env("RUSTC_BOOTSTRAP", "1")
        // A Go library finds the runtime in the program.
        .env("RUSTFLAGS", "-Zsanitizer=address -Clink-arg=-rdynamic")
        .env("CC", "clang")
        .env("GOFLAGS", "-asan")
        .env(SANITIZED, "1")
        .output()
        .unwrap()
}

fn printed(output: &process::Output) -> String {
    (String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr)).into_owned()
}
