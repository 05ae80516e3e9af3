//! The results as Markdown.

use std::fmt::Write;

use super::results::{DIRECT, Ratio, ResultRow, Results, TargetFacts};

/// Returns the whole report of a run.
pub fn markdown(results: &Results) -> String {
    let mut out = String::new();
    head(&mut out, results);
    let _ = writeln!(
        out,
        "\nFigures are medians over the rounds. Ratios are {} over a competitor, from the paired windows of \
         each round: the median, and the quartiles in brackets.",
        results.reference
    );
    write_list(&mut out, "Faults: the results of this run are invalid", &results.faults);
    write_list(&mut out, "Notes", &results.notes);
    let cpu = |row: &ResultRow| {
        Some(format!("{} ({} + {})", short(row.cpu_us?), short(row.user_us?), short(row.sys_us?)))
    };
    section(&mut out, results, "CPU per request, µs (user + system)", "cpu_us", &cpu);
    let rps = |row: &ResultRow| row.rps.map(|value| format!("{value:.0}"));
    section(&mut out, results, "Requests per second at saturation", "rps", &rps);
    let latency = |row: &ResultRow| Some(format!("{} / {}", short(row.p50_us?), short(row.p99_us?)));
    section(&mut out, results, "Latency at a fixed rate, µs (p50 / p99; ratios of p99)", "p99_us", &latency);
    let crowd = |row: &ResultRow| {
        let (p50, p99) = (other(row, "crowd_p50_us")? / 1e3, other(row, "crowd_p99_us")? / 1e3);
        Some(format!("{} / {}", short(p50), short(p99)))
    };
    section(
        &mut out,
        results,
        "Latency at saturation, ms (p50 / p99; ratios of p99)",
        "crowd_p99_us",
        &crowd,
    );
    let bulk = |row: &ResultRow| {
        Some(format!("{:.3} ({:.2})", other(row, "cpu_s_per_gb")?, other(row, "gb_per_s")?))
    };
    section(&mut out, results, "CPU seconds per GB proxied (GB per second)", "cpu_s_per_gb", &bulk);
    let memory = |row: &ResultRow| {
        let (bytes, base) = (other(row, "connection_bytes")?, other(row, "base_bytes")?);
        let cpu = other(row, "idle_cpu_us_per_s")? / 1e4;
        Some(format!("{:.2} KiB (on {:.1} MiB; {cpu:.2} %)", bytes / 1024.0, base / f64::from(1 << 20)))
    };
    section(
        &mut out,
        results,
        "Memory per idle connection (on top of the memory before; CPU meanwhile)",
        "connection_bytes",
        &memory,
    );
    let start = |row: &ResultRow| other(row, "start_ms").map(|time| format!("{} ms", short(time)));
    section(&mut out, results, "Start to first response", "start_ms", &start);
    let reload = |row: &ResultRow| {
        let time = other(row, "reload_ms")?;
        let cpu = other(row, "reload_cpu_ms")?;
        Some(format!("{} ms ({} ms CPU)", short(time), short(cpu)))
    };
    section(&mut out, results, "Reload with 10,000 routes", "reload_ms", &reload);
    sizes(&mut out, results);
    harness(&mut out, results);
    out
}

/// Returns the comparison of two contenders, pair by pair.
pub fn comparison(results: &Results) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "| scenario | figure | a | b | b/a | quartiles | 95 % confidence | b lower |");
    let _ = writeln!(out, "|---|---|--:|--:|--:|--:|--:|--:|");
    for ratio in &results.ratios {
        let of = |target: &str| {
            let row = find(results, &ratio.scenario, target)?;
            row.spreads.get(&ratio.figure).map(|spread| spread.median)
        };
        let figure = |target| of(target).map_or_else(String::new, short);
        let facts = ratio.comparison;
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {:.3} | {:.3} to {:.3} | {:.3} to {:.3} | {} of {} |",
            ratio.scenario,
            ratio.figure,
            figure("a"),
            figure("b"),
            facts.ratio.median,
            facts.ratio.lower,
            facts.ratio.upper,
            facts.confidence.0,
            facts.confidence.1,
            facts.lower_count,
            facts.ratio.count
        );
    }
    write_list(&mut out, "Faults", &results.faults);
    write_list(&mut out, "Notes", &results.notes);
    out
}

pub(super) fn head(out: &mut String, results: &Results) {
    let (machine, method) = (&results.machine, &results.method);
    let _ = writeln!(out, "# Benchmark `{}`\n", results.name);
    let _ = writeln!(
        out,
        "{} cores ({}), {:.0} GiB, Linux {} on {}; load average at the start {:.2}. {} rounds, windows of {} \
         s, {} connections, {} workers per target, load at saturation from {}; commit {}.",
        machine.cores,
        machine.cpu,
        machine.memory_bytes as f64 / f64::from(1 << 30),
        machine.kernel,
        machine.architecture,
        machine.load_average,
        method.rounds,
        method.seconds,
        method.connections,
        method.workers,
        method.generator,
        method.commit.as_deref().unwrap_or("unknown")
    );
    let versions: Vec<String> =
        results.targets.iter().map(|target| format!("{} {}", target.name, target.version)).collect();
    let _ = writeln!(out, "Targets: {}.", versions.join(", "));
}

pub(super) fn write_list(out: &mut String, title: &str, texts: &[String]) {
    if !texts.is_empty() {
        let _ = writeln!(out, "\n**{title}**\n");
        for text in texts {
            let _ = writeln!(out, "* {text}");
        }
    }
}

