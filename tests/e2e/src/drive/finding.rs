//! Findings and figures of a run.

use std::collections::BTreeMap;
use std::fmt;

/// Divergences, grouped by case so that a hundred cuts of one case are one line.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    by_case: BTreeMap<String, Vec<String>>,
}

/// Figures and findings of a run.
#[derive(Clone, Debug, Default)]
pub struct DriveReport {
    /// Number of driven cases.
    pub cases: usize,
    /// Number of connections made for them.
    pub attempts: usize,
    /// Number of messages forwarded to the origin.
    pub forwarded: usize,
    /// Number of attempts without a response where the uncut case got one.
    pub lost: usize,
    /// Number of distinct byte strings that the parsers judged.
    pub judged: usize,
    /// Refusals by parsers of forwarded messages, with the number of occurrences.
    pub refusals: BTreeMap<String, usize>,
    /// Divergences found.
    pub findings: Findings,
}

impl Findings {
    /// Adds a finding: the `case`, `how` it was cut and `what` diverged.
    pub fn add(&mut self, case: &str, how: impl fmt::Debug, what: impl fmt::Display) {
        self.by_case.entry(case.to_owned()).or_default().push(format!("{how:?}: {what}"));
    }

    /// Adds the findings of `other`.
    pub fn merge(&mut self, other: Self) {
        for (case, mut found) in other.by_case {
            self.by_case.entry(case).or_default().append(&mut found);
        }
    }

    /// Number of cases with findings.
    pub fn cases(&self) -> usize {
        self.by_case.len()
    }

    /// Whether there are no findings.
    pub fn is_empty(&self) -> bool {
        self.by_case.is_empty()
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (case, found) in &self.by_case {
            writeln!(f, "{case} ({} findings)", found.len())?;
            for line in found.iter().take(SHOWN) {
                writeln!(f, "    {line}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for DriveReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} cases in {} connections; {} messages forwarded, {} different strings judged; {} answers lost",
            self.cases, self.attempts, self.forwarded, self.judged, self.lost
        )?;
        for (refusal, count) in &self.refusals {
            writeln!(f, "refused by {refusal} ({count} times)")?;
        }
        writeln!(f, "{} cases with divergences", self.findings.cases())?;
        write!(f, "{}", self.findings)
    }
}

const SHOWN: usize = 3;
