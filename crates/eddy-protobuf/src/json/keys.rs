//! Keys of maps that were seen, told apart without keeping them.

/// A set of keys, each of one map; used again without giving its memory back.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// A power of two of places; 0 is free.
    places: Vec<u64>,
    count: usize,
}

/// A key could not be taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyProblem {
    /// It was seen before in this map, or has the hash of one that was.
    Seen,
    /// There are too many.
    TooMany,
}

impl Keys {
    /// Forgets all.
    ///
    /// # Cost
    /// As many bytes are written as the largest message since the last had keys, at least 16 times their number.
    pub(super) fn clear(&mut self) {
        if self.count > 0 {
            self.places.fill(0);
            self.count = 0;
        }
    }

    /// Takes in a key of the map with this number, if it is the first of `max`.
    pub(super) fn insert(&mut self, map: u64, key: &[u8], max: usize) -> Result<(), KeyProblem> {
        if self.count >= max {
            return Err(KeyProblem::TooMany);
        }
        if (self.count + 1) * 2 > self.places.len() {
            self.grow();
        }
        let hash = hash(map, key) | 1;
        if !place(&mut self.places, hash) {
            return Err(KeyProblem::Seen);
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

/// Puts a hash in its place, unless it is there.
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

/// 64 bits of a key; who finds two keys with one hash has only their own message refused.
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
