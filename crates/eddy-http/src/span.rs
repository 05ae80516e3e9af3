//! Position of a part of a message in its bytes.

/// A range of bytes in a buffer that is stored elsewhere.
///
/// Filters read it in place, so its layout is that of `eddy_span` in `abi/eddy_filter.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Span {
    /// Index of the first byte.
    pub start: u32,
    /// Index after the last byte.
    pub end: u32,
}

impl Span {
    /// Creates the span from `start` up to, not including, `end`.
    #[inline]
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: narrow(start), end: narrow(end) }
    }

    /// Returns the bytes of the span.
    ///
    /// # Panics
    /// When the span is outside of `bytes`, which are not those that it was made for: a missing path, host or value
    /// would be treated as an empty one.
    #[inline]
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        bytes
            .get(self.start as usize..self.end as usize)
            .expect("a span is used with the bytes that it was made for")
    }

    /// Returns the length, bytes.
    #[inline]
    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }

    /// Whether the span is empty.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }
}

#[inline]
fn narrow(index: usize) -> u32 {
    u32::try_from(index).expect("heads and bodies are limited to fewer bytes than `u32` counts")
}

#[cfg(test)]
mod tests {
    use super::Span;

    #[test]
    fn a_span_locates_a_part_of_its_bytes() {
        let bytes = b"abcdef";
        assert_eq!(Span::new(1, 3).of(bytes), b"bc");
        assert_eq!(Span::new(6, 6).of(bytes), b"");
        assert_eq!(Span { start: 5, end: 2 }.len(), 0);
        assert!(Span::default().is_empty() && Span::default().of(b"").is_empty());
    }

    #[test]
    fn a_span_of_other_bytes_is_not_taken_for_an_empty_one() {
        for span in [Span::new(4, 9), Span::new(7, 7), Span { start: 5, end: 2 }] {
            assert!(std::panic::catch_unwind(|| span.of(b"abcdef").len()).is_err(), "{span:?}");
        }
    }
}
