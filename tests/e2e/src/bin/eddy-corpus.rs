//! Writes eddy's own framing corpus to the folder named by the argument.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use anyhow::{Context, Result};
use eddy_e2e::corpus::eddy_case_files;

fn main() -> Result<()> {
    let folder: PathBuf = std::env::args_os().nth(1).context("usage: eddy-corpus FOLDER")?.into();
    for shelf in eddy_case_files() {
        let path = folder.join(shelf.name).with_extension("jsonl");
        std::fs::write(&path, shelf.to_lines()?)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
