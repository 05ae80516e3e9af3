//! Filter costs as Markdown: a whole report, and a part of a page between two markers.

use std::fmt::Write;

use anyhow::Result;

use super::results::{BARE_CPU, BaselineRatio, ResultRow, Results};
use super::summary::replace_between;
use super::table::{self, short};
use crate::filters::SCENARIOS;

/// Whether these are filter results rather than results of whole gateways.
pub fn is_of_filters(results: &Results) -> bool {
    results.rows.iter().any(|row| row.ratio_to_bare.is_some())
}

/// Returns the whole report of a run.
pub fn markdown(results: &Results) -> String {
    let mut out = String::new();
    table::head(&mut out, results);
    let _ = writeln!(
        out,
        "\nFigures are medians over the windows. *To bare* is the ratio of CPU per request (or requests per \
         second) to that of the bare listener of the same process in the adjacent window: the median over the \
         pairs, quartiles in brackets."
    );
    table::write_list(&mut out, "Faults: the results of this run are invalid", &results.faults);
    table::write_list(&mut out, "Notes", &results.notes);
    tables(&mut out, results, "##");
    out
}

/// Puts the tables of `results` between the markers in `document`, after an image at `chart`.
///
/// # Errors
/// Returns an error if the markers are missing or out of order.
pub fn insert(document: &str, results: &Results, chart: Option<&str>) -> Result<String> {
    let mut out = String::from("\n");
    if let Some(chart) = chart {
        let _ = writeln!(
            out,
            "![Throughput with a filter relative to no filter, by language, for eddy and Envoy. The table has \
             the figures]({chart})\n"
        );
    }
    ratios(&mut out, results);
    let _ = writeln!(
        out,
        "\n*Ratio of CPU per request to that of the bare listener of the same process; \
                       quartiles in brackets.*"
    );
    paced(&mut out, results, "###");
    let machine = &results.machine;
    let _ = writeln!(
        out,
        "\n{} cores ({}), Linux {}; windows of {} s at saturation, {} pairs or more.",
        machine.cores,
        machine.cpu,
        machine.kernel,
        results.method.seconds,
        fewest_pairs(results)
    );
    table::write_list(&mut out, "Notes", &results.notes);
    replace_between(document, START, END, &out)
}

/// Writes the table of ratios: a row per target, a column per scenario.
fn ratios(out: &mut String, results: &Results) {
    let scenarios: Vec<&str> = SCENARIOS.iter().map(|scenario| scenario.name).collect();
    let is_there = |name: &&str| results.rows.iter().any(|row| row.scenario == **name);
    let scenarios: Vec<&str> = scenarios.into_iter().filter(is_there).collect();
    let _ = write!(out, "| target |");
    for scenario in &scenarios {
        let _ = write!(out, " `{scenario}` |");
    }
    let _ = writeln!(out, "\n|---|{}", "--:|".repeat(scenarios.len()));
    for target in &results.targets {
        let of = |scenario: &str| {
            let is_it = |row: &&ResultRow| row.scenario == scenario && row.target == target.name;
            results.rows.iter().find(is_it)?.ratio_to_bare
        };
        if !scenarios.iter().any(|scenario| of(scenario).is_some()) {
            continue;
        }
        let _ = write!(out, "| {} |", target.name);
        for scenario in &scenarios {
            let _ = write!(out, " {} |", of(scenario).map_or_else(|| ABSENT.to_owned(), ratio_text));
        }
        let _ = writeln!(out);
    }
}

fn tables(out: &mut String, results: &Results, level: &str) {
    let _ = writeln!(out, "\n{level} CPU per request, ratio to bare\n");
    ratios(out, results);
    for scenario in SCENARIOS {
        let rows: Vec<&ResultRow> = results.rows.iter().filter(|row| row.scenario == scenario.name).collect();
        if rows.is_empty() {
            continue;
        }
        let _ = writeln!(
            out,
            "\n{level} `{}`: {}\n\n| target | CPU µs (user + system) | bare | to bare | requests per second | \
             to bare | p99 µs | pairs |\n|---|--:|--:|--:|--:|--:|--:|--:|",
            scenario.name, scenario.title
        );
        for row in rows {
            let _ = writeln!(
                out,
                "| {} | {} ({} + {}) | {} | {} | {} | {} | {} | {} |",
                row.target,
                number(row.cpu_us),
                number(row.user_us),
                number(row.sys_us),
                number(row.others.get(BARE_CPU).copied()),
                row.ratio_to_bare.map_or_else(|| ABSENT.to_owned(), ratio_text),
                row.rps.map_or_else(|| ABSENT.to_owned(), |value| format!("{value:.0}")),
                row.rps_ratio_to_bare.map_or_else(|| ABSENT.to_owned(), ratio_text),
                number(row.p99_us),
                row.ratio_to_bare.map_or(0, |ratio| ratio.pairs)
            );
        }
    }
    paced(out, results, level);
}

