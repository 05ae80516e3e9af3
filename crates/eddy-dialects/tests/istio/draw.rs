//! Random numbers that are the same in every run (SplitMix64).

pub(crate) struct IstioCaseRng(pub(crate) u64);

impl IstioCaseRng {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % limit.max(1) as u64).unwrap()
    }

    /// Returns true in `percent` of a hundred cases.
    pub(crate) fn is(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn of<'v>(&mut self, values: &[&'v str]) -> &'v str {
        values[self.below(values.len())]
    }
}
