//! Loads a Go library, measures calls from Rust to Go, and prints one line of JSON per row.
//!
//! `eddy-bench-bridge-host LIBRARY [REPEATS]`

#[path = "../../../calls/host/src/measure.rs"]
#[expect(dead_code, reason = "first calls have a row in the suite that this file is from")]
mod measure;
mod plain;
mod under_way;

use std::io::Write;
use std::thread;

use eddy_bench_bridge::{Order, Reader};
use eddy_bridge::Go;

use self::measure::{Row, least};
use self::plain::PlainExports;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let path = arguments.next().ok_or("usage: eddy-bench-bridge-host LIBRARY [REPEATS]")?;
    let repeats = match arguments.next() {
        Some(text) => text.to_string_lossy().parse()?,
        None => 10,
    };
    let reader = Reader::bind(&Go::open(&path)?)?;
    let plain = PlainExports::find(&path)?;
    let rows = waited(&reader, &plain, repeats).into_iter().chain(under_way::rows(&reader, repeats));
    let mut output = std::io::stdout().lock();
    for row in rows {
        writeln!(output, "{}", row.to_json())?;
    }
    Ok(())
}

/// Measures blocking calls, and exported Go functions called without the bridge.
fn waited(reader: &Reader, plain: &PlainExports, repeats: u32) -> Vec<Row> {
    let texts = texts();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let bytes = bytes();
    let passed = bytes.len() as u64 + u64::from(b'0');
    let calls: [(&str, &(dyn Fn() + Sync)); 7] = [
        ("empty-callback", &|| plain.empty()),
        ("empty-callback-barrier", &|| plain.barrier()),
        ("empty-rust-go", &|| reader.empty().expect(ANSWERED)),
        ("text-rust-go", &|| assert_eq!(reader.text(TEXT32), Ok(32 + u64::from(b'a')))),
        ("struct-rust-go", &|| assert!(reader.order(&SAMPLE).is_ok())),
        ("batch-rust-go", &|| assert!(reader.batch(&texts).is_ok())),
        ("bytes-rust-go", &|| assert_eq!(reader.bytes(&bytes), Ok(passed))),
    ];
    calls
        .iter()
        .flat_map(|(id, call)| [one_thread(reader, repeats, id, *call), two_threads(repeats, id, *call)])
        .collect()
}

/// Measures a row on one thread, with the allocations of both languages.
fn one_thread(reader: &Reader, repeats: u32, id: &str, mut call: &dyn Fn()) -> Row {
    let ns = least(repeats, &mut call);
    let before = reader.allocated().expect(ANSWERED);
    let rust = allocation_counter::measure(|| (0..ALLOCATION_CALLS).for_each(|_| call()));
    let after = reader.allocated().expect(ANSWERED);
    let both = [after.count + rust.count_total, after.bytes + rust.bytes_total];
    Row::new(id, ns).with_allocations([before.count, before.bytes], both, ALLOCATION_CALLS)
}

/// Measures two threads that call at the same time; the row is the time of the slower one.
fn two_threads(repeats: u32, id: &str, call: &(dyn Fn() + Sync)) -> Row {
    let ns = thread::scope(|scope| {
        let other = scope.spawn(|| least(repeats * 3, &mut || call()));
        let own = least(repeats * 3, &mut || call());
        own.max(other.join().expect(ANSWERED))
    });
    Row::new(format!("{id}-two"), ns)
}

/// Arguments of all measured calls, the same as in the Go program.
const TEXT32: &str = "a text of exactly 32 bytes, this";
const SAMPLE: Order<'static> = Order {
    id: 7,
    number: 12,
    total: 129_900,
    time: 1_701_234_560,
    is_new: true,
    name: "Ada Lovelace",
    kind: "engine",
    place: "London, St James's Square",
    note: "fragile",
    sign: "a1b2c3d4e5",
};

/// Returns 16 strings of 24 bytes, each in an allocation of its own.
fn texts() -> Vec<String> {
    ('a'..'q').map(|letter| format!("a text of 24 bytes, no.{letter}")).collect()
}

/// Returns 64 KiB.
fn bytes() -> Vec<u8> {
    "0123456789abcdef".repeat(4096).into_bytes()
}

/// Number of calls over which allocations are counted.
const ALLOCATION_CALLS: u32 = 20_000;
const ANSWERED: &str = "the library answers all calls";
