//! Builds Go packages for tests.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Build target of a package.
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "not every kind of test has both")]
pub(crate) enum Into {
    /// Shared library for this machine.
    Library,
    /// Wasm module.
    Module,
}

/// Builds the package `package` in the folder `folder` of this repository; returns `None` if Go is not installed, which
/// skips the test.
pub(crate) fn build(folder: &str, package: &str, into: Into, file: &str) -> Option<PathBuf> {
    if !test_peers::all_present(&[test_peers::GO]).expect("Go is not required") {
        return None;
    }
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
    let mut go = Command::new("go");
    go.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder));
    go.args(["build", "-buildmode=c-shared"]);
    if into == Into::Module {
        go.envs([("GOOS", "wasip1"), ("GOARCH", "wasm"), ("GOWORK", "off")]).arg("-ldflags=-s -w");
    }
    let status = go.arg("-o").arg(&built).arg(package).status().expect("the Go command runs");
    assert!(status.success(), "{package} in {folder} does not compile");
    Some(built)
}
