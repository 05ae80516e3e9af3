//! Timing of short pieces of work, and the output rows.

use std::fmt::Write;
use std::time::{Duration, Instant};

/// A line of output.
pub(crate) struct Row {
    id: String,
    figures: Vec<(&'static str, f64)>,
}

impl Row {
    pub(crate) fn new(id: impl Into<String>, ns: f64) -> Self {
        Self { id: id.into(), figures: vec![("ns", ns)] }
    }

    pub(crate) fn with(mut self, name: &'static str, figure: f64) -> Self {
        self.figures.push((name, figure));
        self
    }

    /// Adds the allocations per call between two readings.
    pub(crate) fn with_allocations(self, before: [u64; 2], after: [u64; 2], calls: u32) -> Self {
        let per_call =
            |index: usize| ((after[index] - before[index]) as f64 / f64::from(calls) * 100.0).round() / 100.0;
        self.with("allocs", per_call(0)).with("bytes", per_call(1))
    }

    pub(crate) fn to_json(&self) -> String {
        let mut json = format!(r#"{{"row":"{}""#, self.id);
        for (name, figure) in &self.figures {
            write!(json, r#","{name}":{figure}"#).expect("a String takes all");
        }
        json + "}"
    }
}

/// Returns the least time in ns per run of `work`, over several repeats of about a millisecond. Other work on the
/// machine only ever adds time.
pub(crate) fn least(repeats: u32, work: &mut impl FnMut()) -> f64 {
    let mut count = 16;
    while timed(count, work) < Duration::from_millis(1) {
        count *= 2;
    }
    (0..repeats)
        .map(|_| timed(count, work).as_nanos() as f64 / f64::from(count))
        .fold(f64::INFINITY, f64::min)
}

/// Returns the time in ns of a single run, including the clock's own overhead.
pub(crate) fn once(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64
}

fn timed(count: u32, work: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..count {
        work();
    }
    start.elapsed()
}
