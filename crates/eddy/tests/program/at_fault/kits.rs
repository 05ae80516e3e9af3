//! Test filters built with eddy's SDKs, as libraries.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use crate::projects::has_go;

fn filters() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/filters")
}

/// Builds the Go library; returns `None` without Go, which is reported.
pub(super) fn in_go() -> Option<PathBuf> {
    if !has_go() {
        return None;
    }
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libtestfilters_go.so");
    let mut go = Command::new("go");
    go.current_dir(filters().join("go")).args(["build", "-buildmode=c-shared", "-o"]).arg(&library).arg(".");
    Some(built(go, library))
}

/// Builds the Rust library, in the build folder of this test, which has its dependencies.
pub(super) fn in_rust() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a folder of the build folder");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--profile", "quick", "--manifest-path"]).arg(filters().join("rust/Cargo.toml"));
    cargo.env("CARGO_TARGET_DIR", target);
    built(cargo, target.join("quick/libeddy_test_filters.so"))
}

/// Runs a compiler, one at a time: tests share the results.
fn built(mut compiler: Command, library: PathBuf) -> PathBuf {
    static BUILDING: Mutex<()> = Mutex::new(());
    let _one = BUILDING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let output = compiler.output().expect("the compiler can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    library
}
