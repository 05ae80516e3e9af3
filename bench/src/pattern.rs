//! The bytes of every body: one fixed sequence, of which each body is a prefix.

/// Largest body that the origin sends and the load generator expects.
pub const BODY_BYTES_MAX: usize = 4 << 20;

/// Returns the first `length` bytes of the sequence, at most [`BODY_BYTES_MAX`].
///
/// The sequence does not repeat, so a piece lost, doubled or moved on the way is noticed.
pub fn body(length: usize) -> Vec<u8> {
    let length = length.min(BODY_BYTES_MAX);
    let mut bytes = Vec::with_capacity(length + WORD_CHARACTERS);
    let mut index = 0_u64;
    while bytes.len() < length {
        bytes.extend_from_slice(format!("{:016x}", mix(index)).as_bytes());
        index += 1;
    }
    bytes.truncate(length);
    bytes
}

/// Mixes the bits of `value` (the finaliser of SplitMix64).
pub fn mix(value: u64) -> u64 {
    let mut word = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

const WORD_CHARACTERS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_prefixes_of_one_sequence() {
        let long = body(100_000);
        assert_eq!(long.len(), 100_000);
        for length in [0, 1, 15, 16, 17, 128] {
            assert_eq!(body(length), &long[..length]);
        }
    }

    #[test]
    fn bodies_do_not_repeat() {
        let long = body(64 * 1024);
        let (first, second) = long.split_at(32 * 1024);
        assert_ne!(first, second);
        assert_ne!(long[..16], long[16..32]);
    }

    #[test]
    fn bodies_are_limited() {
        assert_eq!(body(usize::MAX).len(), BODY_BYTES_MAX);
    }
}
