//! Steps of each long run and the path of its result.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::step::{RunStep, StepOutcome, StepStatus};

/// Options of the nightly run.
#[derive(Clone, Debug, Default)]
pub struct Nightly {
    /// Folders with more corpus files, separated by `:`.
    pub corpus: Option<String>,
    /// Run time of each fuzz target in seconds.
    pub fuzz_seconds: u32,
}

/// Applies the faults of `tests/mutants` with these names, or all without names. Returns whether each was detected.
///
/// # Errors
/// When cargo can't be started.
pub fn mutants(root: &Path, names: &[String]) -> Result<bool> {
    let place = build_folder()?.join("mutants");
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "-p", "eddy-e2e", "--bin", "eddy-mutants", "--"]);
    command.arg(place).args(names).current_dir(root);
    Ok(command.status().context("can't start `cargo`")?.success())
}

/// Runs the long tests in full and writes `tests/soak/RESULT.md`. Returns whether all passed.
///
/// # Errors
/// When a step can't be started or the result can't be written.
pub fn soak(root: &Path) -> Result<bool> {
    let test = |name: &str, which: &[&str]| test_of("eddy-e2e", name, which);
    let steps = [
        RunStep::new(
            "programs",
            &["cargo", "build", "--quiet", "--profile", "quick", "--workspace", "--bins"],
        ),
        test("exactly-once delivery: idle, reloads, takeovers and kills", &["--test", "exactly_once"]),
        test("aborts", &["--test", "aborts"]),
        test("shortage", &["--test", "resources"]),
        test("overload", &["--test", "overload"]),
        test("slow uploads, compared with NGINX and Envoy", &["--test", "slow_uploads"]),
        test(
            "idle connections closed by endpoints, compared with NGINX and Envoy",
            &["--test", "idle_links"],
        ),
        test("HPACK bomb, compared with other proxies", &["--test", "header_bomb"]),
        test("100,000 UDP sessions", &["--test", "datagrams"]),
        test("faulty Lua scripts and Wasm modules, 10,000 times each", &["--test", "filter_faults"]),
        test_of("eddy-guest", "endless Lua scripts", &["--lib", "scripts_without_end"]),
        test_of("eddy", "faulty filters: panics and crashes", &["--test", "program", "at_fault"]),
        test_of(
            "eddy-bridge-e2e",
            "a million values over the bridge, in both directions",
            &["--test", "values"],
        ),
        test_of("eddy-bridge-e2e", "the bridge under Go's pointer checks and AddressSanitizer", &["--test", "checks"]),
        test_of("eddy-bridge-e2e", "the bridge linked with an archive", &["--test", "linked"]),
        test_of(
            "eddy-bridge-ring",
            "a million calls to another process",
            &["--test", "processes", "a_million"],
        ),
        test_of("proxy-wasm-host", "malicious Wasm modules, 10,000 times each", &["--test", "evil"]),
    ];
    let outcomes = run_all(root, &[&steps[..], &random_orders()].concat())?;
    write_result(root, "tests/soak/RESULT.md", "Last soak run", &outcomes)
}

/// Creates the step of a test in its long form.
fn test_of(package: &str, name: &str, which: &[&str]) -> RunStep {
    let words = ["cargo", "test", "--quiet", "--profile", "quick", "-p", package];
    let options = ["--", "--include-ignored", "--show-output", "--test-threads=1"];
    RunStep::new(name, &[&words[..], which, &options].concat()).with("EDDY_SOAK", "1")
}

/// Sends a million requests to generated configurations, to eddy and to the real NGINX.
fn nginx_pairs(root: &Path) -> Result<Vec<StepOutcome>> {
    let words = ["cargo", "test", "--quiet", "--profile", "quick", "-p", "eddy-config", "--test", "nginx"];
    let options = ["many_generated", "--", "--ignored", "--show-output"];
    let step = RunStep::new("nginx: a million pairs of requests", &[&words[..], &options].concat())
        .with("EDDY_NGINX_PAIRS", "1000000");
    if test_peers::NGINX.is_present() {
        return run_all(root, &[step]);
    }
    Ok(vec![step.skip("NGINX is not installed")])
}

/// Sends a million requests to generated routes, to eddy and to the real Envoy; an interrupted run is resumed.
fn envoy_pairs(root: &Path) -> RunStep {
    let words = ["cargo", "test", "--quiet", "--profile", "quick", "-p", "eddy-e2e", "--test", "envoy_conf"];
    let options = ["many_generated", "--", "--ignored", "--show-output"];
    RunStep::new("Envoy: a million pairs of requests", &[&words[..], &options].concat())
        .with("EDDY_ENVOY_PAIRS", "1000000")
        .with("EDDY_ENVOY_LEDGER", &root.join("tests/nightly/envoy.txt").display().to_string())
}

/// Runs the bridge with memory checking. Steps are left out when Clang's sanitizer or Miri is missing.
fn bridge_watched(root: &Path) -> Result<Vec<StepOutcome>> {
    let sanitized = test_of(
        "eddy-bridge-e2e",
        "the bridge under AddressSanitizer: Rust, Go and C, each loaded by the other, and two processes",
        &["--test", "sanitized"],
    );
    let miri = ["rustup", "run", "nightly", "cargo", "miri"];
    let messages = ["test", "--quiet", "-p", "eddy-bridge", "--test", "messages"];
    let messages = RunStep::new("bridge messages under Miri", &[&miri[..], &messages].concat())
        // Messages contain addresses as integers.
        .with("MIRIFLAGS", "-Zmiri-permissive-provenance");
    let header = ["-fsyntax-only", "-include", "sanitizer/asan_interface.h", "-x", "c", "/dev/null"];
    let steps = [
        (has("clang", &header), sanitized, "Clang or its sanitizers are missing"),
        (has("rustup", &["run", "nightly", "cargo", "miri", "--version"]), messages, "Miri is missing"),
    ];
    let mut outcomes = Vec::new();
    for (is_there, step, why) in steps {
        outcomes.extend(if is_there { run_all(root, &[step])? } else { vec![step.skip(why)] });
    }
    Ok(outcomes)
}

