//! Plants faults one by one in a copy of the tree, builds it and runs the tests that must notice.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Command as Waiting;

use super::format::{Check, Mutant};
use crate::wire::within_for;

/// A copy of the tree, as last committed, with its own build directory.
#[derive(Debug)]
pub struct Workshop {
    tree: PathBuf,
    copy: PathBuf,
    target: PathBuf,
    profile: String,
}

/// What became of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MutantOutcome {
    /// This test failed, as it must.
    Noticed(String),
    /// Every test passed.
    Survived,
    /// What it replaces does not stand in its file exactly once; says how often.
    NotPlanted(String),
    /// The changed tree is refused by the compiler, which proves nothing; holds what that says.
    NotCompiled(String),
    /// Its tests fail without it, which proves nothing either.
    Red,
}

/// How a test went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TestRunResult {
    Passed,
    Failed,
}

impl Workshop {
    /// Copies the tree at `tree`, as last committed, to `place` with git and builds it there with `profile`.
    ///
    /// # Errors
    /// When git fails; `place` may hold a copy from an earlier run, which is brought up to date.
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

    /// Removes the copy; the build directory stays for the next time.
    ///
    /// # Errors
    /// When git fails.
    pub fn close(self) -> Result<()> {
        run(git(&self.tree).args(["worktree", "remove", "--force"]).arg(&self.copy))
    }

    /// The commit that the copy was made from.
    ///
    /// # Errors
    /// When git fails.
    pub fn commit(&self) -> Result<String> {
        Ok(text_of(git(&self.copy).args(["log", "-1", "--format=%h"]))?.trim().to_owned())
    }

    /// Builds the unchanged copy and runs every test that `mutants` name; answers with those that fail twice.
    ///
    /// # Errors
    /// When the copy does not build, or something names no test at all.
    pub async fn find_red<'m>(&self, mutants: &[&'m Mutant]) -> Result<Vec<&'m Check>> {
        let (mut done, mut red): (Vec<&Check>, Vec<&Check>) = (Vec::new(), Vec::new());
        for check in mutants.iter().flat_map(|mutant| &mutant.checks) {
            if done.contains(&check) {
                continue;
            }
            self.build(check).await.context("the unchanged tree does not build")?;
            // A machine that was busy for a moment does not make a test red.
            if self.run(check).await? == TestRunResult::Failed
                && self.run(check).await? == TestRunResult::Failed
            {
                red.push(check);
            }
            done.push(check);
        }
        Ok(red)
    }

    /// Plants `mutant`, runs its tests, without those that are `red` anyhow, until one fails and takes it out again.
    ///
    /// # Errors
    /// When files or cargo itself cannot be used; what becomes of the fault is no error.
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

    /// Builds what `check` runs, so that a test that does not compile is not taken for one that fails.
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
            // The group was made for this test; the test may have outlived its cargo.
            if let Some(group) = group {
                let _ = kill_process_group(group, Signal::KILL);
            }
            // A test that hangs has noticed as well.
            return Ok(TestRunResult::Failed);
        };
        let output = output?;
        if !output.status.success() {
            return Ok(TestRunResult::Failed);
        }
        ensure!(passed(&output.stdout) > 0, "no test is named by: {}", describe(check));
        Ok(TestRunResult::Passed)
    }

    /// The command that runs `check` in the copy.
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

/// The first error among what the compiler says.
fn first_error(text: &str) -> &str {
    text.lines().find(|line| line.starts_with("error")).unwrap_or("no error is said")
}

/// How many tests passed, summed over the `test result` lines of what cargo writes.
fn passed(stdout: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(stdout);
    let counts = text.lines().filter_map(|line| line.strip_prefix("test result: ok. ")?.split(' ').next());
    counts.filter_map(|count| count.parse::<u64>().ok()).sum()
}

/// The command line that runs a test.
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
