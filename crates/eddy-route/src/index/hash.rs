//! Fast hash for tables whose keys come from the configuration.
//!
//! Collisions depend on the configuration alone, so requests cannot make a table slow. There is no secret seed, and the
//! same configuration always produces the same tables.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Map keyed by the value of a part of the request.
pub(crate) type ByValue<T> = HashMap<Box<[u8]>, T, BuildHasherDefault<ByteHasher>>;

/// Mixes eight bytes at a time by a multiplication.
#[derive(Clone, Copy, Default)]
pub(crate) struct ByteHasher(u64);

impl ByteHasher {
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    }
}

impl Hasher for ByteHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.mix(u64::from_le_bytes(last));
    }

    fn write_usize(&mut self, length: usize) {
        self.mix(length as u64);
    }

    /// The high bits are mixed best; the tables use the low ones as well.
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}

/// An odd number with well distributed bits, from the fraction of the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