fn section(
    out: &mut String,
    results: &Results,
    title: &str,
    figure: &str,
    cell: &dyn Fn(&ResultRow) -> Option<String>,
) {
    let mut scenarios: Vec<&str> = Vec::new();
    for row in results.rows.iter().filter(|row| cell(row).is_some()) {
        if !scenarios.contains(&row.scenario.as_str()) {
            scenarios.push(&row.scenario);
        }
    }
    if scenarios.is_empty() {
        return;
    }
    let names: Vec<&str> = results.targets.iter().map(|target| target.name.as_str()).collect();
    let rivals: Vec<&str> = names.iter().copied().filter(|&name| name != results.reference).collect();
    let _ = write!(out, "\n## {title}\n\n| scenario |");
    for name in &names {
        let _ = write!(out, " {name} |");
    }
    for rival in &rivals {
        let _ = write!(out, " {}/{rival} |", results.reference);
    }
    let _ = writeln!(out, "\n|---|{}", "--:|".repeat(names.len() + rivals.len()));
    for scenario in scenarios {
        let _ = write!(out, "| `{scenario}` |");
        for name in &names {
            let text = find(results, scenario, name).and_then(cell).unwrap_or_else(|| ABSENT.to_owned());
            let _ = write!(out, " {text} |");
        }
        for rival in &rivals {
            let is_it = |ratio: &&Ratio| {
                ratio.scenario == scenario && ratio.rival == *rival && ratio.figure == figure
            };
            let text = results.ratios.iter().find(is_it).map_or_else(|| ABSENT.to_owned(), ratio_text);
            let _ = write!(out, " {text} |");
        }
        let _ = writeln!(out);
    }
}

fn sizes(out: &mut String, results: &Results) {
    let _ = writeln!(out, "\n## Program size, MiB\n\n| target | loaded | file |\n|---|--:|--:|");
    for TargetFacts { name, file_bytes, loaded_bytes, .. } in &results.targets {
        let loaded = loaded_bytes.map_or_else(|| ABSENT.to_owned(), mebibytes);
        let _ = writeln!(out, "| {name} | {loaded} | {} |", mebibytes(*file_bytes));
    }
}

/// Writes the CPU time and latency of the harness itself.
fn harness(out: &mut String, results: &Results) {
    let rows: Vec<&ResultRow> = results.rows.iter().filter(|row| row.target == DIRECT).collect();
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "\n## Harness without a gateway\n\n| scenario | requests per second | p50 / p99 µs | rate | origin \
         CPU µs | load generator CPU µs |\n|---|--:|--:|--:|--:|--:|"
    );
    for row in rows {
        let text = |value: Option<f64>| value.map_or_else(|| ABSENT.to_owned(), short);
        let _ = writeln!(
            out,
            "| `{}` | {} | {} / {} | {} | {} | {} |",
            row.scenario,
            row.rps.map_or_else(|| ABSENT.to_owned(), |value| format!("{value:.0}")),
            text(row.p50_us),
            text(row.p99_us),
            text(other(row, "rate")),
            text(other(row, "origin_us")),
            text(other(row, "load_us"))
        );
    }
}

fn find<'a>(results: &'a Results, scenario: &str, target: &str) -> Option<&'a ResultRow> {
    results.rows.iter().find(|row| row.scenario == scenario && row.target == target)
}

fn other(row: &ResultRow, figure: &str) -> Option<f64> {
    row.others.get(figure).copied()
}

fn ratio_text(ratio: &Ratio) -> String {
    let spread = ratio.comparison.ratio;
    format!("**{:.2}** [{:.2}, {:.2}]", spread.median, spread.lower, spread.upper)
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / f64::from(1 << 20))
}

/// Formats a number with three digits, the precision of the figures.
pub fn short(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.digits$}")
}

const ABSENT: &str = "–";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::{check_line as check, results};

    #[test]
    fn values_and_ratios_are_shown_side_by_side() {
        let text = markdown(&results());
        check(&text, "| scenario | eddy | nginx | eddy/nginx |");
        check(&text, "| `get` | 33.0 (8.25 + 24.8) | 44.0 (11.0 + 33.0) | **0.75** [0.75, 0.75] |");
        check(&text, "| `get` | 1333 | 1000 | **1.33** [1.33, 1.33] |");
    }

    #[test]
    fn missing_measurements_are_shown_as_a_dash() {
        let text = markdown(&results());
        check(&text, "| `get` | 150 / 900 | – | – |");
        check(&text, "| `idle` | 2.00 KiB (on 3.0 MiB; 0.10 %) | – | – |");
        assert!(!text.contains("Reload"));
        check(&text, "| eddy | – | 3.0 |");
    }

    #[test]
    fn the_harness_has_its_own_table() {
        check(&markdown(&results()), "| `get` | 5714 | 150 / 900 | – | – | – |");
    }

    #[test]
    fn faults_come_first() {
        let faulty = Results { faults: vec!["get, eddy: status 502".to_owned()], ..results() };
        let text = markdown(&faulty);
        check(&text, "**Faults: the results of this run are invalid**");
        check(&text, "* get, eddy: status 502");
        assert!(text.find("Faults").unwrap() < text.find("## CPU").unwrap());
    }

    #[test]
    fn contenders_are_compared() {
        let mut results = results();
        for row in &mut results.rows {
            row.target = row.target.replace("eddy", "b").replace("nginx", "a");
        }
        for ratio in &mut results.ratios {
            ratio.rival = ratio.rival.replace("nginx", "a");
        }
        let text = comparison(&results);
        check(&text, "| get | cpu_us | 44.0 | 33.0 | 0.750 | 0.750 to 0.750 | 0.750 to 0.750 | 3 of 3 |");
    }

    #[test]
    fn numbers_have_three_digits() {
        for (value, expected) in
            [(1234.5, "1234"), (123.45, "123"), (12.345, "12.3"), (1.2345, "1.23"), (0.0, "0.00")]
        {
            assert_eq!(short(value), expected);
        }
    }
}
