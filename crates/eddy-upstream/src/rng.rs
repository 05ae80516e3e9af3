//! Small seedable random number generator, one per worker.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// Random numbers for balancing and jitter; not for secrets.
///
/// # Source
/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// Creates a generator whose numbers depend on `seed` alone.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Creates a generator seeded from the operating system's randomness, different each time.
    pub fn from_entropy() -> Self {
        // The standard library seeds each process's hash maps from the system and varies the keys from map to map.
        Self::new(RandomState::new().hash_one(0_u64))
    }

    /// Returns the next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Returns a number in `0..end`, or 0 when `end` is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        // The high half of a 64 by 64 bit product: its bias is below end/2^64, which no balancer can notice.
        let product = u128::from(self.bits()) * u128::from(end);
        u64::try_from(product >> 64).expect("the high half has 64 bits")
    }

    /// Returns an index into a list of `len` items, or 0 when it is empty.
    pub fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).expect("below a `usize`")
    }
}
