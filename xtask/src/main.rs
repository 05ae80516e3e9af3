//! `cargo xtask TASK`: tasks of the workspace that need more than a shell line.

#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use xtask::metadata::Workspace;
use xtask::runs::{self, Nightly};
use xtask::tree::SourceTree;
use xtask::{docs, tidy};

/// Tasks of the workspace.
#[derive(Parser)]
struct XtaskCli {
    #[command(subcommand)]
    task: XtaskCommand,
}

#[derive(Subcommand)]
enum XtaskCommand {
    /// Check what the compiler and clippy don't: import edges, sizes, dead files, links and the like.
    Tidy,
    /// Write the pages that are made from the code, such as the reference of the configuration.
    Docs,
    /// Plant faults in a copy of the last commit and expect a test to notice each; all of them, or those named.
    ///
    /// The faults and what notices them are in tests/mutants/*.mutants; a run of all writes tests/mutants/RESULT.md.
    Mutants {
        /// Names of faults.
        names: Vec<String>,
    },
    /// The tests that take long, in their long form: a million requests, hundreds of reloads, hand-overs and kills.
    ///
    /// Writes tests/soak/RESULT.md.
    Soak,
    /// The whole corpus with all cuts, the bridge under a sanitizer, every fuzz target for a while, and all planted faults.
    ///
    /// Writes tests/nightly/RESULT.md, which says what was left out because a tool is missing.
    Nightly {
        /// Folders of more corpus files, with `:` between them.
        #[arg(long)]
        corpus: Option<String>,
        /// How long each fuzz target runs, seconds.
        #[arg(long, default_value_t = 60)]
        fuzz_seconds: u32,
    },
}

fn main() -> Result<ExitCode> {
    match XtaskCli::parse().task {
        XtaskCommand::Tidy => run_tidy(root()?),
        XtaskCommand::Docs => run_docs(root()?),
        XtaskCommand::Mutants { names } => runs::mutants(root()?, &names).map(code),
        XtaskCommand::Soak => runs::soak(root()?).map(code),
        XtaskCommand::Nightly { corpus, fuzz_seconds } => {
            Nightly { corpus, fuzz_seconds }.run(root()?).map(code)
        }
    }
}

fn code(is_good: bool) -> ExitCode {
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run_tidy(root: &Path) -> Result<ExitCode> {
    let tree = SourceTree::load(root)?;
    let workspace = Workspace::load(root, &tree)?;
    let problems = tidy::check(&tree, &workspace, &docs::generated());
    let mut out = io::stdout().lock();
    for problem in &problems {
        writeln!(out, "{problem}")?;
    }
    writeln!(out, "tidy: {} files, {} problems", tree.len(), problems.len())?;
    Ok(code(problems.is_empty()))
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
