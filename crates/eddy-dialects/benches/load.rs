//! Benchmark of parsing and checking a large configuration: `cargo bench -p eddy-config [-- RULES]`.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use eddy_dialects::check;
use eddy_spec::problem::SourceText;

/// Times the check [`ROUNDS`] times for each size, and prints minimum and median.
fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let chosen = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    for rules in chosen.map_or_else(|| vec![100, 1000, 10_000], |rules| vec![rules]) {
        let source = SourceText::new("eddy.yaml", &configuration(rules));
        let mut times: Vec<Duration> = (0..ROUNDS).map(|_| time_once(&source)).collect();
        times.sort();
        let (least, median) = (times[0], times[times.len() / 2]);
        let bytes = source.text.len();
        writeln!(out, "{rules} rules, {bytes} bytes: least {least:.2?}, median {median:.2?} of {ROUNDS}")?;
    }
    Ok(())
}

fn time_once(source: &SourceText) -> Duration {
    let begin = Instant::now();
    let checked = check(std::slice::from_ref(source));
    let elapsed = begin.elapsed();
    if let Err(problems) = checked {
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        unreachable!("the configuration is good: {}", told.join("\n"));
    }
    elapsed
}

/// Returns a configuration with rules of every kind, spread over a hundred hosts.
fn configuration(rules: usize) -> String {
    let mut text =
        String::from("listeners:\n  - {address: 127.0.0.1:8080, routes: site}\nroutes:\n  site:\n");
    for number in 0..rules {
        let host = number % 100;
        let path = match number % 4 {
            0 => format!("{{exact: /service/{number}}}"),
            1 | 2 => format!("{{prefix: /service/{number}/}}"),
            _ => format!("{{template: '/service/{number}/{{id}}'}}"),
        };
        let more = if number % 10 == 0 { ", method: [GET, HEAD], headers: {x-version: '2'}" } else { "" };
        // Writing to a string never fails.
        let _ = writeln!(
            text,
            "    - name: rule-{number}\n      match: {{host: h{host}.example.com, path: {path}{more}}}\n      cluster: c{}",
            number % 50
        );
    }
    text.push_str("clusters:\n");
    for number in 0..50.min(rules) {
        let _ = writeln!(text, "  c{number}: {{endpoints: [10.0.0.{number}:8080, 10.0.1.{number}:8080]}}");
    }
    text
}

/// Number of measurements for each size.
const ROUNDS: usize = 15;
