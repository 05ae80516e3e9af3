//! XXH64, the hash by which [`super::maglev`] distributes endpoints and keys.

/// Returns the hash of `bytes`.
///
/// # Cost
/// One pass; about three bytes per cycle for long input.
///
/// # Source
/// Yann Collet's [XXH64](https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md), which Envoy uses.
pub(super) fn xxh64(bytes: &[u8], seed: u64) -> u64 {
    let stripes = bytes.chunks_exact(STRIPE);
    let rest = stripes.remainder();
    let mut hash = if bytes.len() < STRIPE { seed.wrapping_add(PRIME_5) } else { gathered(stripes, seed) };
    hash = hash.wrapping_add(bytes.len() as u64);
    let words = rest.chunks_exact(8);
    let mut halves = words.remainder().chunks_exact(4);
    for word in words {
        hash = (hash ^ round(0, number(word))).rotate_left(27).wrapping_mul(PRIME_1).wrapping_add(PRIME_4);
    }
    for half in halves.by_ref() {
        hash ^= number(half).wrapping_mul(PRIME_1);
        hash = hash.rotate_left(23).wrapping_mul(PRIME_2).wrapping_add(PRIME_3);
    }
    for byte in halves.remainder() {
        hash = (hash ^ u64::from(*byte).wrapping_mul(PRIME_5)).rotate_left(11).wrapping_mul(PRIME_1);
    }
    hash = (hash ^ (hash >> 33)).wrapping_mul(PRIME_2);
    hash = (hash ^ (hash >> 29)).wrapping_mul(PRIME_3);
    hash ^ (hash >> 32)
}

/// Hashes whole stripes into four parallel sums and combines them.
fn gathered<'b>(stripes: impl Iterator<Item = &'b [u8]>, seed: u64) -> u64 {
    let mut sums = [
        seed.wrapping_add(PRIME_1).wrapping_add(PRIME_2),
        seed.wrapping_add(PRIME_2),
        seed,
        seed.wrapping_sub(PRIME_1),
    ];
    for stripe in stripes {
        for (sum, word) in sums.iter_mut().zip(stripe.chunks_exact(8)) {
            *sum = round(*sum, number(word));
        }
    }
    let rotated = sums.iter().zip([1, 7, 12, 18]).map(|(sum, bits)| sum.rotate_left(bits));
    let start = rotated.fold(0_u64, u64::wrapping_add);
    sums.iter().fold(start, |hash, sum| (hash ^ round(0, *sum)).wrapping_mul(PRIME_1).wrapping_add(PRIME_4))
}

fn round(sum: u64, word: u64) -> u64 {
    sum.wrapping_add(word.wrapping_mul(PRIME_2)).rotate_left(31).wrapping_mul(PRIME_1)
}

/// Reads up to eight bytes as a little-endian number.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

const STRIPE: usize = 32;
const PRIME_1: u64 = 0x9e37_79b1_85eb_ca87;
const PRIME_2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const PRIME_3: u64 = 0x1656_67b1_9e37_79f9;
const PRIME_4: u64 = 0x85eb_ca77_c2b2_ae63;
const PRIME_5: u64 = 0x27d4_eb2f_1656_67c5;

#[cfg(test)]
mod tests {
    use super::xxh64;

    #[test]
    fn the_hash_matches_reference_values() {
        for (text, seed, expected) in [
            ("", 0, 0xef46_db37_51d8_e999),
            ("a", 0, 0xd24e_c4f1_a98c_6e5b),
            ("abc", 0, 0x44bc_2cf5_ad77_0999),
            ("asdf", 0, 0x4158_72f5_99ce_a71e),
            ("The quick brown fox jumps over the lazy dog", 0, 0x0b24_2d36_1fda_71bc),
            ("Call me Ishmael. Some years ago--never mind how long precisely-", 0, 0x02a2_e854_70d6_fd96),
        ] {
            assert_eq!(xxh64(text.as_bytes(), seed), expected, "{text}");
        }
    }
}
