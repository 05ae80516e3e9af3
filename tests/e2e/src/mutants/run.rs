//! Applies faults one by one to a copy of the tree, builds it and runs the tests that must detect them.

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Command as Waiting;

use super::format::{Check, Mutant};
use super::table::DETECTED;
use crate::wire::within_for;

/// A copy of the tree, as last committed, with its own build directory.
#[derive(Debug)]
pub struct Workshop {
    tree: PathBuf,
    copy: PathBuf,
    target: PathBuf,
    profile: String,
}

/// Outcome of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MutantOutcome {
    /// This test failed, as it must.
    Noticed(String),
    /// Every test passed.
    Survived,
    /// The text to replace does not occur exactly once in its file; holds the error.
    NotPlanted(String),
    /// The changed tree does not compile, which proves nothing; holds the compiler's error.
    NotCompiled(String),
    /// All its tests fail without the fault too, which proves nothing.
    Red,
}

impl Display for MutantOutcome {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Noticed(by) => write!(out, "{DETECTED}`{by}`"),
            Self::Survived => out.write_str("**SURVIVED**"),
            Self::NotPlanted(why) => write!(out, "**did not apply**: {why}"),
            Self::NotCompiled(why) => write!(out, "**did not compile**: {why}"),
            Self::Red => out.write_str("**not tried**: its tests fail without the fault"),
        }
    }
}

/// Result of a test run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TestRunResult {
    Passed,
    Failed,
}

impl Workshop {
    /// Copies the tree at `tree`, as last committed, to `place` with git and builds it there with `profile`.
    ///
    /// # Errors
    /// When git fails. `place` may hold a copy from an earlier run, which is updated.
    pub fn open(tree: &Path, place: &Path, profile: &str) -> Result<Self> {
        let workshop = Self {
            tree: tree.to_path_buf(),
            copy: place.join("tree"),
            target: place.join("target"),
            profile: profile.to_owned(),
        };
        std::fs::create_dir_all(place)?;
        if workshop.copy.is_dir() {
            let head = text_of(git(tree).args(["rev-parse", "HEAD"]))?;
            run(git(&workshop.copy).args(["checkout", "--force", "--detach", head.trim()]))?;
        } else {
            run(git(tree).args(["worktree", "add", "--force", "--detach"]).arg(&workshop.copy).arg("HEAD"))?;
        }
        Ok(workshop)
    }

    /// Removes the copy; the build directory is kept for the next run.
    ///
    /// # Errors
    /// When git fails.
    pub fn close(self) -> Result<()> {
        run(git(&self.tree).args(["worktree", "remove", "--force"]).arg(&self.copy))
    }

    /// Returns the commit of the copy.
    ///
    /// # Errors
    /// When git fails.
    pub fn commit(&self) -> Result<String> {
        Ok(text_of(git(&self.copy).args(["log", "-1", "--format=%h"]))?.trim().to_owned())
    }

