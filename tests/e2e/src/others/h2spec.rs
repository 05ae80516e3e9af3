//! The conformance tests of HTTP/2 that others wrote.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::registry::{FilterSource, absent, has_go};

/// The last release, of 2018: HTTP/2 has not changed for it since.
const H2SPEC: &str = "github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible";

/// Builds h2spec into `folder`; nothing where it cannot be had.
///
/// # Errors
/// When it must be there and cannot be had.
pub fn h2spec(folder: &Path) -> Result<Option<PathBuf>> {
    if !has_go(FilterSource::Registry)? {
        return Ok(None);
    }
    let mut go = Command::new("go");
    go.env("GOBIN", folder).env("GOFLAGS", "-mod=mod").args(["install", H2SPEC]).current_dir(folder);
    let output = go.output().context("cannot run go")?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        absent(&format!("{H2SPEC} cannot be had: {why}"), FilterSource::Registry)?;
        return Ok(None);
    }
    Ok(Some(folder.join("h2spec")))
}
