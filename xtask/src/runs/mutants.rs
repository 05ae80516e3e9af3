//! Planted faults: runs `eddy-mutants` beside the build folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

/// Applies faults of `tests/mutants`: those with the names in `selection`, those that `--stale` selects, none with
/// `--table`, or all. Returns whether each was detected.
///
/// # Errors
/// When cargo can't be started.
pub fn mutants(root: &Path, selection: &[String]) -> Result<bool> {
    let place = build_folder()?.join("mutants");
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--profile", "quick", "-p", "eddy-e2e", "--bin", "eddy-mutants", "--"]);
    command.arg(place).args(selection).current_dir(root);
    Ok(command.status().context("can't start `cargo`")?.success())
}

/// Returns Cargo's build folder: two folders above this program.
fn build_folder() -> Result<PathBuf> {
    let program = std::env::current_exe().context("can't determine the path of this program")?;
    Ok(program.ancestors().nth(2).context("this program is not in cargo's build folder")?.to_owned())
}
