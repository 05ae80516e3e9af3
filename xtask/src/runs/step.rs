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
    words: Vec<String>,
    folder: &'static str,
    variables: Vec<(&'static str, String)>,
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
}

/// A finished step.
#[derive(Clone, Debug)]
pub struct StepOutcome {
    /// Name of the step.
    pub name: String,
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
        Self { name: name.to_owned(), words, folder: ".", variables: Vec::new() }
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

    /// Runs the step in the tree at `root`; its standard error is shown as it arrives.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn run(&self, root: &Path) -> Result<StepOutcome> {
        let since = Instant::now();
        let (program, arguments) = self.words.split_first().context("a step has a program")?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(root.join(self.folder)).stderr(Stdio::inherit());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let output = command.output().with_context(|| format!("can't start `{program}`"))?;
        let verdict = if output.status.success() { StepStatus::Passed } else { StepStatus::Failed };
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(StepOutcome { name: self.name.clone(), verdict, took: since.elapsed(), figures: figures(&text) })
    }

    /// Returns the outcome of the step when it is left out.
    pub fn skip(&self, why: &'static str) -> StepOutcome {
        StepOutcome {
            name: self.name.clone(),
            verdict: StepStatus::Skipped(why),
            took: Duration::ZERO,
            figures: Vec::new(),
        }
    }
}

impl Display for StepOutcome {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let seconds = self.took.as_secs();
        match &self.verdict {
            StepStatus::Passed => writeln!(out, "- {}: passed, {seconds} s", self.name)?,
            StepStatus::Failed => writeln!(out, "- {}: **failed**, {seconds} s", self.name)?,
            StepStatus::Skipped(why) => writeln!(out, "- {}: **skipped**, {why}", self.name)?,
        }
        self.figures.iter().try_for_each(|line| writeln!(out, "  - {line}"))
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
    fn what_tests_print_is_kept() {
        let text = "running 1 test\ntest a ... ok\n\nsuccesses:\n\n---- a stdout ----\nquiet: 7 requests\n\n\nsuccesses:\n    a\n";
        assert_eq!(figures(text), ["quiet: 7 requests"]);
    }

    #[test]
    fn a_step_passes_fails_or_is_left_out_aloud() {
        let check = |outcome: &StepOutcome, expected: &str| assert!(outcome.to_string().contains(expected));
        check(&RunStep::new("good", &["true"]).run(Path::new(".")).unwrap(), "good: passed");
        check(&RunStep::new("bad", &["false"]).run(Path::new(".")).unwrap(), "bad: **failed**");
        check(&RunStep::new("none", &["true"]).skip("no tool"), "none: **skipped**, no tool");
        assert!(RunStep::new("absent", &["./no-such-program"]).run(Path::new(".")).is_err());
    }
}
