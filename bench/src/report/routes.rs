//! Cost of route lookups as Markdown between two markers of a page; the figures come from `make bench-routes`.

use std::fmt::Write;

use anyhow::Result;
use serde::Deserialize;

use super::summary::replace_between;

/// Output of the route lookup benchmark.
#[derive(Debug, Deserialize)]
pub struct RouteBenchReport {
    subject: RouteBenchSubject,
    cpu: String,
    kernel: String,
    load_average: String,
    rows: Vec<RouteRow>,
}

/// Marks these results as results of route lookups, not of gateways.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RouteBenchSubject {
    Routes,
}

/// A table of rules; times in nanoseconds per lookup.
#[derive(Debug, Deserialize)]
struct RouteRow {
    rules: String,
    count: usize,
    build_ms: f64,
    held_bytes: usize,
    most_bytes: usize,
    first_ns: f64,
    middle_ns: f64,
    last_ns: f64,
    miss_ns: f64,
    all_ns: f64,
}

/// Puts the table of `results` between the markers in `document`.
///
/// # Errors
/// Returns an error if the markers are missing or out of order.
pub fn insert(document: &str, results: &RouteBenchReport) -> Result<String> {
    replace_between(document, START, END, &markdown(results))
}

/// Returns the table and the machine.
fn markdown(results: &RouteBenchReport) -> String {
    let mut out = String::from(
        "\n| rules | number | first ns | middle ns | last ns | no match ns | all ns | compile ms | memory MB \
         | peak MB |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for row in &results.rows {
        let megabytes = |bytes: usize| bytes as f64 / 1e6;
        let _ = writeln!(
            out,
            "| {} | {} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.1} | {:.1} | {:.1} |",
            row.rules,
            row.count,
            row.first_ns,
            row.middle_ns,
            row.last_ns,
            row.miss_ns,
            row.all_ns,
            row.build_ms,
            megabytes(row.held_bytes),
            megabytes(row.most_bytes)
        );
    }
    let RouteBenchReport { subject: RouteBenchSubject::Routes, cpu, kernel, load_average, .. } = results;
    let _ = writeln!(
        out,
        "\nOne core of {}, Linux {kernel}; load average of the machine: {load_average}.",
        if cpu.is_empty() { "an unknown CPU" } else { cpu }
    );
    out
}

const START: &str = "<!-- routes:start -->";
const END: &str = "<!-- routes:end -->";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::check_line as check;
    use crate::report::results::Results;

    const WRITTEN: &str = r#"{
        "subject": "routes", "cpu": "EPYC", "kernel": "6.1", "load_average": "0.50",
        "rows": [{"rules": "exact", "count": 10, "build_ms": 0.04, "held_bytes": 2500000, "most_bytes": 3000000,
            "first_ns": 25.4, "middle_ns": 26.0, "last_ns": 27.0, "miss_ns": 20.0, "all_ns": 340.6}]
    }"#;

    #[test]
    fn a_page_gets_its_table() {
        let results: RouteBenchReport = serde_json::from_str(WRITTEN).unwrap();
        let page = format!("# Routes\n{START}\nold\n{END}\nend\n");
        let text = insert(&page, &results).unwrap();
        assert!(!text.contains("old") && text.ends_with(&format!("{END}\nend\n")), "{text}");
        check(&text, "| exact | 10 | 25 | 26 | 27 | 20 | 341 | 0.0 | 2.5 | 3.0 |");
        assert!(insert("# Routes\n", &results).is_err());
    }

    #[test]
    fn results_of_other_benchmarks_are_ignored() {
        let other = serde_json::to_string(&Results::default()).unwrap();
        assert!(serde_json::from_str::<RouteBenchReport>(&other).is_err());
        assert!(
            serde_json::from_str::<RouteBenchReport>(&WRITTEN.replace("\"routes\"", "\"filters\"")).is_err()
        );
    }
}
