//! Nightly run: comparisons with millions of generated cases, sanitizers, fuzzing and planted faults.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use clap::ValueEnum;

use super::result::{ResultPage, run_all};
use super::soak::{random_orders, test_of};
use super::step::RunStep;

/// Options of the nightly run.
#[derive(Clone, Debug, Default)]
pub struct Nightly {
    /// Folders with more corpus files, separated by `:`.
    pub corpus: Option<String>,
    /// Run time of each fuzz target in seconds.
    pub fuzz_seconds: u32,
    /// Parts to run; empty for all.
    pub only: Vec<NightlyPart>,
}

/// Part of the nightly run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NightlyPart {
    /// The framing corpus with all cuts.
    Corpus,
    /// The route index, compared with a plain scan and an oracle.
    Routes,
    /// Messages through random filter chains, compared with a naive model.
    Filters,
    /// Protobuf messages, compared with the Go reference.
    Protobuf,
    /// Generated configurations, compared with NGINX.
    Nginx,
    /// Generated routes, compared with Envoy.
    Envoy,
    /// Filter events in random orders.
    Orders,
    /// The bridge under AddressSanitizer and Miri.
    Bridge,
    /// Fuzz targets.
    Fuzz,
    /// Planted faults.
    Mutants,
}

impl NightlyPart {
    /// Whether tests of the part start programs of the workspace.
    fn needs_programs(self) -> bool {
        match self {
            Self::Corpus | Self::Envoy | Self::Orders | Self::Bridge => true,
            Self::Routes | Self::Filters | Self::Protobuf | Self::Nginx | Self::Fuzz | Self::Mutants => false,
        }
    }
}

impl Nightly {
    /// Runs the nightly steps and writes `tests/nightly/RESULT.md`, which also lists the parts that were not selected.
    /// Returns whether all passed.
    ///
    /// # Errors
    /// When a step can't be started or the result can't be written.
    pub fn run(&self, root: &Path) -> Result<bool> {
        let programs = RunStep::new(
            "programs",
            &["cargo", "test", "--quiet", "--profile", "quick", "--workspace", "--no-run"],
        );
        let is_selected = |part: &NightlyPart| self.only.is_empty() || self.only.contains(part);
        let parts = NightlyPart::value_variants();
        let mut steps = Vec::new();
        if parts.iter().any(|part| is_selected(part) && part.needs_programs()) {
            steps.push((programs, true));
        }
        for part in parts {
            steps.extend(self.steps(root, *part)?.into_iter().map(|step| (step, is_selected(part))));
        }
        run_all(root, ResultPage { path: "tests/nightly/RESULT.md", title: "Last nightly run" }, &steps)
    }

    /// Returns the steps of a part.
    fn steps(&self, root: &Path, part: NightlyPart) -> Result<Vec<RunStep>> {
        Ok(match part {
            NightlyPart::Corpus => vec![self.corpus()],
            NightlyPart::Routes => vec![routes()],
            NightlyPart::Filters => vec![filters()],
            NightlyPart::Protobuf => vec![protobuf()],
            NightlyPart::Nginx => vec![nginx_pairs()],
            NightlyPart::Envoy => vec![envoy_pairs(root)],
            NightlyPart::Orders => random_orders(),
            NightlyPart::Bridge => bridge_watched(),
            NightlyPart::Fuzz => self.fuzz(root)?,
            NightlyPart::Mutants => {
                vec![
                    RunStep::new("planted faults", &["cargo", "xtask", "mutants"])
                        .of("all faults at this commit"),
                ]
            }
        })
    }

    fn corpus(&self) -> RunStep {
        let words = ["cargo", "test", "--quiet", "--profile", "quick", "--workspace", "--test", "corpus"];
        let words = [&words[..], &["--", "--show-output"]].concat();
        match &self.corpus {
            Some(folders) => RunStep::new("own and foreign corpora", &words).with("EDDY_CORPUS", folders),
            None => RunStep::new("own corpus", &words),
        }
        .of("all cuts")
    }

