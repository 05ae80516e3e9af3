//! Random values of every type, from a seed.

use std::iter;

use crate::{Every, Inner, Leaf, Narrow};

/// Generator of values, the same for the same seed.
#[derive(Clone, Debug)]
pub struct ValueGenerator(u64);

impl ValueGenerator {
    /// Creates a generator from a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number, often one at the end of a range.
    pub fn number(&mut self) -> u64 {
        let number = self.next();
        match number % 8 {
            0 => 0,
            1 => u64::MAX,
            2 => 1 << (number >> 58),
            3 => (1 << (number >> 58)) - 1,
            _ => self.next(),
        }
    }

    /// Returns a number below `end`.
    #[expect(clippy::cast_possible_truncation, reason = "it is less than a usize")]
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Returns the length of a list: mostly short, occasionally longer than any preallocated buffer.
    pub fn length(&mut self) -> usize {
        match self.below(200) {
            0 => self.below(3000),
            1..20 => self.below(64),
            20..60 => 0,
            _ => self.below(8),
        }
    }

    /// Returns a string of characters of one to four bytes.
    pub fn text(&mut self) -> String {
        let letters = ['a', 'z', ' ', '\0', 'é', 'ß', '€', '語', '🦀'];
        (0..self.length()).map(|_| letters[self.below(letters.len())]).collect()
    }

    /// Returns random bytes.
    pub fn bytes(&mut self) -> Vec<u8> {
        (0..self.length()).map(|_| self.number().to_le_bytes()[0]).collect()
    }

    /// Returns random numbers.
    pub fn words(&mut self) -> Vec<u32> {
        (0..self.length()).map(|_| self.word()).collect()
    }

    /// Returns a struct that others contain.
    pub fn leaf(&mut self) -> Leaf {
        let tags = (0..self.below(3)).map(|_| self.text()).collect();
        Leaf { name: self.text(), count: self.word(), tags }
    }

    /// Returns a value of all types.
    pub fn every(&mut self) -> Every {
        let [byte, signed, ..] = self.number().to_le_bytes();
        let short = self.word();
        Every {
            byte,
            short: low(short),
            word: self.word(),
            long: self.number(),
            signed_byte: signed.cast_signed(),
            signed_short: low(self.word()).cast_signed(),
            signed_word: self.word().cast_signed(),
            signed_long: self.number().cast_signed(),
            single: self.single(),
            double: self.double(),
            flag: self.below(2) == 1,
            text: self.text(),
            bytes: self.bytes(),
            numbers: self.words().into_iter().map(u32::cast_signed).collect(),
            doubles: (0..self.length()).map(|_| self.double()).collect(),
            flags: (0..self.below(9)).map(|_| self.below(2) == 1).collect(),
            leaf: self.leaf(),
            leaves: (0..self.below(4)).map(|_| self.leaf()).collect(),
            by_name: (0..self.below(4)).map(|_| (self.text(), self.leaf())).collect(),
            by_number: (0..self.below(4)).map(|_| (self.number().cast_signed(), self.bytes())).collect(),
            maybe_leaf: self.perhaps(Self::leaf),
            maybe_text: self.perhaps(Self::text),
            outcome: if self.below(2) == 0 { Ok(low(self.word())) } else { Err(self.text()) },
            nested: (0..self.below(4)).map(|_| self.perhaps(Self::texts)).collect(),
        }
    }

    /// Returns numbers narrower than a word.
    pub fn narrow(&mut self) -> Narrow {
        let [byte, signed, ..] = self.number().to_le_bytes();
        Narrow {
            byte,
            flag: self.below(2) == 1,
            inner: self.inner(),
            single: self.single(),
            maybe: self.perhaps(|_| signed.cast_signed()),
            maybe_inner: self.perhaps(Self::inner),
            signed: self.word().cast_signed(),
        }
    }

    fn inner(&mut self) -> Inner {
        Inner { code: low(self.word()), is_good: self.below(2) == 1 }
    }

    /// Returns a value or `None`.
    pub fn perhaps<T>(&mut self, make: impl Fn(&mut Self) -> T) -> Option<T> {
        (self.below(2) == 1).then(|| make(self))
    }

    fn texts(&mut self) -> Vec<String> {
        let count = self.below(4);
        iter::repeat_with(|| self.text()).take(count).collect()
    }

    fn word(&mut self) -> u32 {
        let [a, b, c, d, ..] = self.number().to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }

    /// Returns any number except NaN, which equals nothing.
    fn single(&mut self) -> f32 {
        let number = f32::from_bits(self.word());
        if number.is_nan() { -0.0 } else { number }
    }

    fn double(&mut self) -> f64 {
        let number = f64::from_bits(self.number());
        if number.is_nan() { f64::NEG_INFINITY } else { number }
    }

    /// Advances the xorshift generator.
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

fn low(word: u32) -> u16 {
    let [a, b, ..] = word.to_le_bytes();
    u16::from_le_bytes([a, b])
}
