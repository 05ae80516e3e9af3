//! `test-driver [PART]...`: runs all parts of the test suite even when one fails, and prints a summary.
//!
//! The last line is `N passed, N failed, N skipped`; the exit status is a failure when anything failed.

#![forbid(unsafe_code)]

mod go_test;
mod libtest;
mod part;
mod step;
mod summary;
mod tally;

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use test_peers::{NOTICES_VARIABLE, Notice};

use crate::part::SuitePart;
use crate::summary::{StepTime, Summary};
use crate::tally::TestTally;

fn main() -> Result<ExitCode> {
    let parts = chosen(env::args().skip(1).collect())?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let notices = env::temp_dir().join(format!("eddy-test-notices-{}", std::process::id()));
    fs::write(&notices, "").with_context(|| format!("cannot write {}", notices.display()))?;
    let mut tally = TestTally::default();
    let mut times = Vec::new();
    for part in parts {
        for step in part.steps(&root)? {
            writeln!(io::stdout(), "\n==== {}: {}", part.name(), step.name())?;
            let step = step.with_variable(NOTICES_VARIABLE, &notices);
            let begun = Instant::now();
            tally.add(step.run(&root)?);
            let (kind, step) = (step.kind(), step.name());
            times.push(StepTime { part: part.name(), kind, step, took: begun.elapsed() });
        }
    }
    let lines = fs::read_to_string(&notices).unwrap_or_default();
    // The file is not read again, so a failed removal does not matter.
    let _ = fs::remove_file(&notices);
    tally.add_notices(lines.lines().filter_map(Notice::parse));
    write!(io::stdout(), "{}", Summary { tally: &tally, times: &times })?;
    Ok(if tally.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Parses the names of parts; no name selects all parts.
fn chosen(names: Vec<String>) -> Result<Vec<SuitePart>> {
    if names.is_empty() {
        return Ok(SuitePart::ALL.to_vec());
    }
    let known = SuitePart::ALL.map(SuitePart::name).join(", ");
    let parts =
        names.iter().map(|name| SuitePart::named(name).with_context(|| format!("no part `{name}`: {known}")));
    parts.collect()
}
