//! Result of a run as a table.

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use super::format::Mutant;
use super::run::MutantOutcome;

/// Outcome of each fault of a run.
#[derive(Clone, Debug, Default)]
pub struct MutantReport {
    rows: Vec<MutantRow>,
}

#[derive(Clone, Debug)]
struct MutantRow {
    name: String,
    what: String,
    outcome: MutantOutcome,
    took: Duration,
}

impl MutantReport {
    /// Adds the outcome of `mutant`.
    pub fn add(&mut self, mutant: &Mutant, outcome: MutantOutcome, took: Duration) {
        self.rows.push(MutantRow { name: mutant.name.clone(), what: mutant.what.clone(), outcome, took });
    }

    /// Returns the line of the last added fault.
    pub fn last(&self) -> String {
        self.rows.last().map_or_else(String::new, |row| {
            format!("{} ({} s): {}", row.name, row.took.as_secs(), row.outcome)
        })
    }

    /// Returns the number of faults and the number of detected ones.
    pub fn count(&self) -> (usize, usize) {
        (self.rows.len(), self.rows.iter().filter(|row| row.is_noticed()).count())
    }

    /// Returns the names of the undetected faults.
    pub fn missed(&self) -> Vec<&str> {
        self.rows.iter().filter(|row| !row.is_noticed()).map(|row| row.name.as_str()).collect()
    }
}

impl MutantRow {
    fn is_noticed(&self) -> bool {
        matches!(self.outcome, MutantOutcome::Noticed(_))
    }
}

impl Display for MutantReport {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        writeln!(out, "| fault | what is wrong | verdict |\n|---|---|---|")?;
        for MutantRow { name, what, outcome, .. } in &self.rows {
            writeln!(out, "| {name} | {what} | {outcome} |")?;
        }
        Ok(())
    }
}

impl Display for MutantOutcome {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Noticed(by) => write!(out, "killed by `{by}`"),
            Self::Survived => out.write_str("**SURVIVED**"),
            Self::NotPlanted(why) => write!(out, "**did not apply**: {why}"),
            Self::NotCompiled(why) => write!(out, "**did not compile**: {why}"),
            Self::Red => out.write_str("**not tried**: its tests fail without the fault"),
        }
    }
}