    /// Builds the unchanged copy and runs every test that `mutants` name; returns those that fail twice.
    ///
    /// # Errors
    /// When the copy does not build, or a check selects no test.
    pub async fn find_red<'m>(&self, mutants: &[&'m Mutant]) -> Result<Vec<&'m Check>> {
        let (mut done, mut red): (Vec<&Check>, Vec<&Check>) = (Vec::new(), Vec::new());
        for check in mutants.iter().flat_map(|mutant| &mutant.checks) {
            if done.contains(&check) {
                continue;
            }
            self.build(check).await.context("the unchanged tree does not build")?;
            // A test that fails once on a busy machine does not count as failing.
            if self.run(check).await? == TestRunResult::Failed
                && self.run(check).await? == TestRunResult::Failed
            {
                red.push(check);
            }
            done.push(check);
        }
        Ok(red)
    }

    /// Applies `mutant`, runs its tests except those in `red` until one fails, and reverts the change.
    ///
    /// # Errors
    /// When files or cargo itself cannot be used; the outcome of the fault is never an error.
    pub async fn try_out(&self, mutant: &Mutant, red: &[&Check]) -> Result<MutantOutcome> {
        let checks: Vec<&Check> = mutant.checks.iter().filter(|check| !red.contains(check)).collect();
        if checks.is_empty() {
            return Ok(MutantOutcome::Red);
        }
        let path = self.copy.join(&mutant.file);
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let planted = match mutant.plant(&text) {
            Ok(planted) => planted,
            Err(error) => return Ok(MutantOutcome::NotPlanted(format!("{error:#}"))),
        };
        std::fs::write(&path, planted)?;
        let outcome = self.try_planted(&checks).await;
        std::fs::write(&path, text)?;
        outcome
    }

    async fn try_planted(&self, checks: &[&Check]) -> Result<MutantOutcome> {
        for check in checks {
            if let Err(error) = self.build(check).await {
                return Ok(MutantOutcome::NotCompiled(format!("{error:#}")));
            }
            if self.run(check).await? == TestRunResult::Failed {
                return Ok(MutantOutcome::Noticed(describe(check)));
            }
        }
        Ok(MutantOutcome::Survived)
    }

    /// Builds the tests of `check`, so that a compile error is not mistaken for a failing test.
    async fn build(&self, check: &Check) -> Result<()> {
        if matches!(check, Check::EndToEnd(..)) {
            let mut cargo = self.cargo();
            cargo.args(["build", "--quiet", "-p", "eddy", "--profile", &self.profile]);
            build_with(cargo).await?;
        }
        let mut cargo = self.test(check);
        cargo.arg("--no-run");
        build_with(cargo).await
    }

    async fn run(&self, check: &Check) -> Result<TestRunResult> {
        let mut cargo = self.test(check);
        cargo.stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        let child = cargo.spawn().context("cannot start cargo")?;
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let Ok(output) = tokio::time::timeout(TEST_MAX, child.wait_with_output()).await else {
            // The process group was created for this test; the test may have outlived its cargo.
            if let Some(group) = group {
                let _ = kill_process_group(group, Signal::KILL);
            }
            // A hanging test counts as failed.
            return Ok(TestRunResult::Failed);
        };
        let output = output?;
        if !output.status.success() {
            return Ok(TestRunResult::Failed);
        }
        ensure!(passed(&output.stdout) > 0, "no test matches: {}", describe(check));
        Ok(TestRunResult::Passed)
    }

    /// Returns the command that runs `check` in the copy.
    fn test(&self, check: &Check) -> Waiting {
        let mut cargo = self.cargo();
        cargo.args(["test", "--quiet", "--profile", &self.profile]);
        match check {
            Check::Unit(arguments) => {
                cargo.args(arguments);
            }
            Check::EndToEnd(arguments, variables) => {
                let directory = if self.profile == "dev" { "debug" } else { &self.profile };
                cargo.args(["-p", "eddy-e2e"]).args(arguments);
                cargo.env("EDDY_BIN", self.target.join(directory).join("eddy"));
                cargo.envs(variables.iter().map(|(name, value)| (name, value)));
            }
        }
        cargo
    }

    fn cargo(&self) -> Waiting {
        let mut cargo = Waiting::new("cargo");
        cargo.current_dir(&self.copy).env("CARGO_TARGET_DIR", &self.target);
        cargo.stdin(Stdio::null()).kill_on_drop(true);
        cargo
    }
}

async fn build_with(mut cargo: Waiting) -> Result<()> {
    cargo.stdout(Stdio::null()).stderr(Stdio::piped());
    let output = within_for(BUILD_MAX, "build", cargo.output()).await??;
    ensure!(output.status.success(), "{}", first_error(&String::from_utf8_lossy(&output.stderr)));
    Ok(())
}

/// Returns the first error in the compiler output.
fn first_error(text: &str) -> &str {
    text.lines().find(|line| line.starts_with("error")).unwrap_or("no error message")
}

/// Number of passed tests, summed over the `test result` lines of cargo's output.
fn passed(stdout: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(stdout);
    let counts = text.lines().filter_map(|line| line.strip_prefix("test result: ok. ")?.split(' ').next());
    counts.filter_map(|count| count.parse::<u64>().ok()).sum()
}

/// Returns the command line that runs a test.
pub fn describe(check: &Check) -> String {
    match check {
        Check::Unit(arguments) => format!("cargo test {}", arguments.join(" ")),
        Check::EndToEnd(arguments, variables) => {
            let variables: String =
                variables.iter().map(|(name, value)| format!("{name}={value} ")).collect();
            format!("{variables}cargo test -p eddy-e2e {}", arguments.join(" "))
        }
    }
}

/// Returns what git prints in the tree at `tree`.
pub(super) fn git_text(tree: &Path, words: &[&str]) -> Result<String> {
    text_of(git(tree).args(words))
}

fn git(directory: &Path) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(directory);
    git
}

fn text_of(command: &mut Command) -> Result<String> {
    let output = command.output().context("cannot run git")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn run(command: &mut Command) -> Result<()> {
    text_of(command).map(|_| ())
}

const BUILD_MAX: Duration = Duration::from_secs(1200);
const TEST_MAX: Duration = Duration::from_secs(180);
