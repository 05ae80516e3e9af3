//! Set of map keys seen so far, which detects duplicates without storing the keys.

/// Hash set of keys, each of one map; its memory is reused.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// Slots, a power of two; 0 is free.
    places: Vec<u64>,
    count: usize,
}

/// Why a key was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyProblem {
    /// It was seen before in this map, or has the hash of another key.
    Duplicate,
    /// There are too many keys.
    TooMany,
}

impl Keys {
    /// Removes all keys.
    ///
    /// # Cost
    /// Overwrites the whole table: at least 16 bytes per key of the largest message so far.
    pub(super) fn clear(&mut self) {
        if self.count > 0 {
            self.places.fill(0);
            self.count = 0;
        }
    }

    /// Adds a key of the map with this number, unless there are `max` keys already.
    pub(super) fn insert(&mut self, map: u64, key: &[u8], max: usize) -> Result<(), KeyProblem> {
        if self.count >= max {
            return Err(KeyProblem::TooMany);
        }
        if (self.count + 1) * 2 > self.places.len() {
            self.grow();
        }
        let hash = hash(map, key) | 1;
        if !place(&mut self.places, hash) {
            return Err(KeyProblem::Duplicate);
        }
        self.count += 1;
        Ok(())
    }

    fn grow(&mut self) {
        let larger = vec![0; (self.places.len() * 2).max(PLACES_MIN)];
        for hash in std::mem::replace(&mut self.places, larger) {
            if hash != 0 {
                place(&mut self.places, hash);
            }
        }
    }
}

/// Stores a hash in its slot; returns `false` if it is already present.
fn place(places: &mut [u64], hash: u64) -> bool {
    let mask = places.len() - 1;
    let mut at = (hash >> 8) as usize & mask;
    while let Some(place) = places.get_mut(at) {
        if *place == hash {
            return false;
        }
        if *place == 0 {
            *place = hash;
            return true;
        }
        at = (at + 1) & mask;
    }
    false
}

/// Returns a 64-bit hash of a key. A sender who constructs a collision only gets its own message rejected.
fn hash(map: u64, key: &[u8]) -> u64 {
    let mut state = map.wrapping_mul(MULTIPLIER) ^ key.len() as u64;
    let (chunks, rest) = key.as_chunks::<8>();
    for chunk in chunks {
        state = mix(state ^ u64::from_le_bytes(*chunk));
    }
    mix(state ^ rest.iter().fold(0, |tail, byte| tail << 8 | u64::from(*byte)))
}

fn mix(value: u64) -> u64 {
    let product = u128::from(value ^ SEED) * u128::from(MULTIPLIER);
    #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
    let (low, high) = (product as u64, (product >> 64) as u64);
    low ^ high
}

const PLACES_MIN: usize = 64;
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
const SEED: u64 = 0xe703_7ed1_a0b4_28db;
