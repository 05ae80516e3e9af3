//! The committed Go code of the tests equals the output of the generator, and gofmt does not change it.
#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use eddy_bridge_gen::go_text;

#[test]
fn the_generated_go_code_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let declaration = fs::read_to_string(root.join("src/everything.rs")).unwrap();
    let made = go_text(&declaration, "everything.rs", "main").unwrap();
    let path = root.join("go/everything_bridge.go");
    if env::var_os("UPDATE").is_some() {
        fs::write(&path, &made).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap() == made,
        "{} is out of date: run this test with UPDATE=1",
        path.display()
    );
    let output = Command::new("gofmt").arg("-l").arg(&path).output().unwrap();
    assert!(output.stdout.is_empty() && output.status.success(), "gofmt would change {}", path.display());
}
