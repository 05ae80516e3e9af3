//! `cargo xtask TASK`: tasks of the workspace that need more than a shell line.

#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use xtask::metadata::Workspace;
use xtask::tree::Tree;
use xtask::{docs, tidy};

/// Tasks of the workspace.
#[derive(Parser)]
struct Command {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check what the compiler and clippy don't: import edges, sizes, dead files, links and the like.
    Tidy,
    /// Write the pages that are made from the code, such as the reference of the configuration.
    Docs,
}

fn main() -> Result<ExitCode> {
    match Command::parse().task {
        Task::Tidy => run_tidy(root()?),
        Task::Docs => run_docs(root()?),
    }
}

fn run_tidy(root: &Path) -> Result<ExitCode> {
    let tree = Tree::load(root)?;
    let workspace = Workspace::load(root, &tree)?;
    let problems = tidy::check(&tree, &workspace, &docs::generated());
    let mut out = io::stdout().lock();
    for problem in &problems {
        writeln!(out, "{problem}")?;
    }
    writeln!(out, "tidy: {} files, {} problems", tree.len(), problems.len())?;
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn run_docs(root: &Path) -> Result<ExitCode> {
    let written = docs::write(root, &docs::generated())?;
    let mut out = io::stdout().lock();
    for path in &written {
        writeln!(out, "wrote {path}")?;
    }
    writeln!(out, "docs: {} pages differed", written.len())?;
    Ok(ExitCode::SUCCESS)
}

fn root() -> Result<&'static Path> {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the workspace's folder")
}
