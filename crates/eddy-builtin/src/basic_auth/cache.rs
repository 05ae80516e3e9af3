//! Cache of verified passwords, which does not store the passwords.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Duration;

use eddy_ids::{Millis, WorkerTime};
use sha2::{Digest, Sha256};

/// Lock-free cache of hashed user and password pairs that were verified, each with an expiry.
///
/// A pair is stored as 128 bits of a hash with a secret key. A reader may see one entry while another is written over
/// it; the mixture matches neither pair.
#[derive(Debug)]
pub(super) struct Cache {
    sets: Box<[[PasswordCacheEntry; WAYS]]>,
    ttl: Millis,
    key: [u64; 4],
}

#[derive(Debug, Default)]
struct PasswordCacheEntry {
    name: [AtomicU64; 2],
    /// Expiry, a [`WorkerTime`] in milliseconds; 0 for an empty entry.
    ends: AtomicU64,
}

/// Keyed hash of a user and password pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PairName([u64; 2]);

impl Cache {
    /// Creates a cache for at least `entries_max` pairs; with a TTL of zero, nothing is cached.
    pub(super) fn new(entries_max: u32, ttl: Duration, key: [u64; 4]) -> Self {
        let ttl = Millis::of(ttl);
        let sets = (entries_max as usize).div_ceil(WAYS).next_power_of_two();
        let sets = if ttl == Millis::ZERO { 0 } else { sets };
        Self { sets: (0..sets).map(|_| Default::default()).collect(), ttl, key }
    }

    /// Returns the keyed hash of a pair.
    pub(super) fn name(&self, user: &[u8], password: &[u8]) -> PairName {
        let mut hasher = Sha256::new();
        self.key.iter().for_each(|word| hasher.update(word.to_le_bytes()));
        // The length prevents moving bytes between user name and password.
        hasher.update((user.len() as u64).to_le_bytes());
        hasher.update(user);
        hasher.update(password);
        let digest = hasher.finalize();
        let word = |at: usize| {
            let bytes = digest.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default();
            u64::from_le_bytes(bytes)
        };
        PairName([word(0), word(8)])
    }

    /// Whether the pair was verified and has not expired.
    pub(super) fn has(&self, name: PairName, now: WorkerTime) -> bool {
        self.set(name).iter().any(|entry| {
            let ends = WorkerTime::from_millis(entry.ends.load(Acquire));
            let is_same = entry.name.iter().zip(name.0).all(|(word, wanted)| word.load(Relaxed) == wanted);
            ends > now && is_same
        })
    }

    /// Inserts a pair, in place of the entry of its set that expires first.
    pub(super) fn remember(&self, name: PairName, now: WorkerTime) {
        if self.has(name, now) {
            return;
        }
        let Some(entry) = self.set(name).iter().min_by_key(|entry| entry.ends.load(Relaxed)) else {
            return;
        };
        entry.ends.store(0, Release);
        entry.name.iter().zip(name.0).for_each(|(word, new)| word.store(new, Release));
        entry.ends.store((now + self.ttl).as_millis(), Release);
    }

    fn set(&self, name: PairName) -> &[PasswordCacheEntry] {
        // The number of sets is a power of two, or zero.
        let index = name.0[0] & (self.sets.len() as u64).wrapping_sub(1);
        usize::try_from(index).ok().and_then(|index| self.sets.get(index)).map_or(&[], |set| set.as_slice())
    }
}

const WAYS: usize = 8;
