//! Summary at the end of a run: failures by name, skipped tests by missing requirement, and the counts.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use crate::step::StepKind;
use crate::tally::{Skip, TestTally};

/// Results of a run.
pub(crate) struct Summary<'a> {
    pub(crate) tally: &'a TestTally,
    pub(crate) times: &'a [StepTime],
}

/// Duration of a step.
pub(crate) struct StepTime {
    pub(crate) part: &'static str,
    pub(crate) kind: StepKind,
    pub(crate) step: String,
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
        write_times(out, self.times)?;
        writeln!(out, "{passed} passed, {} failed, {} skipped", failed.len(), self.tally.skipped_count())
    }
}

/// Writes the time of each step that took long, of the others of each part together, and of building and testing.
fn write_times(out: &mut Formatter<'_>, times: &[StepTime]) -> fmt::Result {
    let total = |is_counted: &dyn Fn(&StepTime) -> bool| -> Duration {
        times.iter().filter(|time| is_counted(time)).map(|time| time.took).sum()
    };
    writeln!(out, "\nTime:")?;
    for parts in times.chunk_by(|one, next| one.part == next.part) {
        let (long, short): (Vec<&StepTime>, Vec<&StepTime>) =
            parts.iter().partition(|time| time.took >= LONG_MIN);
        for StepTime { part, step, took, .. } in &long {
            writeln!(out, "  {:>12}  {part:<4}  {step}", shown(*took))?;
        }
        if let Some(StepTime { part, .. }) = short.first() {
            let took = short.iter().map(|time| time.took).sum();
            let others = if long.is_empty() { "all steps" } else { "other steps" };
            writeln!(out, "  {:>12}  {part:<4}  {others}", shown(took))?;
        }
    }
    let building = total(&|time| time.kind == StepKind::Build);
    let all = total(&|_| true);
    writeln!(out, "  {:>12}  lints and building", shown(building))?;
    writeln!(out, "  {:>12}  tests", shown(all - building))?;
    writeln!(out, "  {:>12}  in all\n", shown(all))
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

/// Shortest time of a step that has its own line.
const LONG_MIN: Duration = Duration::from_secs(5);

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
        let time = |part, kind, step: &str, seconds| StepTime {
            part,
            kind,
            step: step.to_owned(),
            took: Duration::from_secs(seconds),
        };
        let times = [
            time("lint", StepKind::Build, "cargo fmt", 2),
            time("lint", StepKind::Build, "cargo clippy", 190),
            time("rust", StepKind::Build, "cargo test --no-run", 600),
            time("rust", StepKind::Test, "cargo test", 75),
            time("c", StepKind::Test, "make", 1),
        ];
        let expected = "\n==== summary\n\nSkipped:\n  no nginx\n    to run: make bench-peers\n      b::y\n      a::z\n\
                        \nFailed:\n  a::x\n\nTime:\n\
                        \x20   3 min 10 s  lint  cargo clippy\n\
                        \x20          2 s  lint  other steps\n\
                        \x20   10 min 0 s  rust  cargo test --no-run\n\
                        \x20   1 min 15 s  rust  cargo test\n\
                        \x20          1 s  c     all steps\n\
                        \x20  13 min 12 s  lints and building\n\
                        \x20   1 min 16 s  tests\n\
                        \x20  14 min 28 s  in all\n\n\
                        7 passed, 1 failed, 2 skipped\n";
        assert_eq!(Summary { tally: &tally, times: &times }.to_string(), expected);
    }
}
