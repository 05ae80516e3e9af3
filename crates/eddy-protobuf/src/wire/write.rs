//! Writes the wire format, with lengths that are known only afterwards.

use super::varint::tag_of;

/// Appends a varint.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low seven bits are what is meant")]
pub(crate) fn write_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a tag.
#[inline]
pub(crate) fn write_tag(out: &mut Vec<u8>, number: u32, wire_type: u8) {
    write_varint(out, u64::from(tag_of(number, wire_type)));
}

/// Appends a length and the bytes.
#[inline]
pub(crate) fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    write_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Returns the number of bytes of a varint.
#[inline]
pub(crate) fn varint_len(value: u64) -> usize {
    (70 - (value | 1).leading_zeros() as usize) / 7
}

/// Reserves one byte for a length; returns the position for [`close_length`].
#[inline]
pub(crate) fn open_length(out: &mut Vec<u8>) -> usize {
    out.push(0);
    out.len()
}

/// Writes the length of everything since [`open_length`], and makes room if it needs more than one byte.
///
/// # Cost
/// A copy of the content if it has 128 bytes or more.
#[inline]
pub(crate) fn close_length(out: &mut Vec<u8>, start: usize) {
    let length = out.len() - start;
    if length < 0x80
        && let Some(place) = out.get_mut(start - 1)
    {
        #[expect(clippy::cast_possible_truncation, reason = "below 128")]
        {
            *place = length as u8;
        }
        return;
    }
    insert_length(out, start - 1, 1, length as u64);
}

/// Replaces `room` bytes at `at` by the varint `length`.
fn insert_length(out: &mut Vec<u8>, at: usize, room: usize, length: u64) {
    let mut varint = [0_u8; 10];
    let bytes = varint_len(length);
    let mut left = length;
    for place in varint.iter_mut().take(bytes) {
        #[expect(clippy::cast_possible_truncation, reason = "the low seven bits are what is meant")]
        {
            *place = left as u8 | 0x80;
        }
        left >>= 7;
    }
    if let Some(last) = varint.get_mut(bytes - 1) {
        *last &= 0x7f;
    }
    let content = at + room;
    let end = out.len();
    out.resize(end + bytes - room, 0);
    out.copy_within(content..end, at + bytes);
    if let (Some(place), Some(varint)) = (out.get_mut(at..at + bytes), varint.get(..bytes)) {
        place.copy_from_slice(varint);
    }
}
