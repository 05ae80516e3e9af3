//! h2spec, a third-party conformance test of HTTP/2.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::registry::{FilterSource, absent, has_go};

/// The last release, of 2018: the parts of HTTP/2 that it tests have not changed since.
const H2SPEC: &str = "github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible";

/// Builds h2spec into `folder`. Returns `None` when it is not available.
///
/// # Errors
/// When it is required and not available.
pub fn h2spec(folder: &Path) -> Result<Option<PathBuf>> {
    if !has_go()? {
        return Ok(None);
    }
    let mut go = Command::new("go");
    go.env("GOBIN", folder).env("GOFLAGS", "-mod=mod").args(["install", H2SPEC]).current_dir(folder);
    let output = go.output().context("cannot run go")?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        absent(&format!("{H2SPEC} is not available: {why}"), FilterSource::Registry)?;
        return Ok(None);
    }
    Ok(Some(folder.join("h2spec")))
}
