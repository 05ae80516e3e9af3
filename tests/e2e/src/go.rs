//! Builds Go packages for tests.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, ensure};

use crate::place::tree;

/// Target kind of a Go build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Into {
    /// Program for this machine.
    Program,
    /// Shared library for this machine.
    Library,
    /// Wasm module.
    Module,
}

/// Builds the package `package` in the folder `folder` of this tree to `file`. Returns `None` without Go, which skips
/// the test.
///
/// # Errors
/// When the build fails, or Go is required and missing.
pub fn build(folder: &str, package: &str, into: Into, file: &Path) -> Result<Option<PathBuf>> {
    // Tests share the build results.
    static BUILDING: Mutex<()> = Mutex::new(());
    let _one = BUILDING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !test_peers::all_present(&[test_peers::GO])? {
        return Ok(None);
    }
    let mut go = Command::new("go");
    go.current_dir(tree().join(folder)).args(["build", "-o"]).arg(file);
    if into != Into::Program {
        go.arg("-buildmode=c-shared");
    }
    if into == Into::Module {
        go.envs([("GOOS", "wasip1"), ("GOARCH", "wasm"), ("GOWORK", "off")]).arg("-ldflags=-s -w");
    }
    let output = go.arg(package).output().context("cannot run go")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(Some(file.to_path_buf()))
}
