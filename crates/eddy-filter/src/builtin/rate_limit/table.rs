//! A bounded table of stocks by key, without locks.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::bucket::{BucketTake, Rate};

/// Stocks by key, in sets of eight: a key has its place in one set.
///
/// Of a full set, the stock that is fullest gives way to a new key; often it is full, and nothing is lost. Two threads
/// that put different keys into one place at once may share a stock for a moment: a request too many or too few, never
/// more.
#[derive(Debug)]
pub(super) struct BucketTable {
    sets: Box<[[BucketSlot; WAYS]]>,
}

#[derive(Debug, Default)]
struct BucketSlot {
    /// A keyed hash that is not 0; 0 where there is none.
    key: AtomicU64,
    stock: AtomicU64,
}

impl BucketTable {
    /// Room for at least so many keys.
    pub(super) fn new(keys_max: u32) -> Self {
        let sets = (keys_max as usize).div_ceil(WAYS).next_power_of_two();
        Self { sets: (0..sets).map(|_| Default::default()).collect() }
    }

    /// Takes a request from the stock of a key, whose hash must be one that clients cannot foresee.
    pub(super) fn take(&self, rate: Rate, hash: u64, now_ns: u64) -> BucketTake {
        let stock = self.stock(hash, now_ns);
        stock.map_or(
            // There is at least one set of eight, whatever the hash.
            BucketTake { is_taken: false, left: 0, full_in_ns: 0, wait_ns: 0 },
            |stock| rate.take(stock, 1, now_ns),
        )
    }

    fn stock(&self, hash: u64, now_ns: u64) -> Option<&AtomicU64> {
        let key = hash | 1;
        // The lowest bit says that there is a key; the set is chosen by others.
        let index = (hash >> 1) & (self.sets.len() as u64).wrapping_sub(1);
        let set = self.sets.get(usize::try_from(index).ok()?)?;
        if let Some(slot) = set.iter().find(|slot| slot.key.load(Relaxed) == key) {
            return Some(&slot.stock);
        }
        let free = set.iter().min_by_key(|slot| slot.stock.load(Relaxed).max(now_ns))?;
        let before = free.key.load(Relaxed);
        if free.key.compare_exchange(before, key, Relaxed, Relaxed).is_ok() {
            free.stock.store(0, Relaxed);
        }
        Some(&free.stock)
    }
}

const WAYS: usize = 8;
