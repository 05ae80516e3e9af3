//! Random numbers for one filter, derived from the entropy shared by all filters of an exchange.

/// Derives two random numbers from `seed`, which is specific to the filter, so that filters draw independently.
pub(super) fn draw(entropy: [u64; 2], seed: u64) -> [u64; 2] {
    let first = mix(entropy[0] ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    [first, mix(entropy[1] ^ first)]
}

/// Whether an exchange falls into a fraction of `millionths`.
pub(super) fn is_in_fraction(number: u64, millionths: u32) -> bool {
    number % 1_000_000 < u64::from(millionths)
}

/// Mixes every bit into all others, bijectively (SplitMix64).
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::{draw, is_in_fraction};

    #[test]
    fn filters_draw_independent_random_numbers() {
        let both = (0..10_000_u64).filter(|number| {
            let entropy = [number.wrapping_mul(0x1234_5678_9abc_def1), *number];
            is_in_fraction(draw(entropy, 1)[0], 500_000) && is_in_fraction(draw(entropy, 2)[0], 500_000)
        });
        let both = both.count();
        assert!((2200..2800).contains(&both), "{both}");
        assert!(is_in_fraction(u64::MAX, 1_000_000) && !is_in_fraction(0, 0));
    }
}
