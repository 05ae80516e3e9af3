//! Soak run: the long tests in full.

use std::path::Path;

use anyhow::Result;

use super::result::{ResultPage, run_all};
use super::step::RunStep;

/// Runs the long tests in full and writes `tests/soak/RESULT.md`. Returns whether all passed.
///
/// # Errors
/// When a step can't be started or the result can't be written.
pub fn soak(root: &Path) -> Result<bool> {
    run_all(root, PAGE, &steps().into_iter().map(|step| (step, true)).collect::<Vec<_>>())
}

/// Writes `tests/soak/RESULT.md` with a row for each long test, and runs none.
///
/// # Errors
/// When the result can't be written.
pub fn soak_table(root: &Path) -> Result<bool> {
    run_all(root, PAGE, &steps().into_iter().map(|step| (step, false)).collect::<Vec<_>>())
}

const PAGE: ResultPage = ResultPage { path: "tests/soak/RESULT.md", title: "Last soak run" };

/// Returns the long tests.
fn steps() -> Vec<RunStep> {
    let steps = [
        RunStep::new(
            "programs",
            &["cargo", "test", "--quiet", "--profile", "quick", "--workspace", "--no-run"],
        ),
        test_of("exactly-once delivery: idle, reloads, takeovers and kills", &["--test", "exactly_once"]),
        test_of("aborts", &["--test", "aborts"]),
        test_of("shortage", &["--test", "resources"]),
        test_of("overload", &["--test", "overload"]),
        test_of("slow uploads, compared with NGINX and Envoy", &["--test", "slow_uploads"]),
        test_of(
            "idle connections closed by endpoints, compared with NGINX and Envoy",
            &["--test", "idle_links"],
        ),
        test_of("HPACK bomb, compared with other proxies", &["--test", "header_bomb"]),
        test_of("100,000 UDP sessions", &["--test", "datagrams"]),
        test_of("faulty Lua scripts and Wasm modules, 10,000 times each", &["--test", "filter_faults"]),
        test_of("endless Lua scripts", &["--lib", "endless_scripts_are_stopped"]),
        test_of("faulty filters: panics and crashes", &["--test", "program", "at_fault"]),
        test_of("a million values over the bridge, in both directions", &["--test", "values"]),
        test_of("the bridge under Go's pointer checks and AddressSanitizer", &["--test", "checks"]),
        test_of("the bridge linked with an archive", &["--test", "linked"]),
        test_of("a million calls to another process", &["--test", "processes", "a_million"]),
        test_of("malicious Wasm modules, 10,000 times each", &["--test", "evil"]),
    ];
    [&steps[..], &random_orders()].concat()
}

/// Creates the step of a test in its long form.
///
/// `which` selects it among the tests of all packages: a package alone would be built with other dependencies.
pub(super) fn test_of(name: &str, which: &[&str]) -> RunStep {
    let words = ["cargo", "test", "--quiet", "--profile", "quick", "--workspace"];
    let options = ["--", "--include-ignored", "--show-output", "--test-threads=1"];
    RunStep::new(name, &[&words[..], which, &options].concat()).with("EDDY_SOAK", "1")
}

/// Runs hooks, resumes, replies and resets in random orders, ten million steps each.
pub(super) fn random_orders() -> Vec<RunStep> {
    vec![
        test_of("random orders of filter events, on the host tables", &["--lib", "schedule_tests"]),
        test_of(
            "random orders of filter events, through a gateway with one and four workers",
            &["--test", "schedule"],
        ),
        test_of(
            "random orders of events of Go and Rust filters, with four workers",
            &["--test", "program", "no_client_gets_the_response_of_another"],
        ),
    ]
}
