//! The short form of the results that a README shows, between two marks.

use std::fmt::Write;

use anyhow::{Context, Result};

use super::results::{Ratio, Results};
use super::table::short;

/// Puts the summary of `results` between the marks in `document`.
///
/// # Errors
/// When the marks are not there, in their order.
pub fn insert(document: &str, results: &Results) -> Result<String> {
    replace_between(document, START, END, &summary(results))
}

/// Puts `text` between two marks in `document`, in the place of what is there.
pub(super) fn replace_between(document: &str, start: &str, end: &str, text: &str) -> Result<String> {
    let (before, rest) =
        document.split_once(start).with_context(|| format!("no `{start}` in the document"))?;
    let (_, after) = rest.split_once(end).with_context(|| format!("no `{end}` after `{start}`"))?;
    Ok(format!("{before}{start}\n{text}{end}{after}"))
}

/// CPU a request with its ratios, and what else can be said in a line.
pub fn summary(results: &Results) -> String {
    let mut out = String::new();
    let rivals: Vec<&str> = results.targets.iter().map(|target| target.name.as_str()).collect();
    let rivals: Vec<&str> = rivals.into_iter().filter(|&name| name != results.reference).collect();
    let _ = write!(out, "\n| CPU a request | {} |", results.reference);
    for rival in &rivals {
        let _ = write!(out, " of {rival}'s |");
    }
    let _ = writeln!(out, "\n|---|--:|{}", "--:|".repeat(rivals.len()));
    for row in results.rows.iter().filter(|row| row.target == results.reference) {
        let Some(cpu) = row.cpu_us else { continue };
        let _ = write!(out, "| `{}` | {} µs |", row.scenario, short(cpu));
        for rival in &rivals {
            let text = ratio(results, &row.scenario, rival).map_or_else(|| "–".to_owned(), text_of);
            let _ = write!(out, " {text} |");
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
    out
}

fn ratio<'a>(results: &'a Results, scenario: &str, rival: &str) -> Option<&'a Ratio> {
    let is_it =
        |ratio: &&Ratio| ratio.scenario == scenario && ratio.rival == rival && ratio.figure == "cpu_us";
    results.ratios.iter().find(is_it)
}

fn text_of(ratio: &Ratio) -> String {
    let spread = ratio.comparison.ratio;
    format!("{:.2} [{:.2}, {:.2}]", spread.median, spread.lower, spread.upper)
}

const START: &str = "<!-- bench:start -->";
const END: &str = "<!-- bench:end -->";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::results;

    #[test]
    fn what_lies_between_the_marks_is_replaced() {
        let document = format!("# A\n{START}\nold\n{END}\n# B\n");
        let text = insert(&document, &results()).unwrap();
        assert!(
            text.starts_with(&format!("# A\n{START}\n")) && text.ends_with(&format!("{END}\n# B\n")),
            "{text}"
        );
        assert!(!text.contains("old"));
        assert!(text.contains("\n| CPU a request | eddy | of nginx's |\n"), "{text}");
        assert!(text.contains("\n| `get` | 33.0 µs | 0.75 [0.75, 0.75] |\n"), "{text}");
        assert_eq!(insert(&text, &results()).unwrap(), text);
    }

    #[test]
    fn a_document_without_marks_is_refused() {
        assert!(insert("# A\n", &results()).is_err());
        assert!(insert(&format!("{END}{START}"), &results()).is_err());
    }
}
