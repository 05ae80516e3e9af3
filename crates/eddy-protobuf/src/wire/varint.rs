//! Varints and tags.

use super::{GROUP_END, NUMBER_MAX};
use crate::fault::FaultKind;

/// What reading from the front of some bytes came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read<T> {
    /// A value, and how many bytes it has.
    Done(T, usize),
    /// The bytes end within it.
    More,
}

/// Reads a varint from the front of `bytes`.
///
/// # Errors
/// [`FaultKind::VarintTooLong`] with more than ten bytes, or a tenth above 1.
#[inline]
pub(crate) fn read_varint(bytes: &[u8]) -> Result<Read<u64>, FaultKind> {
    match bytes {
        [first, ..] if *first < 0x80 => Ok(Read::Done(u64::from(*first), 1)),
        [first, second, ..] if *second < 0x80 => {
            Ok(Read::Done(u64::from(*first & 0x7f) | u64::from(*second) << 7, 2))
        }
        _ => read_long(bytes),
    }
}

fn read_long(bytes: &[u8]) -> Result<Read<u64>, FaultKind> {
    let mut value = 0_u64;
    for (place, byte) in bytes.iter().take(VARINT_BYTES_MAX).enumerate() {
        if place == VARINT_BYTES_MAX - 1 && *byte > 1 {
            return Err(FaultKind::VarintTooLong);
        }
        value |= u64::from(byte & 0x7f) << (7 * place);
        if *byte < 0x80 {
            return Ok(Read::Done(value, place + 1));
        }
    }
    Ok(Read::More)
}

/// The field number of a tag as read.
///
/// # Errors
/// [`FaultKind::FieldNumber`] of 0 and of what no field can have, [`FaultKind::WireType`] of wire types that don't exist.
#[inline]
pub(crate) fn number_of(tag: u64) -> Result<u32, FaultKind> {
    let number = tag >> 3;
    if number == 0 || number > u64::from(NUMBER_MAX) {
        return Err(FaultKind::FieldNumber);
    }
    if wire_type_of(tag) > GROUP_END + 1 {
        return Err(FaultKind::WireType);
    }
    #[expect(clippy::cast_possible_truncation, reason = "at most NUMBER_MAX, as was just looked at")]
    Ok(number as u32)
}

/// The wire type of a tag.
#[inline]
pub(crate) fn wire_type_of(tag: u64) -> u8 {
    (tag & 7) as u8
}

/// The tag of a field with a wire type.
pub(crate) fn tag_of(number: u32, wire_type: u8) -> u32 {
    number << 3 | u32::from(wire_type)
}

const VARINT_BYTES_MAX: usize = 10;
