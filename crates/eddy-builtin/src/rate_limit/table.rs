//! Bounded, lock-free table of buckets by key.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use eddy_ids::WorkerTime;

use super::bucket::{BucketTake, Rate, nanos};

/// Buckets by key, in sets of eight; a key belongs to one set.
///
/// In a full set, a new key replaces the bucket that is closest to full; often it is full, and nothing is lost. Two
/// threads that insert different keys into one slot at the same time may share a bucket for a moment: one request too
/// many or too few at most.
#[derive(Debug)]
pub(super) struct BucketTable {
    sets: Box<[[BucketSlot; WAYS]]>,
}

#[derive(Debug, Default)]
struct BucketSlot {
    /// Keyed hash, not 0; 0 for an empty slot.
    key: AtomicU64,
    stock: AtomicU64,
}

impl BucketTable {
    /// Creates a table for at least `keys_max` keys.
    pub(super) fn new(keys_max: u32) -> Self {
        let sets = (keys_max as usize).div_ceil(WAYS).next_power_of_two();
        Self { sets: (0..sets).map(|_| Default::default()).collect() }
    }

    /// Takes a token from the bucket of a key, whose hash must not be predictable by clients.
    pub(super) fn take(&self, rate: Rate, hash: u64, now: WorkerTime) -> BucketTake {
        rate.take(self.stock(hash, now), 1, now)
    }

    fn stock(&self, hash: u64, now: WorkerTime) -> &AtomicU64 {
        let key = hash | 1;
        // The lowest bit marks a used slot; the set is chosen by the other bits.
        let index = usize::try_from((hash >> 1) & (self.sets.len() as u64 - 1)).ok();
        let set = index.and_then(|index| self.sets.get(index)).expect("the sets are a power of two");
        if let Some(slot) = set.iter().find(|slot| slot.key.load(Relaxed) == key) {
            return &slot.stock;
        }
        let fullest = set.iter().min_by_key(|slot| slot.stock.load(Relaxed).max(nanos(now)));
        let free = fullest.expect("a set has eight slots");
        let before = free.key.load(Relaxed);
        if free.key.compare_exchange(before, key, Relaxed, Relaxed).is_ok() {
            free.stock.store(0, Relaxed);
        }
        &free.stock
    }
}

const WAYS: usize = 8;
