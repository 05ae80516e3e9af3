//! Pseudo-random numbers that are the same in every run.

/// Pseudo-random number generator (xorshift64*, Marsaglia and Vigna).
pub(crate) struct Xorshift64Star(u64);

impl Xorshift64Star {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// Returns a number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(number).unwrap() % limit
    }

    /// Returns one of the elements.
    pub(crate) fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }

    /// Returns `true` with a probability of one in `of`.
    pub(crate) fn rarely(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    /// Returns a path of up to three segments, perhaps with a trailing slash.
    pub(crate) fn path(&mut self) -> String {
        let mut path = String::new();
        for _ in 0..self.below(4) {
            path.push('/');
            path.push_str(self.one(&["a", "ab", "b", "A"]));
        }
        if path.is_empty() || self.rarely(4) {
            path.push('/');
        }
        path
    }
}
