//! Sample results for the tests of reports.

use super::results::{DIRECT, Results, SYSTEM_TICKS, Samples, TargetFacts, USER_TICKS};

/// Returns results of eddy, one rival and the harness itself, with some figures missing.
pub(super) fn results() -> Results {
    let mut samples = Samples::default();
    for round in 0..3 {
        let drift = 1.0 + f64::from(round) / 10.0;
        for (target, cpu) in [("eddy", 30.0), ("nginx", 40.0), (DIRECT, 7.0)] {
            samples.add("get", target, "cpu_us", Some(cpu * drift));
            samples.add("get", target, "rps", Some(40_000.0 / cpu));
            samples.add("get", target, USER_TICKS, Some(20.0));
            samples.add("get", target, SYSTEM_TICKS, Some(60.0));
            samples.add("get", target, "p50_us", Some(150.0));
            samples.add("get", target, "p99_us", (target != "nginx").then_some(900.4));
        }
        samples.add("idle", "eddy", "connection_bytes", Some(2048.0));
        samples.add("idle", "eddy", "base_bytes", Some(3_145_728.0));
        samples.add("idle", "eddy", "idle_cpu_us_per_s", Some(1000.0));
    }
    let target = |name: &str| TargetFacts {
        name: name.to_owned(),
        version: "1.0".to_owned(),
        file_bytes: 3 << 20,
        loaded_bytes: None,
    };
    Results {
        name: "test".to_owned(),
        targets: vec![target("eddy"), target("nginx")],
        reference: "eddy".to_owned(),
        ratios: samples.ratios("eddy"),
        rows: samples.rows(),
        ..Results::default()
    }
}

/// Asserts that a text has a line.
#[track_caller]
pub(super) fn check_line(text: &str, expected: &str) {
    assert!(text.lines().any(|line| line == expected), "no line `{expected}` in:\n{text}");
}
