//! Envoy filters written in Go.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::registry::{FilterSource, absent, has_go};
use crate::place::tree;

/// Longest time for a gateway to build filters before it is ready.
pub const BUILD_TIME_MAX: Duration = Duration::from_secs(900);

/// An Envoy filter whose sources were fetched.
#[derive(Clone, Debug, Deserialize)]
pub struct EnvoyFilter {
    /// Identifier in `tests/envoy-filters/filters.json`.
    pub id: String,
    /// Folder of its package.
    pub package: PathBuf,
    missing: String,
}

/// Fetches the filters of `tests/envoy-filters/filters.json` with these ids into `folder`; returns those available.
///
/// # Errors
/// When the Go command fails, or a required filter is not available.
pub fn envoy_filters(folder: &Path, ids: &[&str], source: FilterSource) -> Result<Vec<EnvoyFilter>> {
    if !has_go()? {
        return Ok(Vec::new());
    }
    let mut go = Command::new("go");
    go.current_dir(tree().join("tests/envoy-filters")).args(["run", "./fetch"]).arg(folder).args(ids);
    let output = go.output().context("cannot run go")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let filters: Vec<EnvoyFilter> =
        serde_json::from_slice(&output.stdout).context("the output of `fetch` cannot be parsed")?;
    let mut had = Vec::new();
    for filter in filters {
        if filter.missing.is_empty() {
            had.push(filter);
        } else {
            let EnvoyFilter { id, missing, .. } = filter;
            absent(&format!("the source of the filter {id:?} cannot be fetched: {missing}"), source)?;
        }
    }
    Ok(had)
}
