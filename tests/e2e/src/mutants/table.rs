//! Table of the last run of each fault, `tests/mutants/RESULT.md`: the result for people, and the memory of the tool.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::format::Mutant;

/// Last runs by the name of the fault.
#[derive(Clone, Debug, Default)]
pub struct MutantTable {
    path: PathBuf,
    runs: BTreeMap<String, MutantRun>,
}

/// Last run of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MutantRun {
    /// Outcome, as [`super::MutantOutcome`] is displayed.
    pub verdict: String,
    /// Commit of the tree in which the fault was planted.
    pub commit: String,
    /// Date of the run.
    pub date: String,
}

impl MutantRun {
    /// Whether a test detected the fault.
    pub fn is_detected(&self) -> bool {
        self.verdict.starts_with(DETECTED)
    }
}

impl MutantTable {
    /// Reads the table at `path`; lines that are no row of it are ignored, and so is a missing file.
    pub fn open(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_default();
        let runs = text.lines().filter_map(row).collect();
        Self { path: path.to_owned(), runs }
    }

    /// Returns the last run of the fault of this name.
    pub fn run(&self, name: &str) -> Option<&MutantRun> {
        self.runs.get(name)
    }

    /// Enters a run in place of the last one.
    pub fn enter(&mut self, name: &str, run: MutantRun) {
        self.runs.insert(name.to_owned(), run);
    }

    /// Writes the table with one row for each fault of `mutants`, and none for others.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, mutants: &[Mutant]) -> Result<()> {
        fs::write(&self.path, self.text(mutants)?).with_context(|| self.path.display().to_string())
    }

    fn text(&self, mutants: &[Mutant]) -> Result<String> {
        let runs: Vec<&MutantRun> = mutants.iter().filter_map(|mutant| self.run(&mutant.name)).collect();
        let detected = runs.iter().filter(|run| run.is_detected()).count();
        let mut text = format!(
            "# Planted faults, last run of each\n\nWritten by `cargo xtask mutants`. Of {} faults {} were planted, and {detected} of these detected.\n\n\
             {HEAD}\n|---|---|---|---|---|\n",
            mutants.len(),
            runs.len(),
        );
        for Mutant { name, file, .. } in mutants {
            let file = file.display();
            match self.run(name) {
                Some(MutantRun { verdict, commit, date }) => {
                    let verdict = verdict.replace('|', "\\|").replace('\n', " ");
                    writeln!(text, "| {name} | {file} | {verdict} | {commit} | {date} |")?;
                }
                None => writeln!(text, "| {name} | {file} | - | - | - |")?,
            }
        }
        Ok(text)
    }
}

fn row(line: &str) -> Option<(String, MutantRun)> {
    let line = line.strip_prefix("| ")?.strip_suffix(" |")?;
    if HEAD.contains(line) {
        return None;
    }
    let (name, rest) = line.split_once(" | ")?;
    let (_file, rest) = rest.split_once(" | ")?;
    let (rest, date) = rest.rsplit_once(" | ")?;
    let (verdict, commit) = rest.rsplit_once(" | ")?;
    if verdict == "-" {
        return None;
    }
    let verdict = verdict.replace("\\|", "|");
    Some((name.to_owned(), MutantRun { verdict, commit: commit.to_owned(), date: date.to_owned() }))
}

/// Beginning of the verdict on a detected fault.
pub(super) const DETECTED: &str = "detected by ";

const HEAD: &str = "| fault | file | verdict | commit | date |";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::TempDir;

    fn mutant(name: &str) -> Mutant {
        Mutant {
            name: name.to_owned(),
            what: String::new(),
            file: PathBuf::from("a/b.rs"),
            find: "a".to_owned(),
            replace: "b".to_owned(),
            checks: Vec::new(),
        }
    }

    fn run(verdict: &str) -> MutantRun {
        MutantRun { verdict: verdict.to_owned(), commit: "abc1234".to_owned(), date: "2020-02-29".to_owned() }
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let folder = TempDir::new("table").unwrap();
        let path = folder.join("RESULT.md");
        let mut table = MutantTable::open(&path);
        table.enter("one", run("detected by `cargo test -p a one`"));
        table.enter("two", run("**did not compile**: a | b"));
        table.enter("gone", run("detected by `cargo test -p a gone`"));
        table.write(&[mutant("one"), mutant("two"), mutant("new")]).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("Of 3 faults 2 were planted, and 1 of these detected."), "{text}");
        assert!(text.contains("| new | a/b.rs | - | - | - |\n"), "{text}");
        let again = MutantTable::open(&path);
        assert_eq!(again.run("one"), table.run("one"));
        assert_eq!(again.run("two"), table.run("two"));
        assert_eq!((again.run("new"), again.run("gone"), again.runs.len()), (None, None, 2));
    }

    #[test]
    fn an_unreadable_table_is_empty() {
        let folder = TempDir::new("table").unwrap();
        let path = folder.join("RESULT.md");
        fs::write(&path, "# Title\n\n| fault | what is wrong | verdict |\n|---|---|---|\n| a | b | c |\n")
            .unwrap();
        assert!(MutantTable::open(&path).runs.is_empty());
    }
}
