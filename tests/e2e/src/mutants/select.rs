//! Selection of the faults to plant: by name, all, or those whose last run no longer holds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use super::format::{FOLDER, Mutant, parse};
use super::run::git_text;
use super::table::MutantTable;

/// Faults to plant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MutantSelection {
    /// Those with these names.
    Named(Vec<String>),
    /// All that were not planted in the tree of this commit yet.
    All,
    /// Those that were not detected in their last run, or whose file or definition has changed since.
    Stale,
}

impl MutantSelection {
    /// Returns the selected faults of `mutants`, in their order; `commit` is the one to plant them in.
    ///
    /// # Errors
    /// When there is no fault of a name, or git fails.
    pub fn of<'m>(
        &self,
        mutants: &'m [Mutant],
        table: &MutantTable,
        tree: &Path,
        commit: &str,
    ) -> Result<Vec<&'m Mutant>> {
        Ok(match self {
            Self::Named(names) => {
                for name in names {
                    ensure!(mutants.iter().any(|mutant| mutant.name == *name), "no fault is named {name:?}");
                }
                mutants.iter().filter(|mutant| names.contains(&mutant.name)).collect()
            }
            Self::All => {
                let is_done =
                    |mutant: &Mutant| table.run(&mutant.name).is_some_and(|run| run.commit == commit);
                mutants.iter().filter(|mutant| !is_done(mutant)).collect()
            }
            Self::Stale => {
                let mut commits = BTreeMap::new();
                let mut is_fresh = |mutant: &Mutant| {
                    let Some(run) = table.run(&mutant.name).filter(|run| run.is_detected()) else {
                        return false;
                    };
                    let past = commits
                        .entry(run.commit.clone())
                        .or_insert_with(|| EarlierTree::of(tree, &run.commit));
                    past.as_ref().is_some_and(|past| past.has(mutant))
                };
                mutants.iter().filter(|mutant| !is_fresh(mutant)).collect()
            }
        })
    }
}

/// The tree of an earlier commit, as far as it matters.
struct EarlierTree {
    /// Files that have changed since.
    changed: BTreeSet<PathBuf>,
    mutants: Vec<Mutant>,
}

impl EarlierTree {
    /// Returns `None` for a commit that is unknown in this clone, or whose faults cannot be read any more.
    fn of(tree: &Path, commit: &str) -> Option<Self> {
        let changed = git_text(tree, &["diff", "--name-only", "--no-renames", commit, "HEAD"]).ok()?;
        let folder = format!("{FOLDER}/");
        let lists = git_text(tree, &["ls-tree", "--name-only", commit, &folder]).ok()?;
        let mut mutants = Vec::new();
        for list in lists.lines().filter(|list| list.ends_with(".mutants")) {
            mutants.extend(parse(&git_text(tree, &["show", &format!("{commit}:{list}")]).ok()?).ok()?);
        }
        Some(Self { changed: changed.lines().map(PathBuf::from).collect(), mutants })
    }

    /// Whether the fault and its file were the same then.
    fn has(&self, mutant: &Mutant) -> bool {
        !self.changed.contains(&mutant.file) && self.mutants.contains(mutant)
    }
}

#[cfg(test)]
#[path = "select_tests.rs"]
mod tests;
