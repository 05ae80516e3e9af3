//! Benchmark of lookups and router builds, by kind and number of rules.
//!
//! `cargo bench -p eddy-route --bench lookup -- [KIND] [COUNT] [--json FILE]`. Lookups are timed in short chunks; the
//! result is the first quartile, in nanoseconds per lookup. Of builds it is the minimum of several. Both exclude most
//! disturbance by other programs. *hot* repeats one path; *all* uses every rule in random order, so that memory is
//! cold.

#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]

mod memory;
mod tables;

use std::hint::black_box;
use std::time::Instant;

use eddy_route::{RouteScratch, RouteTable, Router};
use serde::Serialize;

use tables::{BenchRouteRequest, RuleTableKind, ask, table};

/// Measured tables.
const PLAN: &[(RuleTableKind, &[usize])] = &[
    (RuleTableKind::Exact, &[10, 1_000, 10_000, 100_000]),
    (RuleTableKind::Prefix, &[10, 1_000, 10_000, 100_000]),
    (RuleTableKind::Template, &[10, 1_000, 10_000, 100_000]),
    (RuleTableKind::Mixed, &[10, 1_000, 10_000, 100_000]),
    (RuleTableKind::Host, &[10, 1_000, 10_000, 100_000]),
    (RuleTableKind::Header, &[10, 1_000, 10_000]),
    (RuleTableKind::Method, &[10_000]),
    (RuleTableKind::Query, &[10_000]),
    (RuleTableKind::Regex, &[100, 1_000, 10_000]),
    (RuleTableKind::RegexInner, &[100, 1_000, 10_000]),
    (RuleTableKind::RegexSuffix, &[100, 1_000, 10_000]),
    (RuleTableKind::Search, &[100, 1_000, 10_000]),
    (RuleTableKind::RegexClass, &[100, 1_000, 10_000]),
];

/// Results of a run.
#[derive(Serialize)]
struct LookupReport {
    /// Kind of the results.
    subject: &'static str,
    cpu: String,
    kernel: String,
    load_average: String,
    rows: Vec<LookupRow>,
}

/// Results of one table of rules; lookup times in nanoseconds.
#[derive(Serialize)]
struct LookupRow {
    rules: &'static str,
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

fn main() {
    let mut words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let json = words.iter().position(|word| word == "--json").map(|at| {
        let file = words.get(at + 1).cloned().expect("--json is followed by a file");
        words.drain(at..at + 2);
        file
    });
    let (counts_chosen, kinds_chosen): (Vec<_>, Vec<_>) =
        words.into_iter().partition(|word| word.parse::<usize>().is_ok());
    let is_in = |chosen: &[String], word: String| chosen.is_empty() || chosen.contains(&word);
    println!(
        "{:<24}{:>8}{:>10}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}",
        "rules", "count", "build ms", "MB", "most MB", "first ns", "middle", "last", "miss", "all"
    );
    let mut rows = Vec::new();
    for (kind, counts) in PLAN {
        for count in *counts {
            if is_in(&kinds_chosen, format!("{kind:?}")) && is_in(&counts_chosen, count.to_string()) {
                let row = measure(*kind, *count);
                println!(
                    "{:<24}{:>8}{:>10.2}{:>9.2}{:>9.2}{:>9.0}{:>9.0}{:>9.0}{:>9.0}{:>9.0}",
                    row.rules,
                    row.count,
                    row.build_ms,
                    megabytes(row.held_bytes),
                    megabytes(row.most_bytes),
                    row.first_ns,
                    row.middle_ns,
                    row.last_ns,
                    row.miss_ns,
                    row.all_ns
                );
                rows.push(row);
            }
        }
    }
    if let Some(file) = json {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let cpu = read("/proc/cpuinfo");
        let cpu = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let document = LookupReport {
            subject: "routes",
            cpu: cpu.map(|(_, name)| name.to_owned()).unwrap_or_default(),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            load_average: read("/proc/loadavg").split(' ').next().unwrap_or_default().to_owned(),
            rows,
        };
        let text = serde_json::to_string_pretty(&document).expect("results are plain data") + "\n";
        std::fs::write(&file, text).expect("the results can be written");
    }
}

fn measure(kind: RuleTableKind, count: usize) -> LookupRow {
    let tables = [table(kind, count)];
    let rounds = if count > 1_000 { 3 } else { 10 };
    let build_ms = least(rounds, || {
        let started = Instant::now();
        black_box(build(black_box(&tables)));
        started.elapsed().as_secs_f64() * 1e3
    });
    let (router, held_bytes, most_bytes) = memory::measure(|| build(&tables));
    let by_rank = by_rank(&router, kind, count);
    let hot = |number: usize| lookup_ns(&router, &[ask(kind, number)], &[number]);
    let shuffled = shuffled(count);
    let asks: Vec<BenchRouteRequest> = shuffled.iter().map(|number| ask(kind, *number)).collect();
    LookupRow {
        rules: kind.name(),
        count,
        build_ms: round(build_ms),
        held_bytes,
        most_bytes,
        first_ns: hot(by_rank[0]),
        middle_ns: hot(by_rank[count / 2]),
        last_ns: hot(by_rank[count - 1]),
        miss_ns: lookup_ns(&router, &[ask(kind, 1_234_567_890)], &[]),
        all_ns: lookup_ns(&router, &asks, &shuffled),
    }
}

fn build(tables: &[RouteTable]) -> Router {
    Router::build(tables).expect("the rules are sound")
}

/// Returns the rules by their rank in the total order.
fn by_rank(router: &Router, kind: RuleTableKind, count: usize) -> Vec<usize> {
    let mut scratch = RouteScratch::new();
    let mut numbers: Vec<usize> = (0..count).collect();
    let rank = |number: usize, scratch: &mut RouteScratch| {
        ask(kind, number).with(|request| router.lookup(request, scratch).map(|found| found.rank))
    };
    numbers.sort_by_cached_key(|number| rank(*number, &mut scratch));
    numbers
}

/// Returns all numbers below `count` in a random order, the same in each run.
fn shuffled(count: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..count).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for at in (1..count).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let other = usize::try_from(state % (at as u64 + 1)).expect("below the count");
        numbers.swap(at, other);
    }
    numbers
}

/// Returns the time per lookup; `expected` are the rules that the requests match, empty for none.
fn lookup_ns(router: &Router, asks: &[BenchRouteRequest], expected: &[usize]) -> f64 {
    let mut scratch = RouteScratch::new();
    let mut look_up = |at: usize| {
        let found = asks[at].with(|request| router.lookup(black_box(request), &mut scratch));
        let found = found.map(|found| found.rule.index as usize);
        assert_eq!(found, expected.get(at).copied(), "the right rule matches");
    };
    // Short chunks, so that few are disturbed by other programs.
    let mut chunks = Vec::new();
    let mut at = 0;
    while chunks.len() < CHUNKS {
        let started = Instant::now();
        for _ in 0..CHUNK_LOOKUPS {
            look_up(at);
            at = if at + 1 == asks.len() { 0 } else { at + 1 };
        }
        chunks.push(started.elapsed().as_secs_f64() * 1e9 / f64::from(CHUNK_LOOKUPS));
    }
    chunks.sort_by(f64::total_cmp);
    round(chunks[chunks.len() / 4])
}

fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

fn least(rounds: usize, mut measure: impl FnMut() -> f64) -> f64 {
    (0..rounds).map(|_| measure()).fold(f64::INFINITY, f64::min)
}

/// Chunks of a measurement.
const CHUNKS: usize = 1_000;

/// Lookups per chunk.
const CHUNK_LOOKUPS: u32 = 200;
