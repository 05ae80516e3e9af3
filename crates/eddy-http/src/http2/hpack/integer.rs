//! HPACK integers with a prefix in the first byte, and the error of the decoder.

/// Invalid compressed fields; further blocks cannot be decoded either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Unreadable;

/// Maximum continuation bytes: no valid use needs more than 28 bits.
const MORE_BYTES_MAX: u32 = 4;

/// Decodes an integer whose prefix is the low `bits` of the first byte; returns it and the bytes after it.
///
/// # Spec
/// RFC 7541 §5.1
pub(super) fn read(bytes: &[u8], bits: u32) -> Result<(usize, &[u8]), Unreadable> {
    let (first, mut rest) = bytes.split_first().ok_or(Unreadable)?;
    let mask = (1_usize << bits) - 1;
    let mut number = usize::from(*first) & mask;
    if number < mask {
        return Ok((number, rest));
    }
    for place in 0..MORE_BYTES_MAX {
        let (byte, after) = rest.split_first().ok_or(Unreadable)?;
        rest = after;
        number += usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Ok((number, rest));
        }
    }
    Err(Unreadable)
}

/// Encodes an integer after the high bits of `first`.
pub(super) fn write(out: &mut Vec<u8>, first: u8, bits: u32, number: usize) {
    let mask = (1_usize << bits) - 1;
    if number < mask {
        out.push(first | low(number));
        return;
    }
    out.push(first | low(mask));
    let mut rest = number - mask;
    while rest >= 0x80 {
        out.push(low(rest & 0x7f) | 0x80);
        rest >>= 7;
    }
    out.push(low(rest));
}

#[expect(clippy::cast_possible_truncation, reason = "the callers mask")]
fn low(number: usize) -> u8 {
    number as u8
}
