//! Builds and runs the example as its README describes.
#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

/// Returns the path of the library, which is built together with these tests, beside them.
fn library() -> PathBuf {
    let tests = env::current_exe().unwrap();
    tests.with_file_name("libwords.so")
}

fn run(text: &str) -> Output {
    Command::new("go")
        .args(["run", "."])
        .arg(library())
        .arg(text)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("go"))
        .output()
        .unwrap()
}

#[test]
fn a_go_program_uses_a_rust_library() {
    let output = run("to be or not to be");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let expected = "words: 6\neach: map[be:2 not:1 or:1 to:2]\nlongest: not\nlater: 6\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    let output = run("");
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("there is no text\n"));
}

#[test]
fn the_generated_go_code_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let declaration = fs::read_to_string(root.join("src/words.rs")).unwrap();
    let made = eddy_bridge_gen::go_text(&declaration, "words.rs", "main").unwrap();
    let there = fs::read_to_string(root.join("go/words_bridge.go")).unwrap();
    assert!(there == made, "run: eddy-bridge generate src/words.rs --go go --package main");
}
