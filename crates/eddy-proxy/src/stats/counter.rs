//! Numbers that one thread writes and others read.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A count that only grows, written by one worker.
///
/// # Cost
/// A load and a store: there is one writer, so no locked instruction is needed.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds one.
    pub fn increment(&self) {
        self.add(1);
    }

    /// Adds `count`.
    pub fn add(&self, count: u64) {
        self.0.store(self.0.load(Relaxed).wrapping_add(count), Relaxed);
    }

    /// The count.
    pub fn value(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// A number that goes up and down, written by one worker.
#[derive(Debug, Default)]
pub struct Gauge(AtomicU64);

impl Gauge {
    /// Adds one.
    pub fn increment(&self) {
        self.0.store(self.0.load(Relaxed).wrapping_add(1), Relaxed);
    }

    /// Takes one away.
    pub fn decrement(&self) {
        self.0.store(self.0.load(Relaxed).saturating_sub(1), Relaxed);
    }

    /// Replaces the number.
    pub fn set(&self, value: u64) {
        self.0.store(value, Relaxed);
    }

    /// The number.
    pub fn value(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// Durations in buckets that double, from 125 us to some 65 s.
#[derive(Debug, Default)]
pub struct Histogram {
    buckets: [Counter; BUCKETS],
    sum_us: Counter,
}

/// Buckets of a histogram; the last one takes what is longer than every bound.
pub(crate) const BUCKETS: usize = 21;
/// The bound of the first bucket, microseconds.
const BOUND_FIRST_US: u64 = 125;

impl Histogram {
    /// Counts a duration.
    ///
    /// # Units
    /// Microseconds.
    pub fn observe_us(&self, duration_us: u64) {
        if let Some(bucket) = self.buckets.get(bucket_of(duration_us)) {
            bucket.increment();
        }
        self.sum_us.add(duration_us);
    }

    /// How many durations fell into the bucket with this index.
    pub fn bucket(&self, index: usize) -> u64 {
        self.buckets.get(index).map_or(0, Counter::value)
    }

    /// The sum of all durations, microseconds.
    pub fn sum_us(&self) -> u64 {
        self.sum_us.value()
    }

    /// The upper bound of the bucket with this index, microseconds; `None` for the last.
    pub fn bound_us(index: usize) -> Option<u64> {
        (index + 1 < BUCKETS).then(|| BOUND_FIRST_US << index)
    }
}

fn bucket_of(duration_us: u64) -> usize {
    let doublings = duration_us.div_ceil(BOUND_FIRST_US).max(1) - 1;
    ((u64::BITS - doublings.leading_zeros()) as usize).min(BUCKETS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_falls_into_the_first_bucket_that_can_hold_it() {
        for duration in [0, 1, 124, 125, 126, 250, 251, 500, 1_000_000, 65_536_000, 65_536_001, u64::MAX] {
            let expected = (0..BUCKETS)
                .find(|index| Histogram::bound_us(*index).is_none_or(|bound| duration <= bound))
                .unwrap();
            assert_eq!(bucket_of(duration), expected, "{duration}");
        }
    }
}
