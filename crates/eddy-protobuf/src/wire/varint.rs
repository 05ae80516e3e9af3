//! Varints and tags.

use super::{FIXED32, FIXED64, GROUP_END, LENGTH, NUMBER_MAX, VARINT};
use crate::fault::ProtobufErrorKind;

/// Result of reading from the front of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WireRead<T> {
    /// A value and its length in bytes.
    Done(T, usize),
    /// The bytes end within the value.
    More,
}

/// Reads a varint from the front of `bytes`.
///
/// # Errors
/// [`ProtobufErrorKind::VarintTooLong`] with more than ten bytes, or a tenth above 1.
#[inline]
pub(crate) fn read_varint(bytes: &[u8]) -> Result<WireRead<u64>, ProtobufErrorKind> {
    match bytes {
        [first, ..] if *first < 0x80 => Ok(WireRead::Done(u64::from(*first), 1)),
        [first, second, ..] if *second < 0x80 => {
            Ok(WireRead::Done(u64::from(*first & 0x7f) | u64::from(*second) << 7, 2))
        }
        _ => read_long(bytes),
    }
}

/// Reads the value after a tag, or an element of a packed list; for a length-delimited value its length. Groups have no
/// value.
///
/// # Errors
/// [`ProtobufErrorKind::VarintTooLong`]; [`ProtobufErrorKind::WireType`] for groups.
#[inline]
pub(crate) fn read_value(wire_type: u8, bytes: &[u8]) -> Result<WireRead<u64>, ProtobufErrorKind> {
    Ok(match wire_type {
        VARINT | LENGTH => return read_varint(bytes),
        FIXED64 => match bytes.first_chunk::<8>() {
            Some(bytes) => WireRead::Done(u64::from_le_bytes(*bytes), 8),
            None => WireRead::More,
        },
        FIXED32 => match bytes.first_chunk::<4>() {
            Some(bytes) => WireRead::Done(u64::from(u32::from_le_bytes(*bytes)), 4),
            None => WireRead::More,
        },
        _ => return Err(ProtobufErrorKind::WireType),
    })
}

fn read_long(bytes: &[u8]) -> Result<WireRead<u64>, ProtobufErrorKind> {
    if let Some(word) = bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)) {
        // The first byte without a continuation bit.
        let last = !word & (ONES << 7);
        if last != 0 {
            let value = word & (last ^ (last - 1));
            return Ok(WireRead::Done(join(value), last.trailing_zeros() as usize / 8 + 1));
        }
    }
    let mut value = 0_u64;
    for (place, byte) in bytes.iter().take(VARINT_BYTES_MAX).enumerate() {
        if place == VARINT_BYTES_MAX - 1 && *byte > 1 {
            return Err(ProtobufErrorKind::VarintTooLong);
        }
        value |= u64::from(byte & 0x7f) << (7 * place);
        if *byte < 0x80 {
            return Ok(WireRead::Done(value, place + 1));
        }
    }
    Ok(WireRead::More)
}

/// Joins the low seven bits of eight bytes: pairs of bytes, pairs of those, and both halves.
#[inline]
fn join(bytes: u64) -> u64 {
    let pairs = bytes & 0x007f_007f_007f_007f | (bytes & 0x7f00_7f00_7f00_7f00) >> 1;
    let fours = pairs & 0x0000_ffff_0000_ffff | (pairs & 0xffff_0000_ffff_0000) >> 2;
    fours & 0xffff_ffff | fours >> 32 << 28
}

/// Returns the field number of a decoded tag.
///
/// # Errors
/// [`ProtobufErrorKind::FieldNumber`] if the number is 0 or too large, [`ProtobufErrorKind::WireType`] if the wire
/// type does not exist.
#[inline]
pub(crate) fn number_of(tag: u64) -> Result<u32, ProtobufErrorKind> {
    let number = tag >> 3;
    if number == 0 || number > u64::from(NUMBER_MAX) {
        return Err(ProtobufErrorKind::FieldNumber);
    }
    if wire_type_of(tag) > GROUP_END + 1 {
        return Err(ProtobufErrorKind::WireType);
    }
    #[expect(clippy::cast_possible_truncation, reason = "at most NUMBER_MAX, as was just looked at")]
    Ok(number as u32)
}

/// Returns the wire type of a tag.
#[inline]
pub(crate) fn wire_type_of(tag: u64) -> u8 {
    (tag & 7) as u8
}

/// Returns the tag of a field with a wire type.
pub(crate) fn tag_of(number: u32, wire_type: u8) -> u32 {
    number << 3 | u32::from(wire_type)
}

/// Decodes the zigzag encoding of a `sint32` or `sint64`.
#[inline]
pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

const VARINT_BYTES_MAX: usize = 10;
const ONES: u64 = 0x0101_0101_0101_0101;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::write_varint;

    #[test]
    fn varints_are_read_back_with_any_bytes_after_them() {
        for bits in 0..=64_u32 {
            for value in [u64::MAX.checked_shr(64 - bits).unwrap_or(0), 1_u64.checked_shl(bits).unwrap_or(0)]
            {
                let mut bytes = Vec::new();
                write_varint(&mut bytes, value);
                let count = bytes.len();
                for behind in [&[][..], &[0xff; 12], &[0; 12], &[0x80; 3]] {
                    let all = [&bytes, behind].concat();
                    assert_eq!(read_varint(&all), Ok(WireRead::Done(value, count)), "{value} {behind:?}");
                }
                for cut in 0..count {
                    assert_eq!(read_varint(&bytes[..cut]), Ok(WireRead::More), "{value} cut to {cut}");
                }
            }
        }
    }

    #[test]
    fn more_than_64_bits_are_refused() {
        let mut bytes = [0xff; 12];
        assert_eq!(read_varint(&bytes), Err(ProtobufErrorKind::VarintTooLong));
        bytes[9] = 1;
        assert_eq!(read_varint(&bytes), Ok(WireRead::Done(u64::MAX, 10)));
        bytes[9] = 2;
        assert_eq!(read_varint(&bytes), Err(ProtobufErrorKind::VarintTooLong));
        // A varint may have more bytes than necessary.
        assert_eq!(read_varint(&[0x81, 0x80, 0x80, 0, 0xff, 0xff, 0xff, 0xff]), Ok(WireRead::Done(1, 4)));
        assert_eq!(read_varint(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0]), Ok(WireRead::Done(0, 8)));
    }
}
