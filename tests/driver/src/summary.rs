//! Summary at the end of a run: failures by name, skipped tests by missing requirement, and the counts.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use crate::tally::{Skip, TestTally};

/// Results of a run.
pub(crate) struct Summary<'a> {
    pub(crate) tally: &'a TestTally,
    pub(crate) times: &'a [PartTime],
}

/// Duration of a part.
pub(crate) struct PartTime {
    pub(crate) name: &'static str,
    pub(crate) took: Duration,
}

impl Display for Summary<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let TestTally { passed, failed, skipped, partial, recorded } = self.tally;
        writeln!(out, "\n==== summary")?;
        write_group(out, "Compared with recorded answers, because the peer is missing:", recorded)?;
        write_group(out, "Run in part:", partial)?;
        write_group(out, "Skipped:", skipped)?;
        if !failed.is_empty() {
            writeln!(out, "\nFailed:")?;
            failed.iter().try_for_each(|test| writeln!(out, "  {test}"))?;
        }
        let times = self.times.iter().map(|part| format!("{} {}", part.name, shown(part.took)));
        writeln!(out, "\ntime: {}", times.collect::<Vec<_>>().join(", "))?;
        writeln!(out, "{passed} passed, {} failed, {} skipped", failed.len(), self.tally.skipped_count())
    }
}

/// Writes tests that did not run in full, grouped by reason, each with the command that makes them run.
fn write_group(out: &mut Formatter<'_>, title: &str, skips: &[Skip]) -> fmt::Result {
    let mut groups: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for Skip { reason, remedy, test } in skips {
        groups.entry((reason, remedy)).or_default().push(test);
    }
    if groups.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{title}")?;
    for ((reason, remedy), tests) in groups {
        writeln!(out, "  {reason}\n    to run: {remedy}")?;
        tests.iter().try_for_each(|test| writeln!(out, "      {test}"))?;
    }
    Ok(())
}

fn shown(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 60 { format!("{seconds} s") } else { format!("{} min {} s", seconds / 60, seconds % 60) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_and_skips_are_named_and_counts_come_last() {
        let skip = |reason: &str, test: &str| Skip {
            reason: reason.to_owned(),
            remedy: "make bench-peers".to_owned(),
            test: test.to_owned(),
        };
        let tally = TestTally {
            passed: 7,
            failed: vec!["a::x".to_owned()],
            skipped: vec![skip("no nginx", "b::y"), skip("no nginx", "a::z")],
            ..TestTally::default()
        };
        let times = [PartTime { name: "rust", took: Duration::from_secs(75) }];
        let expected = "\n==== summary\n\nSkipped:\n  no nginx\n    to run: make bench-peers\n      b::y\n      a::z\n\
                        \nFailed:\n  a::x\n\ntime: rust 1 min 15 s\n7 passed, 1 failed, 2 skipped\n";
        assert_eq!(Summary { tally: &tally, times: &times }.to_string(), expected);
    }
}
