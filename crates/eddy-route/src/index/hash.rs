//! A fast hash for tables that requests only look things up in.
//!
//! Which keys share a slot depends on the configuration alone, so no request can make a table slow; there is no secret
//! to draw, and one configuration always makes the same tables.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Things by the value of a part of the request.
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

    /// The high bits are mixed best; the tables use the low ones too.
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}

/// An odd number with bits all over, from the fraction of the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
