//! What a run found.

use std::collections::BTreeMap;
use std::fmt;

/// Divergences, grouped by case so that a hundred cuts of one case are one line.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    by_case: BTreeMap<String, Vec<String>>,
}

/// The figures of a run and what it found.
#[derive(Clone, Debug, Default)]
pub struct DriveReport {
    /// How many cases were driven.
    pub cases: usize,
    /// How many connections were made for them.
    pub attempts: usize,
    /// How many messages went on to the origin.
    pub forwarded: usize,
    /// How many attempts got no answer where the whole case got one.
    pub lost: usize,
    /// How many different strings the parsers judged.
    pub judged: usize,
    /// Refusals by parsers of what the gateway forwarded, with how often each came.
    pub refusals: BTreeMap<String, usize>,
    /// The divergences.
    pub findings: Findings,
}

impl Findings {
    /// Adds what was found about `case`, `how` it was cut and `what` it is.
    pub fn add(&mut self, case: &str, how: impl fmt::Debug, what: impl fmt::Display) {
        self.by_case.entry(case.to_owned()).or_default().push(format!("{how:?}: {what}"));
    }

    /// Takes over what `other` found.
    pub fn merge(&mut self, other: Self) {
        for (case, mut found) in other.by_case {
            self.by_case.entry(case).or_default().append(&mut found);
        }
    }

    /// How many cases have findings.
    pub fn cases(&self) -> usize {
        self.by_case.len()
    }

    /// Whether nothing was found.
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
