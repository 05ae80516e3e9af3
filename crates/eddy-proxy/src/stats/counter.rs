//! Counters that one thread writes and others read.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A count that only grows, written by one worker.
///
/// # Cost
/// A load and a store: there is one writer, so no locked instruction is needed.
#[derive(Debug, Default)]
pub(crate) struct WorkerCounter(AtomicU64);

impl WorkerCounter {
    pub(crate) fn increment(&self) {
        self.add(1);
    }

    pub(crate) fn add(&self, count: u64) {
        self.0.store(self.0.load(Relaxed).wrapping_add(count), Relaxed);
    }

    pub(crate) fn reset(&self) {
        self.0.store(0, Relaxed);
    }

    pub(crate) fn value(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// A number that goes up and down, written by one worker.
#[derive(Debug, Default)]
pub(crate) struct Gauge(AtomicU64);

impl Gauge {
    pub(crate) fn increment(&self) {
        self.0.store(self.0.load(Relaxed).wrapping_add(1), Relaxed);
    }

    pub(crate) fn decrement(&self) {
        self.0.store(self.0.load(Relaxed).saturating_sub(1), Relaxed);
    }

    /// Adds one until the guard is dropped.
    pub(crate) fn hold(&self) -> GaugeGuard<'_> {
        self.increment();
        GaugeGuard(self)
    }

    pub(crate) fn set(&self, value: u64) {
        self.0.store(value, Relaxed);
    }

    pub(crate) fn value(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// Counts one thing in a gauge while it lasts.
pub(crate) struct GaugeGuard<'g>(&'g Gauge);

impl Drop for GaugeGuard<'_> {
    fn drop(&mut self) {
        self.0.decrement();
    }
}

/// Histogram of durations in buckets of doubling width; the upper bound of the first is `FIRST`. From 125 µs to about
/// 65 s for microseconds and the default; from 64 ns to about 33 ms for nanoseconds and a `FIRST` of 64.
#[derive(Debug, Default)]
pub(crate) struct Histogram<const FIRST: u64 = 125> {
    buckets: [WorkerCounter; BUCKETS],
    sum: WorkerCounter,
}

/// Number of buckets of a histogram; the last one has no upper bound.
pub(crate) const BUCKETS: usize = 21;
impl<const FIRST: u64> Histogram<FIRST> {
    /// Counts a duration, in the histogram's unit.
    pub(crate) fn observe(&self, duration: u64) {
        self.buckets[bucket_of(FIRST, duration)].increment();
        self.sum.add(duration);
    }

    /// Returns the number of durations in the bucket with this index.
    pub(crate) fn bucket(&self, index: usize) -> u64 {
        self.buckets[index].value()
    }

    pub(crate) fn sum(&self) -> u64 {
        self.sum.value()
    }

    /// Returns the upper bound of the bucket with this index; `None` for the last.
    pub(crate) fn bound(index: usize) -> Option<u64> {
        (index + 1 < BUCKETS).then(|| FIRST << index)
    }
}

fn bucket_of(first: u64, duration: u64) -> usize {
    let doublings = duration.div_ceil(first).max(1) - 1;
    ((u64::BITS - doublings.leading_zeros()) as usize).min(BUCKETS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_falls_into_the_first_bucket_that_can_hold_it() {
        for duration in [0, 1, 124, 125, 126, 250, 251, 500, 1_000_000, 65_536_000, 65_536_001, u64::MAX] {
            let expected = (0..BUCKETS)
                .find(|index| Histogram::<125>::bound(*index).is_none_or(|bound| duration <= bound))
                .unwrap();
            assert_eq!(bucket_of(125, duration), expected, "{duration}");
        }
    }
}
