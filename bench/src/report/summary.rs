//! The short form of the results for a README, between two markers.

use std::fmt::Write;

use anyhow::{Context, Result, ensure};

use super::results::{Ratio, ResultRow, Results};
use super::table::short;
use crate::scenario::is_transport;

/// Puts the summary of `results` between the markers in `document`: the one of requests, the one of transports, or
/// both, depending on the measured scenarios.
///
/// # Errors
/// Returns an error if markers are missing or out of order, or if no scenario of any summary was measured.
pub fn insert(document: &str, results: &Results) -> Result<String> {
    let (mut text, mut is_found) = (document.to_owned(), false);
    for part in [&REQUESTS, &TRANSPORTS] {
        let summary = summary(results, part);
        if let Some(summary) = summary {
            text = replace_between(&text, part.start, part.end, &summary)?;
            is_found = true;
        }
    }
    ensure!(is_found, "the results have no figures of `{}`", results.reference);
    Ok(text)
}

/// Replaces the text between two markers in `document` by `text`.
pub(super) fn replace_between(document: &str, start: &str, end: &str, text: &str) -> Result<String> {
    let (before, rest) =
        document.split_once(start).with_context(|| format!("no `{start}` in the document"))?;
    let (_, after) = rest.split_once(end).with_context(|| format!("no `{end}` after `{start}`"))?;
    Ok(format!("{before}{start}\n{text}{end}{after}"))
}

/// A table of the README.
#[derive(Debug)]
struct SummaryTable {
    start: &'static str,
    end: &'static str,
    title: &'static str,
    is_transport: bool,
    /// Figures of its rows with the unit and the divisor to that unit.
    figures: &'static [(&'static str, &'static str, f64)],
}

/// Returns the measured figures of a table with their ratios and the machine; `None` if there are none.
fn summary(results: &Results, part: &SummaryTable) -> Option<String> {
    let mut out = String::new();
    let rivals: Vec<&str> = results.targets.iter().map(|target| target.name.as_str()).collect();
    let rivals: Vec<&str> = rivals.into_iter().filter(|&name| name != results.reference).collect();
    let _ = write!(out, "\n| {} | {} |", part.title, results.reference);
    for rival in &rivals {
        let _ = write!(out, " of {rival}'s |");
    }
    let _ = writeln!(out, "\n|---|--:|{}", "--:|".repeat(rivals.len()));
    let is_of_part = |row: &&ResultRow| {
        row.target == results.reference && is_transport(&row.scenario) == part.is_transport
    };
    let mut is_empty = true;
    for row in results.rows.iter().filter(is_of_part) {
        let shown = part.figures.iter().find_map(|figure| Some((figure, value(row, figure.0)?)));
        let Some(((figure, unit, many), value)) = shown else { continue };
        is_empty = false;
        let _ = write!(out, "| `{}` | {} {unit} |", row.scenario, short(value / many));
        for rival in &rivals {
            let ratio = ratio(results, &row.scenario, rival, figure);
            let _ = write!(out, " {} |", ratio.map_or_else(|| "–".to_owned(), text_of));
        }
        let _ = writeln!(out);
    }
    let machine = &results.machine;
    let versions: Vec<String> =
        results.targets.iter().map(|target| format!("{} {}", target.name, target.version)).collect();
    let _ = writeln!(
        out,
        "\nMedian ratio of paired windows at saturation, quartiles in brackets; {} rounds on {} cores ({}), Linux {}; {}. \
         [How it is measured](bench/README.md), [all figures](bench/results/{}.md).\n",
        results.method.rounds,
        machine.cores,
        machine.cpu,
        machine.kernel,
        versions.join(", "),
        results.name
    );
    (!is_empty).then_some(out)
}

fn value(row: &ResultRow, figure: &str) -> Option<f64> {
    if figure == CPU { row.cpu_us } else { row.others.get(figure).copied() }
}

fn ratio<'a>(results: &'a Results, scenario: &str, rival: &str, figure: &str) -> Option<&'a Ratio> {
    let is_it = |ratio: &&Ratio| ratio.scenario == scenario && ratio.rival == rival && ratio.figure == figure;
    results.ratios.iter().find(is_it)
}

fn text_of(ratio: &Ratio) -> String {
    let spread = ratio.comparison.ratio;
    format!("{:.2} [{:.2}, {:.2}]", spread.median, spread.lower, spread.upper)
}

const CPU: &str = "cpu_us";
const REQUESTS: SummaryTable = SummaryTable {
    start: "<!-- bench:start -->",
    end: "<!-- bench:end -->",
    title: "CPU per request",
    is_transport: false,
    figures: &[(CPU, "µs", 1.0)],
};
const TRANSPORTS: SummaryTable = SummaryTable {
    start: "<!-- transports:start -->",
    end: "<!-- transports:end -->",
    title: "CPU per request, message or handshake",
    is_transport: true,
    figures: &[
        (CPU, "µs", 1.0),
        ("cpu_s_per_gb", "s per GB", 1.0),
        ("connection_bytes", "KiB per connection", 1024.0),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::results;

    #[test]
    fn text_between_the_markers_is_replaced() {
        let SummaryTable { start, end, .. } = REQUESTS;
        let document = format!("# A\n{start}\nold\n{end}\n# B\n");
        let text = insert(&document, &results()).unwrap();
        assert!(
            text.starts_with(&format!("# A\n{start}\n")) && text.ends_with(&format!("{end}\n# B\n")),
            "{text}"
        );
        assert!(!text.contains("old"));
        assert!(text.contains("\n| CPU per request | eddy | of nginx's |\n"), "{text}");
        assert!(text.contains("\n| `get` | 33.0 µs | 0.75 [0.75, 0.75] |\n"), "{text}");
        assert_eq!(insert(&text, &results()).unwrap(), text);
    }

    #[test]
    fn a_document_without_markers_is_refused() {
        assert!(insert("# A\n", &results()).is_err());
        assert!(insert(&format!("{}{}", REQUESTS.end, REQUESTS.start), &results()).is_err());
        let nothing = Results { rows: Vec::new(), ..results() };
        assert_eq!(
            insert("# A\n", &nothing).unwrap_err().to_string(),
            "the results have no figures of `eddy`"
        );
    }

    #[test]
    fn transports_have_a_table_of_their_own() {
        let mut results = results();
        for (from, to) in [("get", "h2-10"), ("idle", "idle-h2")] {
            for row in results.rows.iter_mut().filter(|row| row.scenario == from) {
                row.scenario = to.to_owned();
            }
            for ratio in results.ratios.iter_mut().filter(|ratio| ratio.scenario == from) {
                ratio.scenario = to.to_owned();
            }
        }
        let SummaryTable { start, end, .. } = TRANSPORTS;
        let text = insert(&format!("{start}\n{end}\n"), &results).unwrap();
        assert!(text.contains("\n| `h2-10` | 33.0 µs | 0.75 [0.75, 0.75] |\n"), "{text}");
        assert!(text.contains("\n| `idle-h2` | 2.00 KiB per connection | – |\n"), "{text}");
    }
}
