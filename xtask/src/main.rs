//! `cargo xtask TASK`: tasks of the workspace that need more than a shell line.

#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use xtask::metadata::Workspace;
use xtask::runs::{self, Nightly, NightlyPart};
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
    /// Check rules that the compiler and clippy don't: import edges, sizes, dead files, links and the like.
    Tidy,
    /// Write the pages that are generated from the code, such as the configuration reference.
    Docs,
    /// Apply known faults to a copy of the last commit and expect a test to fail for each (mutation testing).
    ///
    /// Applies the faults that are named; without a name all that were not applied to this commit yet. The faults and
    /// the tests that detect them are in tests/mutants/*.mutants. The result of each fault is entered into
    /// tests/mutants/RESULT.md at once, so that an interrupted run continues where it ended.
    Mutants {
        /// Names of faults to apply.
        names: Vec<String>,
        /// Apply only faults that were not detected in their last run, or whose file or definition changed since.
        #[arg(long, conflicts_with = "names")]
        stale: bool,
        /// Apply no fault; write the table anew, with a row for each fault that there is now.
        #[arg(long, conflicts_with_all = ["names", "stale"])]
        table: bool,
    },
    /// Run the long tests in full: a million requests, hundreds of reloads, takeovers and kills.
    ///
    /// Writes tests/soak/RESULT.md: the commit, the date and a row for each test, and the figures that the tests print.
    /// The figures of earlier runs at the end of the file stay.
    Soak {
        /// Run no test; write the table anew, with a row for each test that there is now.
        #[arg(long)]
        table: bool,
    },
    /// Run the whole corpus with all cuts, the bridge under a sanitizer, every fuzz target and all mutants.
    ///
    /// Writes tests/nightly/RESULT.md, with the commit, the date and a row for each step, also for those that were not
    /// selected or were skipped because a tool is missing.
    Nightly {
        /// Folders with more corpus files, separated by `:`.
        #[arg(long)]
        corpus: Option<String>,
        /// Run time of each fuzz target in seconds.
        #[arg(long, default_value_t = 60)]
        fuzz_seconds: u32,
        /// Parts to run, separated by `,`; all without it.
        #[arg(long, value_delimiter = ',')]
        only: Vec<NightlyPart>,
    },
}

fn main() -> Result<ExitCode> {
    match XtaskCli::parse().task {
        XtaskCommand::Tidy => run_tidy(root()?),
        XtaskCommand::Docs => run_docs(root()?),
        XtaskCommand::Mutants { names, stale, table } => {
            let selection = if stale {
                vec!["--stale".into()]
            } else if table {
                vec!["--table".into()]
            } else {
                names
            };
            runs::mutants(root()?, &selection).map(code)
        }
        XtaskCommand::Soak { table: true } => runs::soak_table(root()?).map(code),
        XtaskCommand::Soak { table: false } => runs::soak(root()?).map(code),
        XtaskCommand::Nightly { corpus, fuzz_seconds, only } => {
            Nightly { corpus, fuzz_seconds, only }.run(root()?).map(code)
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
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask is in the workspace folder")
}
