//! Plants faults one by one in a copy of the tree, builds it and runs the tests that must notice.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
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
pub enum Outcome {
    /// This test failed, as it must.
    Noticed(String),
    /// Every test passed.
    Survived,
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

    /// Builds the unchanged copy and runs every test that `mutants` name; all of them must pass.
    ///
    /// # Errors
    /// When one fails.
    pub async fn check_unchanged(&self, mutants: &[&Mutant]) -> Result<()> {
        self.build().await.context("the unchanged tree does not build")?;
        let mut done: Vec<&Check> = Vec::new();
        for check in mutants.iter().flat_map(|mutant| &mutant.checks) {
            if done.contains(&check) {
                continue;
            }
            ensure!(self.passes(check).await?, "fails without any fault: {}", describe(check));
            done.push(check);
        }
        Ok(())
    }

    /// Plants `mutant`, runs its tests and takes it out again.
    ///
    /// # Errors
    /// When it cannot be planted or the changed tree does not build.
    pub async fn try_out(&self, mutant: &Mutant) -> Result<Outcome> {
        let path = self.copy.join(&mutant.file);
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        std::fs::write(&path, mutant.plant(&text)?)?;
        let outcome = self.try_planted(mutant).await;
        std::fs::write(&path, text)?;
        outcome
    }

    async fn try_planted(&self, mutant: &Mutant) -> Result<Outcome> {
        self.build().await.context("the changed tree does not build")?;
        for check in &mutant.checks {
            if !self.passes(check).await? {
                return Ok(Outcome::Noticed(describe(check)));
            }
        }
        Ok(Outcome::Survived)
    }

    async fn build(&self) -> Result<()> {
        let mut cargo = self.cargo(&self.copy);
        cargo.args(["build", "--quiet", "-p", "eddy", "--profile", &self.profile]);
        cargo.env("CARGO_TARGET_DIR", &self.target).stderr(Stdio::piped());
        let output = within_for(BUILD_MAX, "build", cargo.output()).await??;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    async fn passes(&self, check: &Check) -> Result<bool> {
        let mut cargo = match check {
            Check::Unit(arguments) => {
                let mut cargo = self.cargo(&self.copy);
                cargo.args(["test", "--quiet", "--profile", &self.profile]).args(arguments);
                cargo.env("CARGO_TARGET_DIR", &self.target);
                cargo
            }
            Check::EndToEnd(arguments, variables) => {
                let directory = if self.profile == "dev" { "debug" } else { &self.profile };
                let mut cargo = self.cargo(&self.tree);
                cargo.args(["test", "--quiet", "-p", "eddy-e2e"]).args(arguments);
                cargo.env("EDDY_BIN", self.target.join(directory).join("eddy"));
                cargo.envs(variables.iter().map(|(name, value)| (name, value)));
                cargo
            }
        };
        cargo.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = cargo.spawn().context("cannot start cargo")?;
        // A test that hangs has noticed as well.
        match tokio::time::timeout(TEST_MAX, child.wait()).await {
            Ok(status) => Ok(status?.success()),
            Err(_) => {
                child.kill().await?;
                Ok(false)
            }
        }
    }

    fn cargo(&self, directory: &Path) -> Waiting {
        let mut cargo = Waiting::new("cargo");
        cargo.current_dir(directory).stdin(Stdio::null()).kill_on_drop(true);
        cargo
    }
}

fn describe(check: &Check) -> String {
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
const TEST_MAX: Duration = Duration::from_secs(600);