/// Writes the rows at fixed rates.
fn paced(out: &mut String, results: &Results, level: &str) {
    let rows: Vec<&ResultRow> = results.rows.iter().filter(|row| row.others.contains_key("rate")).collect();
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "\n{level} At fixed rates: added latency and CPU compared with the bare listener\n\n| scenario | rate \
         per second | target | p50 µs (added) | p99 µs (added) | CPU µs (added) | to bare \
         |\n|---|--:|---|--:|--:|--:|--:|"
    );
    for row in rows {
        let added = |value: Option<f64>, name: &str| {
            let signed = row.others.get(name).map_or_else(|| ABSENT.to_owned(), |&value| signed(value));
            format!("{} ({signed})", number(value))
        };
        let (scenario, rate) = row.scenario.split_once('@').unwrap_or((&row.scenario, ABSENT));
        let _ = writeln!(
            out,
            "| `{scenario}` | {rate} | {} | {} | {} | {} | {} |",
            row.target,
            added(row.p50_us, "added_p50_us"),
            added(row.p99_us, "added_p99_us"),
            added(row.cpu_us, "added_cpu_us"),
            row.ratio_to_bare.map_or_else(|| ABSENT.to_owned(), ratio_text)
        );
    }
}

fn fewest_pairs(results: &Results) -> usize {
    let is_saturated = |row: &&ResultRow| !row.others.contains_key("rate");
    let pairs = results.rows.iter().filter(is_saturated).filter_map(|row| row.ratio_to_bare);
    pairs.map(|ratio| ratio.pairs).min().unwrap_or_default()
}

fn ratio_text(ratio: BaselineRatio) -> String {
    format!("**{:.3}** [{:.3}, {:.3}]", ratio.median, ratio.q1, ratio.q3)
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), short)
}

fn signed(value: f64) -> String {
    if value < 0.0 { format!("−{}", short(-value)) } else { format!("+{}", short(value)) }
}

const START: &str = "<!-- filters:start -->";
const END: &str = "<!-- filters:end -->";
const ABSENT: &str = "–";

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::report::fixture::check_line as check;
    use crate::report::results::{Samples, TargetFacts};

    /// Results of two targets, one of which has only one scenario.
    pub(in crate::report) fn results() -> Results {
        let mut samples = Samples::default();
        for pair in 0..3 {
            let drift = 1.0 + f64::from(pair) / 10.0;
            for (scenario, target, cpu) in [
                ("passthrough", "eddy-go", 20.4),
                ("passthrough", "envoy-go", 60.0),
                ("reject", "eddy-go", 10.0),
            ] {
                samples.add(scenario, target, "cpu_us", Some(cpu * drift));
                samples.add(
                    scenario,
                    target,
                    BARE_CPU,
                    Some(if target == "eddy-go" { 20.0 } else { 40.0 } * drift),
                );
                samples.add(scenario, target, "rps", Some(30_000.0));
                samples.add(scenario, target, "bare_rps", Some(40_000.0));
            }
            samples.add("passthrough@100", "eddy-go", "rate", Some(100.0));
            samples.add("passthrough@100", "eddy-go", "p50_us", Some(120.0));
            samples.add("passthrough@100", "eddy-go", "added_p50_us", Some(-3.0));
        }
        let target = |name: &str| TargetFacts { name: name.to_owned(), ..TargetFacts::default() };
        Results {
            name: "filters".to_owned(),
            targets: ["eddy-go", "envoy-go"].map(target).to_vec(),
            rows: samples.rows(),
            notes: vec!["`haproxy` is absent".to_owned()],
            ..Results::default()
        }
    }

    #[test]
    fn targets_are_listed_with_their_ratios() {
        let text = markdown(&results());
        check(&text, "| target | `passthrough` | `reject` |");
        check(&text, "| eddy-go | **1.020** [1.020, 1.020] | **0.500** [0.500, 0.500] |");
        check(&text, "| envoy-go | **1.500** [1.500, 1.500] | – |");
        check(
            &text,
            "| envoy-go | 66.0 (– + –) | 44.0 | **1.500** [1.500, 1.500] | 30000 | **0.750** [0.750, 0.750] | – | 3 |",
        );
        check(&text, "| `passthrough` | 100 | eddy-go | 120 (−3.00) | – (–) | – (–) | – |");
        check(&text, "* `haproxy` is absent");
    }

    #[test]
    fn a_page_gets_its_tables() {
        let page = format!("# Cost\n{START}\nold\n{END}\nend\n");
        let text = insert(&page, &results(), None).unwrap();
        assert!(!text.contains("old") && text.ends_with(&format!("{END}\nend\n")), "{text}");
        check(&text, "| envoy-go | **1.500** [1.500, 1.500] | – |");
        assert_eq!(insert(&text, &results(), None).unwrap(), text);
        assert!(insert("# Cost\n", &results(), None).is_err());
        let text = insert(&page, &results(), Some("cost.svg")).unwrap();
        assert_eq!(text.matches("](cost.svg)").count(), 1, "{text}");
    }

    #[test]
    fn filter_results_are_distinguished_from_others() {
        assert!(is_of_filters(&results()));
        assert!(!is_of_filters(&Results::default()));
    }
}
