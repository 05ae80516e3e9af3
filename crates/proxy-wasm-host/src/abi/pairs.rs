//! Serialized header maps in a module's memory.
//!
//! The format is a count, then the lengths of each key and value, then each key and value followed by a zero byte. All
//! numbers have four bytes, little-endian.

use thiserror::Error;

/// Pairs of a serialized map that a module wrote, read in place.
#[derive(Debug, Clone)]
pub struct Pairs<'a> {
    lengths: &'a [u8],
    contents: &'a [u8],
}

/// Error in a serialized map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PairsError {
    /// The map is longer than allowed.
    #[error("a map has {bytes} bytes; at most {max} are allowed")]
    Bytes {
        /// Length of the map.
        bytes: usize,
        /// Maximum length.
        max: usize,
    },
    /// The map has more pairs than allowed.
    #[error("a map has {pairs} pairs; at most {max} are allowed")]
    Count {
        /// Number of pairs that the map announces.
        pairs: usize,
        /// Maximum number of pairs.
        max: usize,
    },
    /// A length reaches beyond the end of the map, or a terminating zero byte is missing.
    #[error("the lengths in a map do not fit its contents")]
    Lengths,
}

impl<'a> Pairs<'a> {
    /// Empty map.
    pub const EMPTY: Self = Self { lengths: &[], contents: &[] };

    /// Checks a serialized map. No bytes and a single zero byte are an empty map.
    ///
    /// # Errors
    /// The map has too many bytes or pairs, or its lengths do not match its contents.
    pub fn parse(bytes: &'a [u8], bytes_max: usize, pairs_max: usize) -> Result<Self, PairsError> {
        if bytes.len() > bytes_max {
            return Err(PairsError::Bytes { bytes: bytes.len(), max: bytes_max });
        }
        if bytes.is_empty() || bytes == [0] {
            return Ok(Self::EMPTY);
        }
        let (count, rest) = number(bytes).ok_or(PairsError::Lengths)?;
        if count > pairs_max {
            return Err(PairsError::Count { pairs: count, max: pairs_max });
        }
        let lengths_len = count.checked_mul(8).ok_or(PairsError::Lengths)?;
        let (lengths, contents) = rest.split_at_checked(lengths_len).ok_or(PairsError::Lengths)?;
        let pairs = Self { lengths, contents };
        pairs.check()?;
        Ok(pairs)
    }

    /// Checks that each pair is complete and terminated by zero bytes.
    fn check(&self) -> Result<(), PairsError> {
        let mut rest = self.clone();
        while !rest.lengths.is_empty() {
            rest.step().ok_or(PairsError::Lengths)?;
        }
        Ok(())
    }

    fn step(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        let (key_len, rest) = number(self.lengths)?;
        let (value_len, lengths) = number(rest)?;
        let (key, contents) = text(self.contents, key_len)?;
        let (value, contents) = text(contents, value_len)?;
        (self.lengths, self.contents) = (lengths, contents);
        Some((key, value))
    }

    /// Returns the first value with this name, compared case-insensitively.
    pub fn get(&self, name: &[u8]) -> Option<&'a [u8]> {
        self.clone().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

impl<'a> Iterator for Pairs<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        self.step()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let pairs = self.lengths.len() / 8;
        (pairs, Some(pairs))
    }
}

impl ExactSizeIterator for Pairs<'_> {}

fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (first, rest) = bytes.split_first_chunk::<4>()?;
    Some((usize::try_from(u32::from_le_bytes(*first)).ok()?, rest))
}

fn text(bytes: &[u8], len: usize) -> Option<(&[u8], &[u8])> {
    let (text, rest) = bytes.split_at_checked(len)?;
    let (end, rest) = rest.split_first()?;
    (*end == 0).then_some((text, rest))
}

/// Size of a map to be written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PairsSize {
    /// Number of pairs.
    pub(crate) pairs: usize,
    /// Total bytes of keys and values.
    contents: usize,
}

impl PairsSize {
    /// Adds a pair.
    pub(crate) fn add(&mut self, key: &[u8], value: &[u8]) {
        self.pairs += 1;
        self.contents = self.contents.saturating_add(key.len()).saturating_add(value.len());
    }

    /// Returns the total size of the serialized map in bytes.
    pub(crate) fn bytes(self) -> usize {
        self.contents.saturating_add(self.pairs.saturating_mul(10)).saturating_add(4)
    }
}

/// Writer of a map of known size into a buffer of exactly that size.
pub(crate) struct PairsWriter<'a> {
    lengths: &'a mut [u8],
    contents: &'a mut [u8],
    is_whole: bool,
}

