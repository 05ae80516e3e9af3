//! Example filters of the Rust SDK, which the SDK published as part of its crate up to version 0.2.0.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::registry::published_crate;

/// Builds the examples of a version in `folder`, with the dependencies that it was published with. Returns the folder
/// of their modules, or `None` when they are not available.
///
/// # Errors
/// When the build fails, or the examples are required and not available.
pub fn rust_sdk_examples(folder: &Path, version: &str) -> Result<Option<PathBuf>> {
    if !test_peers::present_or_optional(&test_peers::RUST_WASM) {
        return Ok(None);
    }
    let Some(sdk) = published_crate("proxy-wasm", version, folder)? else { return Ok(None) };
    let target = folder.join(format!("target-{version}"));
    let output = Command::new(env!("CARGO"))
        .args([
            "build",
            "--examples",
            "--release",
            "--locked",
            "--target",
            "wasm32-wasip1",
            "--manifest-path",
        ])
        .arg(sdk.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", &target)
        .output()
        .context("cannot run cargo")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(Some(target.join("wasm32-wasip1/release/examples")))
}
