//! Filters for Envoy in Go.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::registry::{FilterSource, absent, has_go};
use crate::place::tree;

/// Longest that a gateway may take to build filters before it answers.
pub const BUILD_TIME_MAX: Duration = Duration::from_secs(900);

/// A filter for Envoy whose sources are here.
#[derive(Clone, Debug, Deserialize)]
pub struct EnvoyFilter {
    /// As in `tests/envoy-filters/filters.json`.
    pub id: String,
    /// The folder of its package.
    pub package: PathBuf,
    missing: String,
}

/// Puts the filters of `tests/envoy-filters/filters.json` with these ids into `folder`; gives those that can be had.
///
/// # Errors
/// When the Go command fails, or a filter that must be there cannot be had.
pub fn envoy_filters(folder: &Path, ids: &[&str], source: FilterSource) -> Result<Vec<EnvoyFilter>> {
    if !has_go(source)? {
        return Ok(Vec::new());
    }
    let mut go = Command::new("go");
    go.current_dir(tree().join("tests/envoy-filters")).args(["run", "./fetch"]).arg(folder).args(ids);
    let output = go.output().context("cannot run go")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let filters: Vec<EnvoyFilter> =
        serde_json::from_slice(&output.stdout).context("what `fetch` says cannot be read")?;
    let mut had = Vec::new();
    for filter in filters {
        if filter.missing.is_empty() {
            had.push(filter);
        } else {
            absent(&format!("the filter {:?} cannot be had: {}", filter.id, filter.missing), source)?;
        }
    }
    Ok(had)
}
