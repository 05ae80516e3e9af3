//! Cost of field extraction, redaction and JSON conversion, compared with decoding into objects.
//!
//! `cargo bench -p eddy-protobuf --bench protobuf -- [WORD] [--json FILE]`. Each row is timed in short chunks and
//! shows their first quartile, in nanoseconds per message; WORD selects rows. Allocations are those of one message
//! after the first hundred.

#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of runs are small and positive"
)]

mod objects;
mod samples;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use eddy_protobuf::{
    FieldValue, FromJson, FromJsonOptions, MessageEdit, MessageWalk, ProgramBuilder, ProtobufLimits, Schema,
    ToJson, ToJsonOptions, ValueSlot, WalkProgram,
};
use prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage};
use serde::Serialize;
use serde::de::DeserializeSeed;

use samples::Sample;

/// All results of a run.
#[derive(Serialize)]
struct ProtobufBenchReport {
    /// Kind of these results.
    subject: &'static str,
    cpu: String,
    kernel: String,
    load_average: String,
    rows: Vec<ProtobufBenchRow>,
}

/// Cost of one operation on one message by one implementation.
#[derive(Serialize)]
struct ProtobufBenchRow {
    message: &'static str,
    work: &'static str,
    by: &'static str,
    bytes: usize,
    ns: f64,
    allocations: f64,
}

fn main() {
    let mut words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let json = words.iter().position(|word| word == "--json").map(|at| {
        let file = words.get(at + 1).cloned().expect("--json is followed by a file");
        words.drain(at..at + 2);
        file
    });
    let mut bench = ProtobufBenchRun { words, rows: Vec::new() };
    println!("{:<12}{:<22}{:<28}{:>9}{:>13}{:>8}", "message", "work", "by", "bytes", "ns", "allocs");
    for sample in samples::all() {
        extraction(&mut bench, &sample);
        conversions(&mut bench, &sample);
        redaction(&mut bench, &sample);
        codecs(&mut bench, &sample);
    }
    if let Some(file) = json {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let cpu = read("/proc/cpuinfo");
        let cpu = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let document = ProtobufBenchReport {
            subject: "protobuf",
            cpu: cpu.map(|(_, name)| name.to_owned()).unwrap_or_default(),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            load_average: read("/proc/loadavg").split(' ').next().unwrap_or_default().to_owned(),
            rows: bench.rows,
        };
        let text = serde_json::to_string_pretty(&document).expect("results are plain data") + "\n";
        std::fs::write(&file, text).expect("the results can be written");
    }
}

/// Rows measured so far.
struct ProtobufBenchRun {
    words: Vec<String>,
    rows: Vec<ProtobufBenchRow>,
}

impl ProtobufBenchRun {
    fn row(&mut self, sample: &Sample, work: &'static str, by: &'static str, mut run: impl FnMut()) {
        let title = format!("{} {work} {by}", sample.name);
        if !self.words.iter().all(|word| title.contains(word.as_str())) {
            return;
        }
        (0..WARM_RUNS).for_each(|_| run());
        let counted = allocation_counter::measure(|| (0..COUNTED_RUNS).for_each(|_| run()));
        let allocations = counted.count_total as f64 / COUNTED_RUNS as f64;
        let bytes = sample.bytes.len();
        let row = ProtobufBenchRow { message: sample.name, work, by, bytes, ns: time(&mut run), allocations };
        println!("{:<12}{work:<22}{by:<28}{bytes:>9}{:>13.1}{:>8.1}", row.message, row.ns, row.allocations);
        self.rows.push(row);
    }
}

/// Returns nanoseconds per run: the first quartile of chunks so short that other programs disturb few of them.
fn time(run: &mut impl FnMut()) -> f64 {
    let started = Instant::now();
    run();
    let once = started.elapsed().as_secs_f64().max(1e-9);
    let runs = ((CHUNK_SECONDS / once) as u32).clamp(1, 100_000);
    let chunks_max = ((ROW_SECONDS / (once * f64::from(runs))) as usize).clamp(15, 1_000);
    let mut chunks: Vec<f64> = (0..chunks_max)
        .map(|_| {
            let started = Instant::now();
            (0..runs).for_each(|_| run());
            started.elapsed().as_secs_f64() * 1e9 / f64::from(runs)
        })
        .collect();
    chunks.sort_by(f64::total_cmp);
    (chunks[chunks.len() / 4] * 100.0).round() / 100.0
}

fn program(schema: &Schema, sample: &Sample, paths: &[&str]) -> (Arc<WalkProgram>, Vec<ValueSlot>) {
    let message = schema.find_message(sample.message).expect("the message is there");
    let mut builder = ProgramBuilder::new(schema, message);
    let slots = paths.iter().map(|path| builder.extract(path).expect("the field is there")).collect();
    (Arc::new(builder.build().expect("the program is sound")), slots)
}

