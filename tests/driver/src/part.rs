//! Parts of the test suite and the commands of each.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::Result;
use test_peers::{CORAZA, GO, SANITIZERS};

use crate::step::{Format, SuiteStep};

/// A part of the suite that can be run on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SuitePart {
    /// Formatting and lints.
    Lint,
    /// All Rust crates, including the end-to-end tests and tidy.
    Rust,
    /// All Go code.
    Go,
    /// Example filters in C.
    C,
}

impl SuitePart {
    pub(crate) const ALL: [Self; 4] = [Self::Lint, Self::Rust, Self::Go, Self::C];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lint => "lint",
            Self::Rust => "rust",
            Self::Go => "go",
            Self::C => "c",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == name)
    }

    /// Returns the steps of the part in the tree at `root`.
    ///
    /// # Errors
    /// When the build folder cannot be determined.
    pub(crate) fn steps(self, root: &Path) -> Result<Vec<SuiteStep>> {
        Ok(match self {
            Self::Lint => lint(),
            Self::Rust => rust(&build_folder(root)?),
            Self::Go => go(),
            Self::C => vec![
                SuiteStep::new(&["make", "--no-print-directory", "-C", "examples/filters/c", "test"])
                    .needs(SANITIZERS),
            ],
        })
    }
}

fn lint() -> Vec<SuiteStep> {
    let cargo = cargo();
    vec![
        SuiteStep::new(&[&cargo, "fmt", "--all", "--check"]).builds(),
        // Uses the test profile: build scripts, macros and C libraries are built once for lints and tests.
        SuiteStep::new(&[
            &cargo,
            "clippy",
            "--profile",
            "quick",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ])
        .builds(),
    ]
}

/// `cargo test` builds the programs as well, once: `cargo build` would select other features of their dependencies.
///
/// Everything is built before the first test runs, so that the times of both are known.
fn rust(build_folder: &Path) -> Vec<SuiteStep> {
    let cargo = cargo();
    let test = [&cargo, "test", "--profile", "quick"];
    let workspace = [&test[..], &["--workspace"]].concat();
    let model = [&test[..], &["--manifest-path", "bridge/rust/eddy-bridge-ring/model/Cargo.toml"]].concat();
    let build = [&workspace[..], &["--no-run"]].concat();
    vec![
        SuiteStep::new(&build).builds(),
        SuiteStep::new(&[&workspace[..], &["--no-fail-fast"]].concat()).tells(Format::Cargo),
        SuiteStep::new(&model).tells(Format::Cargo).with_variable("CARGO_TARGET_DIR", build_folder),
    ]
}

fn go() -> Vec<SuiteStep> {
    let mut steps = vec![SuiteStep::new(&[&["gofmt", "-l"], GO_FOLDERS].concat()).tells(Format::Silence)];
    let test = |folder, arguments: &[&str]| {
        let words = [&["go", "test", "-json", "-timeout", "4m"], arguments].concat();
        SuiteStep::new(&words).within(folder).tells(Format::Go)
    };
    let checks =
        |module| [SuiteStep::new(&["go", "vet", "./..."]).within(module), test(module, &["-short", "./..."])];
    steps.extend(GO_MODULES.iter().copied().flat_map(checks));
    steps.push(test("sdk/go", &["-short", "-race", ".", "./raw", "./eddytest"]));
    steps.push(test("bridge/go", &["-short", "-race", ".", "./ring", "./internal/frame"]));
    steps.push(test("bridge/go", &["-gcflags=all=-d=checkptr", "./internal/frame"]));
    let steps = steps.into_iter().map(|step| step.needs(GO));
    steps.chain(CORAZA_MODULES.iter().copied().flat_map(checks).map(|step| step.needs(CORAZA))).collect()
}

/// Returns the Cargo program that runs this driver; make passes it in `CARGO`.
fn cargo() -> String {
    env::var_os("CARGO").map_or_else(|| "cargo".to_owned(), |path| path.to_string_lossy().into_owned())
}

/// Returns Cargo's build folder of the workspace.
fn build_folder(root: &Path) -> Result<PathBuf> {
    let named = env::var_os("CARGO_TARGET_DIR").filter(|path| !path.is_empty());
    Ok(std::path::absolute(root.join(named.map_or_else(|| PathBuf::from("target"), PathBuf::from)))?)
}

const GO_MODULES: &[&str] = &[
    "bridge/go",
    "bridge/examples/prices/go",
    "bridge/examples/words/go",
    "bridge/rust/eddy-bridge-e2e/go",
    "sdk/go",
    "sdk/go-envoy",
    "examples/filters/go",
    "examples/filters/go-envoy",
    "tests/envoy-filters",
    "tests/filters/go",
];

/// Go modules that need Coraza.
const CORAZA_MODULES: &[&str] = &["examples/filters/go-coraza", "tests/waf"];

const GO_FOLDERS: &[&str] = &[
    "bridge",
    "sdk/go",
    "sdk/go-envoy",
    "examples/filters",
    "tests/envoy-filters",
    "tests/filters",
    "tests/waf",
    "tests/grpc",
    "bench",
    "tools",
    "crates/eddy-io/benches",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_of_a_part_exists() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for module in GO_MODULES.iter().chain(CORAZA_MODULES) {
            assert!(root.join(module).join("go.mod").is_file(), "{module}");
        }
        for folder in GO_FOLDERS {
            assert!(root.join(folder).is_dir(), "{folder}");
        }
    }

    #[test]
    fn parts_are_found_by_name() {
        for part in SuitePart::ALL {
            assert_eq!(SuitePart::named(part.name()), Some(part));
        }
        assert_eq!(SuitePart::named("else"), None);
    }
}
