//! Latency of calls into Go after a pause, which calls in a tight loop do not show.

use std::hint::spin_loop;
use std::thread;
use std::time::{Duration, Instant};

use crate::library::Library;
use crate::measure::{Row, once};

/// Returns a row for each pause length.
pub(crate) fn rows(library: &Library, repeats: u32) -> Vec<Row> {
    PAUSES.iter().map(|pause| row(library, pause, pause.calls * repeats.min(10) / 10)).collect()
}

fn row(library: &Library, pause: &Pause, calls: u32) -> Row {
    let mut times: Vec<f64> = (0..calls.max(50))
        .map(|_| {
            (pause.wait)(pause.length);
            once(|| library.empty())
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    Row::new(pause.id, at(0.5)).with("p99", at(0.99))
}

/// Waits as an idle worker does: the thread sleeps.
#[expect(clippy::disallowed_methods, reason = "sleeping is what is measured")]
fn rest(length: Duration) {
    thread::sleep(length);
}

/// A kind of pause between calls.
struct Pause {
    id: &'static str,
    length: Duration,
    calls: u32,
    wait: fn(Duration),
}

/// Waits as a busy worker does between two requests with a filter: the thread spins.
fn spin(length: Duration) {
    let start = Instant::now();
    while start.elapsed() < length {
        spin_loop();
    }
}

const PAUSES: [Pause; 6] = [
    Pause { id: "gap-10us", length: Duration::from_micros(10), calls: 5000, wait: spin },
    Pause { id: "gap-50us", length: Duration::from_micros(50), calls: 4000, wait: spin },
    Pause { id: "gap-100us", length: Duration::from_micros(100), calls: 3000, wait: spin },
    Pause { id: "gap-300us", length: Duration::from_micros(300), calls: 2000, wait: spin },
    Pause { id: "gap-1ms", length: Duration::from_millis(1), calls: 800, wait: spin },
    Pause { id: "gap-1ms-asleep", length: Duration::from_millis(1), calls: 800, wait: rest },
];
