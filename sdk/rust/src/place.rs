//! Positions of protobuf field values in a body.

/// Position of a value in a body. For a number only the beginning is known; its length is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Offset in bytes.
    pub offset: usize,
    /// Length in bytes.
    pub length: usize,
}

impl Place {
    /// Returns the value in the body that the position refers to; `None` if it is out of range.
    #[must_use]
    pub fn of(self, body: &[u8]) -> Option<&[u8]> {
        body.get(self.offset..self.offset.checked_add(self.length)?)
    }
}

/// Positions, in the order of the body.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// A list of pairs of numbers, as JSON.
    rest: &'a [u8],
}

impl<'a> Places<'a> {
    pub(crate) fn of_json(text: &'a [u8]) -> Self {
        Self { rest: text }
    }

    fn number(&mut self) -> Option<usize> {
        let end = self.rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        std::str::from_utf8(digits).ok()?.parse().ok()
    }
}

impl Iterator for Places<'_> {
    type Item = Place;

    fn next(&mut self) -> Option<Place> {
        let begin = self.rest.iter().position(u8::is_ascii_digit)?;
        self.rest = &self.rest[begin..];
        let offset = self.number()?;
        self.rest = self.rest.strip_prefix(b",")?;
        let length = self.number()?;
        Some(Place { offset, length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_at_their_offsets() {
        let all = |text: &'static str| {
            Places::of_json(text.as_bytes()).map(|place| (place.offset, place.length)).collect::<Vec<_>>()
        };
        assert_eq!(all("[[9,3],[16,1]]"), [(9, 3), (16, 1)]);
        for text in ["", "[", "[[", "[[4", "[[4,", "[[4,]]", "{}", "[[99999999999999999999999,1]]"] {
            assert_eq!(all(text), [], "{text}");
        }
    }

    #[test]
    fn offsets_outside_the_body_are_not_read() {
        let of = |offset, length| Place { offset, length }.of(b"0123456789");
        assert_eq!(of(2, 3), Some(&b"234"[..]));
        assert_eq!((of(9, 2), of(11, 0), of(usize::MAX, 1), of(1, usize::MAX)), (None, None, None, None));
    }
}
