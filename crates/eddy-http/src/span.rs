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

    /// Returns the bytes of the span; empty when it is outside of `bytes`.
    #[inline]
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start as usize..self.end as usize).unwrap_or_default()
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

/// Heads are limited to fewer bytes than `u32` counts; a larger index becomes one outside of any buffer.
#[inline]
fn narrow(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::Span;

    #[test]
    fn a_span_outside_of_its_bytes_is_empty() {
        let bytes = b"abcdef";
        assert_eq!(Span::new(1, 3).of(bytes), b"bc");
        assert_eq!(Span::new(4, 9).of(bytes), b"");
        assert_eq!(Span { start: 5, end: 2 }.of(bytes), b"");
        assert_eq!(Span { start: 5, end: 2 }.len(), 0);
        assert!(Span::default().is_empty());
        assert_eq!(Span::new(usize::MAX, usize::MAX).of(bytes), b"");
    }
}