    fn fuzz(&self, root: &Path) -> Result<Vec<RunStep>> {
        let time = format!("-max_total_time={}", self.fuzz_seconds);
        let has_fuzzer = has("rustup", &["run", "nightly", "cargo", "fuzz", "--version"]);
        let step = |target: &String| {
            let words = ["rustup", "run", "nightly", "cargo", "fuzz", "run", target, "--", &time];
            RunStep::new(&format!("fuzz {target}, {} s", self.fuzz_seconds), &words)
                .within("fuzz")
                .requires(has_fuzzer, "cargo-fuzz or a nightly toolchain is missing")
        };
        Ok(targets(root)?.iter().map(step).collect())
    }
}

/// Compares the route index with a plain scan and an oracle.
fn routes() -> RunStep {
    let words = ["cargo", "test", "--quiet", "--profile", "quick", "--workspace", "--test", "route"];
    RunStep::new(
        "routes: index, plain scan and oracle agree",
        &[&words[..], &["agreement", "--", "--show-output"]].concat(),
    )
    // Of two kinds of tables as many, of three kinds a quarter.
    .with("PROPTEST_CASES", "40000")
    .of("110,000 tables, about 15 requests each")
}

/// Passes messages through random filter chains, as the gateway does and as a naive model does.
fn filters() -> RunStep {
    let words = ["cargo", "test", "--quiet", "--profile", "quick", "-p", "eddy-filter", "--test", "run"];
    RunStep::new("filter runs and a naive model agree", &[&words[..], &["--", "--show-output"]].concat())
        .with("PROPTEST_CASES", "1000000")
        .of("1,000,000 exchanges")
}

fn protobuf() -> RunStep {
    RunStep::new(
        "protobuf, compared with the Go reference",
        &["crates/eddy-protobuf/tests/differential/run", "10000000"],
    )
    .of("10,000,000 messages and JSON texts")
    .requires(test_peers::GO.is_present(), "Go is missing")
}

/// Sends requests to generated configurations, to eddy and to the real NGINX.
fn nginx_pairs() -> RunStep {
    let words = ["cargo", "test", "--quiet", "--profile", "quick", "--workspace", "--test", "nginx"];
    let options = ["many_generated", "--", "--ignored", "--show-output"];
    RunStep::new("NGINX, request by request", &[&words[..], &options].concat())
        .with("EDDY_NGINX_PAIRS", "1000000")
        .of("1,000,000 requests")
        .requires(test_peers::NGINX.is_present(), "NGINX is not installed")
}

/// Sends requests to generated routes, to eddy and to the real Envoy; an interrupted run is resumed.
fn envoy_pairs(root: &Path) -> RunStep {
    let words = ["cargo", "test", "--quiet", "--profile", "quick", "--workspace", "--test", "envoy_conf"];
    let options = ["many_generated", "--", "--ignored", "--show-output"];
    RunStep::new("Envoy, request by request", &[&words[..], &options].concat())
        .with("EDDY_ENVOY_PAIRS", "1000000")
        .with("EDDY_ENVOY_LEDGER", &root.join("tests/nightly/envoy.txt").display().to_string())
        .of("1,000,000 requests")
        .requires(test_peers::ENVOY.is_present(), "Envoy is not installed")
}

/// Runs the bridge with memory checking.
fn bridge_watched() -> Vec<RunStep> {
    let sanitized = test_of(
        "the bridge under AddressSanitizer: Rust, Go and C, each loaded by the other, and two processes",
        &["--test", "sanitized"],
    );
    let miri = ["rustup", "run", "nightly", "cargo", "miri"];
    let messages = ["test", "--quiet", "-p", "eddy-bridge", "--test", "messages"];
    let messages = RunStep::new("bridge messages under Miri", &[&miri[..], &messages].concat())
        // Messages contain addresses as integers.
        .with("MIRIFLAGS", "-Zmiri-permissive-provenance");
    let header = ["-fsyntax-only", "-include", "sanitizer/asan_interface.h", "-x", "c", "/dev/null"];
    vec![
        sanitized.requires(has("clang", &header), "Clang or its sanitizers are missing"),
        messages
            .requires(has("rustup", &["run", "nightly", "cargo", "miri", "--version"]), "Miri is missing"),
    ]
}

/// Returns the names of the fuzz targets.
fn targets(root: &Path) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(root.join("fuzz/targets")).context("can't list `fuzz/targets`")?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut names: Vec<String> =
        paths.filter_map(|path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned())).collect();
    names.sort();
    Ok(names)
}

/// Whether a program exists and succeeds with these arguments.
fn has(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