fn extraction(bench: &mut ProtobufBenchRun, sample: &Sample) {
    let schema = samples::schema();
    for (work, paths) in [("one field", &sample.paths[..1]), ("all of its fields", sample.paths)] {
        let (program, slots) = program(&schema, sample, paths);
        let mut walk = MessageWalk::new(program.clone(), ProtobufLimits::default());
        bench.row(sample, work, "eddy", || {
            let values = walk.extract(black_box(&sample.bytes)).expect("the message is sound");
            slots.iter().for_each(|slot| take(values.get(*slot)));
        });
        let mut walk = MessageWalk::new(program, ProtobufLimits::default());
        bench.row(sample, work, "eddy, pieces of 16 KiB", || {
            walk.reset();
            for piece in black_box(&sample.bytes).chunks(PIECE_BYTES) {
                walk.push(piece).expect("the message is sound");
            }
            let values = walk.finish().expect("the message is sound");
            slots.iter().for_each(|slot| take(values.get(*slot)));
        });
    }
}

fn take(value: Option<FieldValue<'_>>) {
    black_box(value);
}

fn conversions(bench: &mut ProtobufBenchRun, sample: &Sample) {
    let schema = samples::schema();
    let message = schema.find_message(sample.message).expect("the message is there");
    let mut to_json =
        ToJson::new(schema.clone(), message, ToJsonOptions::default(), ProtobufLimits::default());
    bench.row(sample, "to JSON", "eddy", || {
        black_box(to_json.convert(black_box(&sample.bytes)).expect("the message is sound"));
    });
    let mut pieces =
        ToJson::new(schema.clone(), message, ToJsonOptions::default(), ProtobufLimits::default());
    bench.row(sample, "to JSON", "eddy, pieces of 16 KiB", || {
        pieces.reset();
        for piece in black_box(&sample.bytes).chunks(PIECE_BYTES) {
            pieces.push(piece).expect("the message is sound");
            pieces.take(black_box(pieces.ready().len()));
        }
        pieces.finish().expect("the message is sound");
        pieces.take(black_box(pieces.ready().len()));
    });
    let json = to_json.convert(&sample.bytes).expect("the message is sound").to_vec();
    let mut from_json = FromJson::new(schema, message, FromJsonOptions::default(), ProtobufLimits::default());
    bench.row(sample, "from JSON", "eddy", || {
        black_box(from_json.convert(black_box(&json)).expect("the text is sound"));
    });
    bench.row(sample, "from JSON", "eddy, pieces of 16 KiB", || {
        from_json.reset();
        for piece in black_box(&json).chunks(PIECE_BYTES) {
            from_json.push(piece).expect("the text is sound");
        }
        black_box(from_json.finish().expect("the text is sound"));
    });
    let pool = DescriptorPool::decode(samples::DESCRIPTORS).expect("the descriptors are sound");
    let descriptor = pool.get_message_by_name(sample.message).expect("the message is there");
    let mut out = Vec::new();
    bench.row(sample, "to JSON", "prost-reflect, serde_json", || {
        let message = DynamicMessage::decode(descriptor.clone(), black_box(&sample.bytes[..]));
        out.clear();
        serde_json::to_writer(&mut out, &message.expect("the message is sound")).expect("it has JSON");
        black_box(&out);
    });
    bench.row(sample, "from JSON", "prost-reflect, serde_json", || {
        let mut reader = serde_json::Deserializer::from_slice(black_box(&json));
        let message = descriptor.clone().deserialize(&mut reader).expect("the text is sound");
        out.clear();
        message.encode(&mut out).expect("there is room");
        black_box(&out);
    });
}

fn redaction(bench: &mut ProtobufBenchRun, sample: &Sample) {
    let schema = samples::schema();
    let message = schema.find_message(sample.message).expect("the message is there");
    let mut builder = ProgramBuilder::new(&schema, message);
    for path in sample.dropped {
        builder.edit(path, &MessageEdit::Drop).expect("the field is there");
    }
    let mut walk =
        MessageWalk::new(Arc::new(builder.build().expect("the program is sound")), ProtobufLimits::default());
    let mut out = Vec::new();
    bench.row(sample, "drop two fields", "eddy", || {
        out.clear();
        black_box(walk.rewrite(black_box(&sample.bytes), &mut out).expect("the message is sound"));
    });
    let mut out = Vec::new();
    bench.row(sample, "drop two fields", "prost: decode, encode", || {
        out.clear();
        (sample.redact)(black_box(&sample.bytes), &mut out);
        black_box(&out);
    });
}

fn codecs(bench: &mut ProtobufBenchRun, sample: &Sample) {
    bench.row(sample, "decode", "prost", || (sample.decode)(black_box(&sample.bytes)));
}

const PIECE_BYTES: usize = 16 << 10;
const WARM_RUNS: usize = 100;
const COUNTED_RUNS: usize = 10;
const CHUNK_SECONDS: f64 = 20e-6;
const ROW_SECONDS: f64 = 0.5;
