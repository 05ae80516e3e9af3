//! Token buckets: take tokens and refill over time.
//!
//! A bucket is one number: the time at which it is full again (the "theoretical arrival time" of the generic cell rate
//! algorithm). A full bucket has no state, so it can be evicted without loss.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use eddy_ids::WorkerTime;

/// Refill rate and size of buckets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    /// Time in which one token is refilled, in nanoseconds; at least 1.
    interval_ns: u64,
    /// Time in which an empty bucket becomes full, in nanoseconds.
    full_ns: u64,
}

/// Result of taking tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BucketTake {
    /// Whether the tokens were taken.
    pub(super) is_taken: bool,
    /// Number of tokens left.
    pub(super) left: u32,
    /// Time until the bucket is full again.
    pub(super) full_in: Duration,
    /// Time until enough tokens are available; zero if they were taken.
    pub(super) wait: Duration,
}

impl Rate {
    /// Creates a rate of `requests` per time, with a bucket size of `burst`.
    pub(super) fn new(requests: u32, per: Duration, burst: u32) -> Self {
        let per_ns = u64::try_from(per.as_nanos()).unwrap_or(u64::MAX);
        let interval_ns = (per_ns / u64::from(requests.max(1))).max(1);
        // Limited to more than a century, beyond which the fill level does not matter.
        let full_ns = interval_ns.saturating_mul(u64::from(burst.max(1))).min(u64::MAX / 4);
        Self { interval_ns, full_ns }
    }

    /// Takes `count` tokens from a bucket, if it has as many.
    pub(super) fn take(self, stock: &AtomicU64, count: u32, now: WorkerTime) -> BucketTake {
        let now_ns = nanos(now);
        let cost_ns = self.interval_ns.saturating_mul(u64::from(count));
        let mut full_at = stock.load(Relaxed);
        loop {
            let used_ns = self.used(full_at, now_ns);
            let Some(spare_ns) = self.full_ns.checked_sub(used_ns.saturating_add(cost_ns)) else {
                let wait_ns = used_ns.saturating_add(cost_ns) - self.full_ns;
                return BucketTake {
                    is_taken: false,
                    left: self.count(self.full_ns - used_ns),
                    full_in: Duration::from_nanos(used_ns),
                    wait: Duration::from_nanos(wait_ns),
                };
            };
            let next = now_ns.max(full_at).saturating_add(cost_ns);
            match stock.compare_exchange_weak(full_at, next, Relaxed, Relaxed) {
                Ok(_) => return self.taken(spare_ns, used_ns + cost_ns),
                Err(changed) => full_at = changed,
            }
        }
    }

    /// Returns how much of a bucket is used up. Never more than all of it: each worker reads its clock once a turn, so
    /// one of them may be behind the worker that took the last token.
    fn used(self, full_at_ns: u64, now_ns: u64) -> u64 {
        full_at_ns.saturating_sub(now_ns).min(self.full_ns)
    }

    /// Returns the result of taking tokens from a bucket that then has `spare_ns` of its size left.
    fn taken(self, spare_ns: u64, full_in_ns: u64) -> BucketTake {
        let full_in = Duration::from_nanos(full_in_ns);
        BucketTake { is_taken: true, left: self.count(spare_ns), full_in, wait: Duration::ZERO }
    }

    fn count(self, time_ns: u64) -> u32 {
        u32::try_from(time_ns / self.interval_ns).unwrap_or(u32::MAX)
    }
}

/// One bucket for all requests. Workers take tokens in batches, to reduce contention on the shared counter.
#[derive(Debug)]
pub(super) struct Common {
    stock: AtomicU64,
    lanes: Box<[WorkerTokens]>,
    batch_size: u32,
}

/// Tokens that a worker has taken and not yet used; on a cache line of its own, written only by that worker.
#[derive(Debug, Default)]
#[repr(align(128))]
struct WorkerTokens {
    left: AtomicU64,
}

impl Common {
    /// Creates a full bucket of `burst` tokens for `workers` workers.
    pub(super) fn new(burst: u32, workers: usize) -> Self {
        let workers = workers.max(1);
        // All workers together hold at most 1/64 of the bucket; if that is less than one token each, there are no
        // batches.
        let batch_size = (burst as usize / (64 * workers)).clamp(1, BATCH_MAX);
        let lanes = (0..workers).map(|_| WorkerTokens::default()).collect();
        Self { stock: AtomicU64::new(0), lanes, batch_size: u32::try_from(batch_size).unwrap_or(1) }
    }

    /// Takes a token on a worker's thread.
    pub(super) fn take(&self, rate: Rate, worker: u16, now: WorkerTime) -> BucketTake {
        let Some(lane) = self.lanes.get(usize::from(worker)) else {
            return rate.take(&self.stock, 1, now);
        };
        let held = lane.left.load(Relaxed);
        if held > 0 {
            lane.left.store(held - 1, Relaxed);
            let used_ns = rate.used(self.stock.load(Relaxed), nanos(now));
            return rate.taken(rate.full_ns - used_ns, used_ns);
        }
        if self.batch_size > 1 {
            let taken = rate.take(&self.stock, self.batch_size, now);
            if taken.is_taken {
                lane.left.store(u64::from(self.batch_size - 1), Relaxed);
                return taken;
            }
        }
        rate.take(&self.stock, 1, now)
    }
}

/// Returns the time in nanoseconds, in which buckets count.
pub(super) fn nanos(time: WorkerTime) -> u64 {
    time.as_millis().saturating_mul(1_000_000)
}

/// Maximum batch size of a worker.
const BATCH_MAX: usize = 256;
