//! Packages in Go, built by tests.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, ensure};

use crate::place::tree;

/// What a package is built into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Into {
    /// A program for this machine.
    Program,
    /// A library for this machine.
    Library,
    /// A module of Wasm.
    Module,
}

/// Builds the package `package` of the folder `folder` of this tree as `file`; nothing where there is no Go, which skips the test.
///
/// # Errors
/// When it does not build, or there must be Go and there is none.
pub fn build(folder: &str, package: &str, into: Into, file: &Path) -> Result<Option<PathBuf>> {
    // Tests share what they build.
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
