//! Finds and runs Lua specs, and prints their results.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::cli::error::CommandError;
use crate::filter_test::{Rehearsal, SpecTestResult};
use crate::terminal::print;

/// Returns the specs of a folder, sorted by name.
///
/// # Errors
/// When the folder cannot be read.
pub(super) fn in_folder(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut specs = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with("_spec.lua") {
            specs.push(path);
        }
    }
    specs.sort();
    Ok(specs)
}

/// Runs the tests of specs and prints the results; with `only`, just the tests whose names contain one of the texts.
///
/// # Errors
/// When a test fails, or there is no test.
pub(super) fn run(specs: &[PathBuf], only: &[OsString]) -> Result<(), CommandError> {
    let only: Vec<String> = only.iter().map(|text| text.to_string_lossy().into_owned()).collect();
    let (mut passed, mut failed) = (0_usize, 0_usize);
    for path in specs {
        let mut told = |verdict: &SpecTestResult| {
            match verdict {
                SpecTestResult::Passed(_) => passed += 1,
                SpecTestResult::Failed { .. } | SpecTestResult::Broken(_) => failed += 1,
            }
            print(&text_of(path, verdict))
        };
        match Rehearsal::new(path, &only) {
            Ok(rehearsal) => {
                for verdict in rehearsal {
                    told(&verdict)?;
                }
            }
            Err(why) => told(&SpecTestResult::Broken(why))?,
        }
    }
    let none = if passed + failed == 0 { "; there are no tests to run" } else { "" };
    print(&format!("{passed} passed, {failed} failed{none}\n"))?;
    if failed == 0 && passed > 0 { Ok(()) } else { Err(CommandError::Reported) }
}

fn text_of(path: &Path, verdict: &SpecTestResult) -> String {
    match verdict {
        SpecTestResult::Passed(test) => format!("ok      {test}\n"),
        SpecTestResult::Failed { test, why } => format!("FAILED  {test}\n        {}\n", indented(why)),
        SpecTestResult::Broken(why) => {
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
            format!("BROKEN  {name}\n        {}\n", indented(why))
        }
    }
}

fn indented(text: &str) -> String {
    text.replace('\n', "\n        ")
}