impl<'a> PairsWriter<'a> {
    /// Begins a map; `None` if the buffer does not have its size.
    pub(crate) fn new(room: &'a mut [u8], size: PairsSize) -> Option<Self> {
        if room.len() != size.bytes() {
            return None;
        }
        let (count, rest) = room.split_first_chunk_mut::<4>()?;
        *count = u32::try_from(size.pairs).ok()?.to_le_bytes();
        let (lengths, contents) = rest.split_at_mut_checked(size.pairs.checked_mul(8)?)?;
        Some(Self { lengths, contents, is_whole: true })
    }

    /// Adds a pair; a pair that does not fit makes the map invalid.
    pub(crate) fn add(&mut self, key: &[u8], value: &[u8]) {
        self.is_whole &= self.write(key, value).is_some();
    }

    fn write(&mut self, key: &[u8], value: &[u8]) -> Option<()> {
        put(&mut self.lengths, &u32::try_from(key.len()).ok()?.to_le_bytes())?;
        put(&mut self.lengths, &u32::try_from(value.len()).ok()?.to_le_bytes())?;
        for text in [key, value] {
            put(&mut self.contents, text)?;
            put(&mut self.contents, &[0])?;
        }
        Some(())
    }

    /// Whether exactly the announced pairs were added.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole && self.lengths.is_empty() && self.contents.is_empty()
    }
}

fn put(room: &mut &mut [u8], bytes: &[u8]) -> Option<()> {
    let (first, rest) = std::mem::take(room).split_at_mut_checked(bytes.len())?;
    first.copy_from_slice(bytes);
    *room = rest;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The map {a: 1, b: 22}.
    const TWO: &[u8] = b"\x02\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\x02\0\0\0a\x001\0b\x0022\0";

    fn parse(bytes: &[u8]) -> Result<Vec<[&[u8]; 2]>, PairsError> {
        Pairs::parse(bytes, 100, 3).map(|pairs| pairs.map(|(key, value)| [key, value]).collect())
    }

    #[test]
    fn pairs_are_read_in_order() {
        assert_eq!(parse(TWO), Ok(vec![[&b"a"[..], b"1"], [b"b", b"22"]]));
        assert_eq!(Pairs::parse(TWO, 100, 3).unwrap().get(b"B"), Some(&b"22"[..]));
        assert_eq!(Pairs::parse(TWO, 100, 3).unwrap().get(b"c"), None);
    }

    #[test]
    fn an_empty_map_has_three_forms() {
        for form in [&b""[..], b"\0", b"\0\0\0\0"] {
            assert_eq!(parse(form), Ok(Vec::new()));
        }
    }

    #[test]
    fn every_truncation_is_detected() {
        for len in 2..TWO.len() {
            assert_eq!(parse(&TWO[..len]), Err(PairsError::Lengths), "after {len} bytes");
        }
    }

    #[test]
    fn every_corruption_is_detected() {
        for place in 0..20 {
            let mut bytes = TWO.to_vec();
            bytes[place] ^= 0x40;
            assert!(parse(&bytes).is_err(), "at {place}");
        }
        for place in [21, 23, 25, 28] {
            let mut bytes = TWO.to_vec();
            bytes[place] = b'!';
            assert_eq!(parse(&bytes), Err(PairsError::Lengths), "at {place}");
        }
    }

    #[test]
    fn limits_are_respected() {
        assert_eq!(Pairs::parse(TWO, 28, 3).unwrap_err(), PairsError::Bytes { bytes: 29, max: 28 });
        assert_eq!(Pairs::parse(TWO, 29, 1).unwrap_err(), PairsError::Count { pairs: 2, max: 1 });
    }

    #[test]
    fn written_pairs_are_read_back() {
        let mut size = PairsSize::default();
        size.add(b"a", b"1");
        size.add(b"b", b"22");
        let mut room = vec![0xff; size.bytes()];
        let mut writer = PairsWriter::new(&mut room, size).unwrap();
        writer.add(b"a", b"1");
        assert!(!writer.is_whole());
        writer.add(b"b", b"22");
        assert!(writer.is_whole());
        writer.add(b"c", b"");
        assert!(!writer.is_whole(), "more than was announced");
        assert_eq!(room, TWO);
    }

    #[test]
    fn a_map_that_changed_since_it_was_measured_is_incomplete() {
        let mut size = PairsSize::default();
        size.add(b"a", b"1");
        let mut room = vec![0; size.bytes()];
        let mut writer = PairsWriter::new(&mut room, size).unwrap();
        writer.add(b"a", b"12");
        assert!(!writer.is_whole());
        assert!(PairsWriter::new(&mut [0; 3], size).is_none());
    }
}