/// Runs hooks, resumes, replies and resets in random orders, ten million steps each.
fn random_orders() -> Vec<RunStep> {
    vec![
        test_of(
            "eddy-proxy",
            "random orders of filter events, on the host tables",
            &["--lib", "schedule_tests"],
        ),
        test_of(
            "eddy-proxy",
            "random orders of filter events, through a gateway with one and four workers",
            &["--test", "schedule"],
        ),
        test_of(
            "eddy",
            "random orders of events of Go and Rust filters, with four workers",
            &["--test", "program", "among_workers"],
        ),
    ]
}

impl Nightly {
    /// Runs all nightly steps and writes `tests/nightly/RESULT.md`. Returns whether all passed.
    ///
    /// The steps: the whole corpus, a million requests to generated routes, ten million messages, filters in random
    /// orders, the bridge under a sanitizer, every fuzz target and all planted faults.
    ///
    /// # Errors
    /// When a step can't be started or the result can't be written.
    pub fn run(&self, root: &Path) -> Result<bool> {
        let corpus = ["cargo", "test", "--quiet", "--profile", "quick", "-p", "eddy-e2e", "--test", "corpus"];
        let corpus = [&corpus[..], &["--", "--show-output"]].concat();
        let corpus = match &self.corpus {
            Some(folders) => {
                RunStep::new("own and foreign corpora, all cuts", &corpus).with("EDDY_CORPUS", folders)
            }
            None => RunStep::new("own corpus, all cuts", &corpus),
        };
        let build = RunStep::new(
            "programs",
            &["cargo", "build", "--quiet", "--profile", "quick", "--workspace", "--bins"],
        );
        let routes =
            ["cargo", "test", "--quiet", "--profile", "quick", "-p", "eddy-route", "--test", "route"];
        let routes = [&routes[..], &["agreement", "--", "--show-output"]].concat();
        // Each case is a table and about fifteen requests.
        let routes = RunStep::new("routes: index, plain scan and oracle agree, a million requests", &routes)
            .with("PROPTEST_CASES", "40000");
        let protobuf = RunStep::new(
            "protobuf: ten million messages and JSON texts, compared with the Go reference",
            &["crates/eddy-protobuf/tests/differential/run", "10000000"],
        );
        let mut outcomes = run_all(root, &[build, corpus, routes, protobuf])?;
        outcomes.extend(nginx_pairs(root)?);
        outcomes.extend(run_all(root, &[envoy_pairs(root)])?);
        outcomes.extend(run_all(root, &random_orders())?);
        outcomes.extend(bridge_watched(root)?);
        outcomes.extend(self.fuzz(root)?);
        outcomes.extend(run_all(root, &[RunStep::new("planted faults", &["cargo", "xtask", "mutants"])])?);
        write_result(root, "tests/nightly/RESULT.md", "Last nightly run", &outcomes)
    }

    fn fuzz(&self, root: &Path) -> Result<Vec<StepOutcome>> {
        let time = format!("-max_total_time={}", self.fuzz_seconds);
        let steps: Vec<RunStep> = targets(root)?
            .iter()
            .map(|target| {
                let words = ["rustup", "run", "nightly", "cargo", "fuzz", "run", target, "--", &time];
                RunStep::new(&format!("fuzz {target}, {} s", self.fuzz_seconds), &words).within("fuzz")
            })
            .collect();
        if has("rustup", &["run", "nightly", "cargo", "fuzz", "--version"]) {
            return run_all(root, &steps);
        }
        let skipped = steps.iter().map(|step| step.skip("cargo-fuzz or a nightly toolchain is missing"));
        Ok(skipped.collect())
    }
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

/// Runs the steps in order and prints the outcome of each; a failed step does not end the run.
fn run_all(root: &Path, steps: &[RunStep]) -> Result<Vec<StepOutcome>> {
    let mut outcomes = Vec::new();
    for step in steps {
        let outcome = step.run(root)?;
        write!(io::stdout().lock(), "{outcome}")?;
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

/// Writes the outcomes of a run and the commit it ran on. Returns whether nothing failed.
fn write_result(root: &Path, path: &str, title: &str, outcomes: &[StepOutcome]) -> Result<bool> {
    let commit = Command::new("git").args(["log", "-1", "--format=%h"]).current_dir(root).output()?;
    let mut text = format!("# {title}\n\nCommit {}.\n\n", String::from_utf8_lossy(&commit.stdout).trim());
    for outcome in outcomes {
        write!(text, "{outcome}")?;
        if let StepStatus::Skipped(why) = outcome.verdict {
            writeln!(io::stdout().lock(), "skipped: {}: {why}", outcome.name)?;
        }
    }
    let path = root.join(path);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(&path, text).with_context(|| format!("can't write `{}`", path.display()))?;
    Ok(outcomes.iter().all(|outcome| outcome.verdict != StepStatus::Failed))
}

/// Returns Cargo's build folder: two folders above this program.
fn build_folder() -> Result<PathBuf> {
    let program = std::env::current_exe().context("can't determine the path of this program")?;
    Ok(program.ancestors().nth(2).context("this program is not in cargo's build folder")?.to_owned())
}
