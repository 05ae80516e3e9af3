//! File format of planted faults (mutants).
//!
//! A file holds a sequence of faults. A fault begins with a line `== name: description`, continues with `file: path`
//! and one or more `test:` or `unit:` lines, and ends with the text to replace and its replacement:
//!
//! ```text
//! == chunk-size-plus: a plus sign before a chunk size is taken
//! file: crates/eddy-http/src/chunk/size_line.rs
//! unit: -p eddy-http chunk
//! test: --test corpus requests EDDY_CASES=request-chunks/size
//! <<<<
//! the text to replace, which occurs exactly once
//! ====
//! its replacement
//! >>>>
//! ```

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

/// A planted fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// Unique name of the fault.
    pub name: String,
    /// Description of the fault.
    pub what: String,
    /// File that the fault changes, relative to the root of the tree.
    pub file: PathBuf,
    /// Text to replace; it must occur exactly once in the file.
    pub find: String,
    /// Replacement text.
    pub replace: String,
    /// Tests of which at least one must fail.
    pub checks: Vec<Check>,
}

/// A test that must detect a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// Tests of the changed tree itself: arguments of `cargo test`.
    Unit(Vec<String>),
    /// End-to-end tests of this tree against the changed binary: arguments of `cargo test -p eddy-e2e`, and environment
    /// variables.
    EndToEnd(Vec<String>, Vec<(String, String)>),
}

impl Mutant {
    /// Returns `text` with the fault applied.
    ///
    /// # Errors
    /// When the text to replace does not occur in `text` exactly once.
    pub fn plant(&self, text: &str) -> Result<String> {
        let count = text.matches(&self.find).count();
        ensure!(count == 1, "{}: occurs {count} times in {}, not once", self.name, self.file.display());
        Ok(text.replacen(&self.find, &self.replace, 1))
    }
}

/// Folder of the faults and of the table of their last runs, below the root of the tree.
pub const FOLDER: &str = "tests/mutants";

/// Reads all `*.mutants` files of `folder`.
///
/// # Errors
/// When a file cannot be read or has a syntax error; the error says where.
pub fn read_mutants(folder: &Path) -> Result<Vec<Mutant>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "mutants"));
    paths.sort();
    let mut mutants: Vec<Mutant> = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path)?;
        for mutant in parse(&text).with_context(|| path.display().to_string())? {
            ensure!(mutants.iter().all(|other| other.name != mutant.name), "{} occurs twice", mutant.name);
            mutants.push(mutant);
        }
    }
    Ok(mutants)
}

/// Parses the text of a `*.mutants` file.
pub(super) fn parse(text: &str) -> Result<Vec<Mutant>> {
    let mut mutants = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let at = format!("line {}", number + 1);
        let head = line
            .strip_prefix("== ")
            .with_context(|| format!("{at}: expected the start of a fault: {line:?}"))?;
        let (name, what) = head.split_once(": ").with_context(|| format!("{at}: no name"))?;
        let (mut file, mut checks) = (None, Vec::new());
        loop {
            let (_, line) = lines.next().with_context(|| format!("{at}: the fault is not terminated"))?;
            match line.split_once(": ") {
                Some(("file", path)) => file = Some(PathBuf::from(path)),
                Some(("unit", words)) => checks.push(Check::Unit(split(words))),
                Some(("test", words)) => checks.push(end_to_end(words)),
                _ if line == "<<<<" => break,
                _ => bail!("{at}: invalid line: {line:?}"),
            }
        }
        let mut block = |end: &str| -> Result<String> {
            let mut text = Vec::new();
            loop {
                let (_, line) = lines.next().with_context(|| format!("{at}: no {end:?}"))?;
                if line == end {
                    return Ok(text.join("\n"));
                }
                text.push(line);
            }
        };
        let (find, replace) = (block("====")?, block(">>>>")?);
        ensure!(
            !find.is_empty() && find != replace && !checks.is_empty(),
            "{at}: nothing to find, or no test"
        );
        let file = file.with_context(|| format!("{at}: no file"))?;
        mutants.push(Mutant { name: name.into(), what: what.into(), file, find, replace, checks });
    }
    Ok(mutants)
}

fn split(words: &str) -> Vec<String> {
    words.split_whitespace().map(str::to_owned).collect()
}

/// Parses words: those with a capitalised name and an equals sign are variables; the others are arguments.
fn end_to_end(words: &str) -> Check {
    let is_variable = |word: &str| word.split_once('=').is_some_and(|(name, _)| name.starts_with("EDDY_"));
    let (variables, arguments): (Vec<String>, Vec<String>) =
        split(words).into_iter().partition(|word| is_variable(word));
    let variables = variables
        .iter()
        .filter_map(|word| word.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    Check::EndToEnd(arguments, variables)
}

#[cfg(test)]
#[path = "format_tests.rs"]
mod tests;
