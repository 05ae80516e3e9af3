//! Rust protobuf codecs on the messages of the crate's own benchmark: marshal, unmarshal, and access to one field
//! without either. Measured on one thread and on one thread per CPU, with allocations. `make bench-protobuf` runs it.
//!
//!     cargo run --release -- [WORD]... [--json FILE]
//!
//! Each row is measured in rounds, of which the best counts: other work on the machine can only make a round slower.
//! With several threads, a row is the elapsed time divided by the messages of all threads.

#![forbid(unsafe_code)]

mod measure;
#[allow(dead_code, reason = "the samples are those of the crate's own benchmark, which does more with them")]
#[path = "../../../../crates/eddy-protobuf/benches/protobuf/objects.rs"]
mod objects;
#[allow(dead_code, reason = "the samples are those of the crate's own benchmark, which does more with them")]
#[path = "../../../../crates/eddy-protobuf/benches/protobuf/samples.rs"]
mod samples;
mod ways;

mod generated {
    #![allow(warnings, reason = "generated")]
    buffa::include_proto!("eddy.test");
}

use serde::Serialize;

/// The document that eddy-bench reports from, in the format of the crate's own benchmark.
#[derive(Serialize)]
struct Document {
    subject: &'static str,
    cpu: String,
    kernel: String,
    load_average: String,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    message: &'static str,
    work: String,
    by: &'static str,
    bytes: usize,
    ns: f64,
    allocations: f64,
}

fn main() {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let file = words.iter().position(|word| word == "--json").map(|at| {
        let file = words.get(at + 1).cloned().expect("--json is followed by a file");
        words.drain(at..at + 2);
        file
    });
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut rows = Vec::new();
    for sample in samples::all() {
        for way in ways::all(&sample) {
            for threads in [1, threads] {
                let work = match threads {
                    1 => way.work.to_owned(),
                    _ => format!("{}, {threads} at once", way.work),
                };
                let title = format!("{} {work} {}", sample.name, way.by);
                if !words.iter().all(|word| title.contains(word.as_str())) {
                    continue;
                }
                let (ns, allocations) = measure::measure(&way, threads);
                println!(
                    "{:<10} {work:<26} {:<34} {ns:>12.1} ns {allocations:>8.1} allocations",
                    sample.name, way.by
                );
                let bytes = sample.bytes.len();
                rows.push(Row { message: sample.name, work, by: way.by, bytes, ns, allocations });
            }
        }
    }
    let Some(file) = file else { return };
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let cpu = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let document = Document {
        subject: "protobuf_rust",
        cpu: cpu.map(|(_, name)| name.to_owned()).unwrap_or_default(),
        kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        load_average: read("/proc/loadavg").split(' ').next().unwrap_or_default().to_owned(),
        rows,
    };
    let text = serde_json::to_string_pretty(&document).expect("results are plain data") + "\n";
    std::fs::write(&file, text).expect("the results can be written");
}
