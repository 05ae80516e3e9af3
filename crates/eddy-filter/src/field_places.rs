//! Message fields in the metadata: their values, and their positions in the body.
//!
//! The filter `message_fields` writes both, filters in other languages read them. A list of positions is
//! `[[9,3],[16,1]]`: offsets and lengths.

use std::io::Write as _;

use crate::metadata::DynamicMetadata;

/// Position of a value in a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldPlace {
    /// Number of body bytes before the value.
    pub offset: u64,
    /// Length of the value in bytes; 0 if only its beginning is known, as for a number.
    pub length: u64,
}

impl FieldPlace {
    /// Returns the value's bytes in its body; `None` if the body does not contain it.
    pub fn of(self, body: &[u8]) -> Option<&[u8]> {
        let begin = usize::try_from(self.offset).ok()?;
        body.get(begin..begin.checked_add(usize::try_from(self.length).ok()?)?)
    }
}

/// Returns the positions of a field's values, in body order, as stored by `message_fields` with `places`.
///
/// # Cost
/// No allocation.
pub fn field_places<'m>(
    metadata: Option<&'m DynamicMetadata>,
    key: &[u8],
) -> impl Iterator<Item = FieldPlace> + use<'m> {
    let mut rest = noted(metadata, key, PLACES_SUFFIX.as_bytes()).unwrap_or_default();
    std::iter::from_fn(move || {
        let begin = rest.iter().position(u8::is_ascii_digit)?;
        rest = rest.get(begin..)?;
        let offset = take_number(&mut rest)?;
        rest = rest.strip_prefix(b",")?;
        Some(FieldPlace { offset, length: take_number(&mut rest)? })
    })
}

/// Returns the values of a field as JSON, as stored by `message_fields`.
pub fn field_json<'m>(metadata: Option<&'m DynamicMetadata>, key: &[u8]) -> Option<&'m [u8]> {
    noted(metadata, key, b"")
}

fn noted<'m>(metadata: Option<&'m DynamicMetadata>, key: &[u8], suffix: &[u8]) -> Option<&'m [u8]> {
    let is_it = |noted: &[u8]| noted.strip_suffix(suffix) == Some(key);
    metadata?
        .iter()
        .find(|(space, noted, _)| *space == MESSAGE_FIELDS_SPACE && is_it(noted))
        .map(|(_, _, value)| value)
}

fn take_number(rest: &mut &[u8]) -> Option<u64> {
    let end = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, behind) = rest.split_at(end);
    *rest = behind;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Returns the metadata key of the positions of a field's values.
pub fn field_places_key(key: &str) -> String {
    format!("{key}{PLACES_SUFFIX}")
}

/// Appends a list of positions; nothing if it is empty.
pub fn push_field_places(places: impl Iterator<Item = FieldPlace>, out: &mut Vec<u8>) {
    let before = out.len();
    for place in places {
        out.push(if out.len() == before { b'[' } else { b',' });
        // Writing to a vector does not fail.
        let _ = write!(out, "[{},{}]", place.offset, place.length);
    }
    if out.len() > before {
        out.push(b']');
    }
}

/// Metadata namespace of message fields.
pub const MESSAGE_FIELDS_SPACE: &[u8] = b"message_fields";

/// End of the metadata key of positions.
const PLACES_SUFFIX: &str = "_at";

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Vec<(u64, u64)> {
        let mut metadata = DynamicMetadata::new();
        metadata.set(MESSAGE_FIELDS_SPACE, b"x_at", text).unwrap();
        field_places(Some(&metadata), b"x").map(|place| (place.offset, place.length)).collect()
    }

    #[test]
    fn written_values_are_read_back() {
        let places = [(9, 3), (16, 0), (u64::MAX, 1)];
        let mut text = Vec::new();
        push_field_places(
            places.iter().map(|(offset, length)| FieldPlace { offset: *offset, length: *length }),
            &mut text,
        );
        assert_eq!(text, b"[[9,3],[16,0],[18446744073709551615,1]]");
        assert_eq!(read(&text), places);
        text.clear();
        push_field_places(std::iter::empty(), &mut text);
        assert!(text.is_empty() && read(&text).is_empty());
    }

    #[test]
    fn an_invalid_list_of_offsets_is_empty() {
        for text in ["[", "[[", "[[4", "[[4,", "[[4,]]", "{}", "[[99999999999999999999999,1]]"] {
            assert_eq!(read(text.as_bytes()), [], "{text}");
        }
        assert_eq!(field_places(None, b"x").count(), 0);
    }

    #[test]
    fn offsets_outside_the_body_are_not_read() {
        let of = |offset, length| FieldPlace { offset, length }.of(b"0123456789");
        assert_eq!(of(2, 3), Some(&b"234"[..]));
        assert_eq!((of(9, 2), of(11, 0), of(u64::MAX, 1), of(1, u64::MAX)), (None, None, None, None));
    }
}
