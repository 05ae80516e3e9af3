//! A program that links a Go archive instead of loading a library.
#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::path::Path;
use std::process::{Command, Output};
use std::{env, fs};

const MANIFEST: &str = r#"
[package]
name = "linked"
version = "0.1.0"
edition = "2024"

[dependencies]
eddy-bridge = { path = "RUST/eddy-bridge", features = ["linked"] }
eddy-bridge-e2e = { path = "RUST/eddy-bridge-e2e" }

[workspace]
"#;

const MAIN: &str = r#"
use eddy_bridge::{Go, OpenError};
use eddy_bridge_e2e::{Echo, Looking, Random, serve_mirror};

fn main() {
    let go = Go::linked().unwrap();
    assert!(matches!(Go::open("/lib/other.so"), Err(OpenError::Second { .. })));
    eddy_bridge::offer(serve_mirror(Looking::default()));
    let echo = Echo::bind(&go).unwrap();
    for seed in 0..1000 {
        let value = Random::new(seed).every();
        assert!(echo.every_by_rust(&value).unwrap() == value);
        assert!(echo.every_by_short(&value).unwrap() == value);
    }
    println!("linked");
}
"#;

#[test]
#[ignore = "compiles the bridge once more: `cargo test -- --ignored`"]
fn a_program_is_linked_with_an_archive() {
    let rust = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("linked");
    fs::create_dir_all(folder.join("src")).unwrap();
    let manifest = MANIFEST.replace("RUST", rust.canonicalize().unwrap().to_str().unwrap());
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("src/main.rs"), MAIN).unwrap();
    // Uses the versions that are already downloaded.
    fs::copy(rust.join("../../Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let archive = folder.join("libeverything.a");
    let mut build = Command::new("go");
    build.args(["build", "-buildmode=c-archive", "-o"]).arg(&archive).arg(".");
    succeed(build.current_dir(rust.join("eddy-bridge-e2e/go")));
    let mut build = Command::new(env!("CARGO"));
    build.args(["rustc", "--offline", "--quiet", "--target-dir", "target", "--", "-C"]);
    build.arg(format!("link-arg={}", archive.display())).current_dir(&folder);
    succeed(&mut build);
    let run = succeed(&mut Command::new(folder.join("target/debug/linked")));
    assert_eq!(String::from_utf8_lossy(&run.stdout), "linked\n");
    fs::remove_dir_all(folder).unwrap();
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}
