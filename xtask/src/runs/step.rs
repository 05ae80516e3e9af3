//! One command of a long run, its outcome and the figures it printed.

use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// A command of a long run.
#[derive(Clone, Debug)]
pub struct RunStep {
    name: String,
    cases: &'static str,
    words: Vec<String>,
    folder: &'static str,
    variables: Vec<(&'static str, String)>,
    /// Reason why the step cannot run here.
    missing: Option<&'static str>,
}

/// Result of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepStatus {
    /// The command succeeded.
    Passed,
    /// The command failed.
    Failed,
    /// The step was left out, with the reason.
    Skipped(&'static str),
    /// The run was limited to other parts.
    NotRun,
}

/// A finished step.
#[derive(Clone, Debug)]
pub struct StepOutcome {
    /// Name of the step.
    pub name: String,
    /// Number of cases that the step was to run; empty if it has no number.
    pub cases: &'static str,
    /// Result of the step.
    pub verdict: StepStatus,
    /// Duration of the step.
    pub took: Duration,
    /// Lines that its tests printed.
    pub figures: Vec<String>,
}

impl RunStep {
    /// Creates a step that runs these words; the first word is the program.
    pub fn new(name: &str, words: &[&str]) -> Self {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let name = name.to_owned();
        Self { name, cases: "", words, folder: ".", variables: Vec::new(), missing: None }
    }

    /// States the number of cases that the step runs.
    #[must_use]
    pub fn of(self, cases: &'static str) -> Self {
        Self { cases, ..self }
    }

    /// Leaves the step out, with this reason, unless `is_present`.
    #[must_use]
    pub fn requires(self, is_present: bool, why: &'static str) -> Self {
        Self { missing: if is_present { self.missing } else { Some(why) }, ..self }
    }

    /// Runs the step in this folder of the tree.
    #[must_use]
    pub fn within(self, folder: &'static str) -> Self {
        Self { folder, ..self }
    }

    /// Sets an environment variable for the step.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.to_owned()));
        self
    }

    /// Runs the step in the tree at `root`, unless it is left out; its standard error is shown as it arrives.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn run(&self, root: &Path) -> Result<StepOutcome> {
        if let Some(why) = self.missing {
            return Ok(self.end(StepStatus::Skipped(why)));
        }
        let since = Instant::now();
        let (program, arguments) = self.words.split_first().context("a step has a program")?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(root.join(self.folder)).stderr(Stdio::inherit());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let output = command.output().with_context(|| format!("can't start `{program}`"))?;
        let verdict = if output.status.success() { StepStatus::Passed } else { StepStatus::Failed };
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(StepOutcome { took: since.elapsed(), figures: figures(&text), ..self.end(verdict) })
    }

    /// Returns the outcome of the step when the run is limited to others.
    pub fn not_run(&self) -> StepOutcome {
        self.end(StepStatus::NotRun)
    }

    fn end(&self, verdict: StepStatus) -> StepOutcome {
        let (name, cases) = (self.name.clone(), self.cases);
        StepOutcome { name, cases, verdict, took: Duration::ZERO, figures: Vec::new() }
    }
}

impl StepOutcome {
    fn took(&self) -> String {
        match self.verdict {
            StepStatus::Passed | StepStatus::Failed => format!("{} s", self.took.as_secs()),
            StepStatus::Skipped(_) | StepStatus::NotRun => "–".to_owned(),
        }
    }
}

impl Display for StepStatus {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed => out.write_str("passed"),
            Self::Failed => out.write_str("**failed**"),
            Self::Skipped(why) => write!(out, "**skipped**: {why}"),
            Self::NotRun => out.write_str("not run at this commit"),
        }
    }
}

/// A row of the table of results.
impl Display for StepOutcome {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let cases = if self.cases.is_empty() { "–" } else { self.cases };
        writeln!(out, "| {} | {cases} | {} | {} |", self.name, self.verdict, self.took())
    }
}

/// Returns the lines that tests printed in a run with `--show-output`.
fn figures(text: &str) -> Vec<String> {
    let mut figures = Vec::new();
    let mut is_inside = false;
    for line in text.lines() {
        if line.starts_with("---- ") && line.ends_with(" stdout ----") {
            is_inside = true;
        } else if line.is_empty() {
            is_inside = false;
        } else if is_inside {
            figures.push(line.to_owned());
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_output_is_kept() {
        let text = "running 1 test\ntest a ... ok\n\nsuccesses:\n\n---- a stdout ----\nquiet: 7 requests\n\n\nsuccesses:\n    a\n";
        assert_eq!(figures(text), ["quiet: 7 requests"]);
    }

    #[test]
    fn a_step_passes_fails_or_is_reported_as_skipped() {
        let run = |step: RunStep| step.run(Path::new(".")).unwrap();
        let check = |outcome: &StepOutcome, expected: &str| assert_eq!(outcome.to_string(), expected);
        check(&run(RunStep::new("good", &["true"]).of("7 cases")), "| good | 7 cases | passed | 0 s |\n");
        check(&run(RunStep::new("bad", &["false"])), "| bad | – | **failed** | 0 s |\n");
        let without_tool = RunStep::new("none", &["./no-such-program"]).requires(false, "no tool");
        check(&run(without_tool), "| none | – | **skipped**: no tool | – |\n");
        check(
            &run(RunStep::new("good", &["true"]).requires(true, "no tool")),
            "| good | – | passed | 0 s |\n",
        );
        check(&RunStep::new("other", &["false"]).not_run(), "| other | – | not run at this commit | – |\n");
        assert!(RunStep::new("absent", &["./no-such-program"]).run(Path::new(".")).is_err());
    }
}
