//! A step of a long run: a command, how it went and what it had to say.

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

/// How a step went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepStatus {
    /// It ended well.
    Passed,
    /// It ended badly.
    Failed,
    /// It was left out, and why.
    Skipped(&'static str),
}

/// A step that is over.
#[derive(Clone, Debug)]
pub struct StepOutcome {
    /// What was done.
    pub name: String,
    /// How it went.
    pub verdict: StepStatus,
    /// How long it took.
    pub took: Duration,
    /// What its tests printed.
    pub figures: Vec<String>,
}

impl RunStep {
    /// A step that runs these words, the first being the program.
    pub fn new(name: &str, words: &[&str]) -> Self {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        Self { name: name.to_owned(), words, folder: ".", variables: Vec::new() }
    }

    /// The same step in a folder of the tree.
    #[must_use]
    pub fn within(self, folder: &'static str) -> Self {
        Self { folder, ..self }
    }

    /// The same step with a variable of the environment.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.to_owned()));
        self
    }

    /// Runs the step in the tree at `root`; what it says on standard error is seen as it comes.
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

    /// The step, left out.
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
            StepStatus::Skipped(why) => writeln!(out, "- {}: **left out**, {why}", self.name)?,
        }
        self.figures.iter().try_for_each(|line| writeln!(out, "  - {line}"))
    }
}

/// What the tests of a run with `--show-output` printed.
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
        check(&RunStep::new("none", &["true"]).skip("no tool"), "none: **left out**, no tool");
        assert!(RunStep::new("absent", &["./no-such-program"]).run(Path::new(".")).is_err());
    }
}
