//! Cost of protobuf operations, in Rust or in Go, as Markdown between two markers of a page; the figures come from
//! `make bench-protobuf`.

use std::fmt::Write;

use anyhow::Result;
use serde::Deserialize;

use super::summary::replace_between;

/// Output of a protobuf benchmark.
#[derive(Debug, Deserialize)]
pub struct Protobuf {
    subject: ProtobufBenchSubject,
    cpu: String,
    kernel: String,
    load_average: String,
    rows: Vec<ProtobufResultRow>,
}

/// Marks these results as results of a protobuf benchmark.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ProtobufBenchSubject {
    Protobuf,
    ProtobufRust,
    ProtobufGo,
}

/// One operation on one message by one implementation; times in nanoseconds per message.
#[derive(Debug, Deserialize)]
struct ProtobufResultRow {
    message: String,
    work: String,
    by: String,
    bytes: usize,
    ns: f64,
    allocations: f64,
}

/// Puts the table of `results` between the markers in `document`.
///
/// # Errors
/// Returns an error if the markers are missing or out of order.
pub fn insert(document: &str, results: &Protobuf) -> Result<String> {
    let (start, end) = match results.subject {
        ProtobufBenchSubject::Protobuf => ("<!-- protobuf:start -->", "<!-- protobuf:end -->"),
        ProtobufBenchSubject::ProtobufRust => ("<!-- protobuf-rust:start -->", "<!-- protobuf-rust:end -->"),
        ProtobufBenchSubject::ProtobufGo => ("<!-- protobuf-go:start -->", "<!-- protobuf-go:end -->"),
    };
    replace_between(document, start, end, &markdown(results))
}

/// Returns the table, with a row per operation and implementation and a column per message, and the machine.
fn markdown(results: &Protobuf) -> String {
    let mut messages: Vec<(&str, usize)> = Vec::new();
    let mut lines: Vec<(&str, &str)> = Vec::new();
    for row in &results.rows {
        if !messages.iter().any(|(name, _)| *name == row.message) {
            messages.push((&row.message, row.bytes));
        }
        if !lines.contains(&(row.work.as_str(), row.by.as_str())) {
            lines.push((&row.work, &row.by));
        }
    }
    lines.sort_by_key(|(work, _)| results.rows.iter().position(|row| row.work == *work));
    let heads = messages.iter().map(|(name, bytes)| format!(" {name}, {bytes} bytes |")).collect::<String>();
    let mut out = format!("\n| work | by |{heads}\n|---|---|{}\n", "--:|".repeat(messages.len()));
    for (work, by) in lines {
        let cells = messages.iter().map(|(name, _)| {
            let is_it = |row: &&ProtobufResultRow| row.message == *name && row.work == work && row.by == by;
            format!(" {} |", results.rows.iter().find(is_it).map(cell).unwrap_or_default())
        });
        let _ = writeln!(out, "| {work} | {by} |{}", cells.collect::<String>());
    }
    let Protobuf { subject, cpu, kernel, load_average, .. } = results;
    let cores = match subject {
        ProtobufBenchSubject::Protobuf => "One core",
        ProtobufBenchSubject::ProtobufRust | ProtobufBenchSubject::ProtobufGo => "Cores",
    };
    let _ = writeln!(
        out,
        "\n{cores} of {}, Linux {kernel}; load average of the machine: {load_average}.",
        if cpu.is_empty() { "an unknown CPU" } else { cpu }
    );
    out
}

fn cell(row: &ProtobufResultRow) -> String {
    let ns = if row.ns < 100.0 { format!("{:.1}", row.ns) } else { format!("{:.0}", row.ns) };
    if row.allocations == 0.0 { ns } else { format!("{ns} ({:.0})", row.allocations) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::check_line as check;
    use crate::report::results::Results;

    const START: &str = "<!-- protobuf:start -->";
    const END: &str = "<!-- protobuf:end -->";
    const WRITTEN: &str = r#"{
        "subject": "protobuf", "cpu": "EPYC", "kernel": "6.1", "load_average": "0.50",
        "rows": [
            {"message": "published", "work": "to JSON", "by": "eddy", "bytes": 375, "ns": 99.94, "allocations": 0.0},
            {"message": "published", "work": "one field", "by": "eddy", "bytes": 375, "ns": 15.26, "allocations": 0.0},
            {"message": "1 MiB", "work": "to JSON", "by": "prost", "bytes": 1048576, "ns": 123456.7, "allocations": 25.0},
            {"message": "1 MiB", "work": "to JSON", "by": "eddy", "bytes": 1048576, "ns": 1000.4, "allocations": 0.0}
        ]
    }"#;

    #[test]
    fn a_page_gets_its_table() {
        let results: Protobuf = serde_json::from_str(WRITTEN).unwrap();
        let page = format!("# Messages\n{START}\nold\n{END}\nend\n");
        let text = insert(&page, &results).unwrap();
        assert!(!text.contains("old") && text.ends_with(&format!("{END}\nend\n")), "{text}");
        check(&text, "| work | by | published, 375 bytes | 1 MiB, 1048576 bytes |");
        check(&text, "| to JSON | eddy | 99.9 | 1000 |");
        check(&text, "| to JSON | prost |  | 123457 (25) |");
        check(&text, "| one field | eddy | 15.3 |  |");
        assert!(insert("# Messages\n", &results).is_err());
    }

    #[test]
    fn codecs_have_tables_of_their_own() {
        for (subject, mark) in [("protobuf_go", "protobuf-go"), ("protobuf_rust", "protobuf-rust")] {
            let written = WRITTEN.replace("\"protobuf\"", &format!("\"{subject}\""));
            let results: Protobuf = serde_json::from_str(&written).unwrap();
            let page = format!("{START}\n{END}\n<!-- {mark}:start -->\n<!-- {mark}:end -->\n");
            let text = insert(&page, &results).unwrap();
            assert!(text.starts_with(&format!("{START}\n{END}\n")), "{text}");
            check(&text, "| one field | eddy | 15.3 |  |");
            assert!(insert(&format!("{START}\n{END}\n"), &results).is_err());
        }
    }

    #[test]
    fn results_of_other_benchmarks_are_ignored() {
        let other = serde_json::to_string(&Results::default()).unwrap();
        assert!(serde_json::from_str::<Protobuf>(&other).is_err());
        assert!(serde_json::from_str::<Protobuf>(&WRITTEN.replace("\"protobuf\"", "\"routes\"")).is_err());
    }
}
