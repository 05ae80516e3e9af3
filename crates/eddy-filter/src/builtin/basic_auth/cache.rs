//! Remembers which passwords were found right, without remembering them.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Duration;

use sha2::{Digest, Sha256};

/// Names of pairs of user and password that were found right, each until a time; without locks.
///
/// A name is 128 bits of a hash with a secret key. Readers may see one entry while another is written over it: what
/// they then see is the name of neither.
#[derive(Debug)]
pub(super) struct Cache {
    sets: Box<[[PasswordCacheEntry; WAYS]]>,
    ttl_ms: u64,
    key: [u64; 4],
}

#[derive(Debug, Default)]
struct PasswordCacheEntry {
    name: [AtomicU64; 2],
    /// Milliseconds of the workers' clock; 0 where there is nothing.
    ends_ms: AtomicU64,
}

/// Names a pair of user and password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PairName([u64; 2]);

impl Cache {
    /// Room for at least so many pairs; none where they are not to be remembered.
    pub(super) fn new(entries_max: u32, ttl: Duration, key: [u64; 4]) -> Self {
        let ttl_ms = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
        let sets = (entries_max as usize).div_ceil(WAYS).next_power_of_two();
        let sets = if ttl_ms == 0 { 0 } else { sets };
        Self { sets: (0..sets).map(|_| Default::default()).collect(), ttl_ms, key }
    }

    /// Names a pair.
    pub(super) fn name(&self, user: &[u8], password: &[u8]) -> PairName {
        let mut hasher = Sha256::new();
        self.key.iter().for_each(|word| hasher.update(word.to_le_bytes()));
        // With the length nobody can move bytes from one to the other.
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

    /// Whether the pair was found right not too long ago.
    pub(super) fn has(&self, name: PairName, now_ms: u64) -> bool {
        self.set(name).iter().any(|entry| {
            let ends_ms = entry.ends_ms.load(Acquire);
            let is_same = entry.name.iter().zip(name.0).all(|(word, wanted)| word.load(Relaxed) == wanted);
            ends_ms > now_ms && is_same
        })
    }

    /// Remembers a pair, in the place of one that ends sooner than others.
    pub(super) fn remember(&self, name: PairName, now_ms: u64) {
        if self.has(name, now_ms) {
            return;
        }
        let Some(entry) = self.set(name).iter().min_by_key(|entry| entry.ends_ms.load(Relaxed)) else {
            return;
        };
        entry.ends_ms.store(0, Release);
        entry.name.iter().zip(name.0).for_each(|(word, new)| word.store(new, Release));
        entry.ends_ms.store(now_ms.saturating_add(self.ttl_ms), Release);
    }

    fn set(&self, name: PairName) -> &[PasswordCacheEntry] {
        // A power of two, or no set at all.
        let index = name.0[0] & (self.sets.len() as u64).wrapping_sub(1);
        usize::try_from(index).ok().and_then(|index| self.sets.get(index)).map_or(&[], |set| set.as_slice())
    }
}

const WAYS: usize = 8;
