//! Strings: escapes and UTF-8.

use crate::fault::ProtobufErrorKind;
use crate::wire::{PiecePosition, Utf8Chunk, valid_chunk};

/// Returns the number of leading ASCII bytes that need no escape in a JSON string.
#[inline]
pub(in crate::json) fn plain_len(bytes: &[u8]) -> usize {
    let mut at = 0;
    // Long text in blocks that the compiler vectorizes.
    for chunk in bytes.as_chunks::<WIDE_BYTES>().0 {
        if chunk.iter().fold(false, |any, byte| any | is_special(*byte)) {
            break;
        }
        at += WIDE_BYTES;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    for chunk in rest.as_chunks::<8>().0 {
        let special = special_bits(u64::from_le_bytes(*chunk));
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    match bytes.last_chunk::<8>() {
        // The bytes of it that were already checked are plain.
        Some(last) if at < bytes.len() => match special_bits(u64::from_le_bytes(*last)) {
            0 => bytes.len(),
            special => bytes.len() - 8 + special.trailing_zeros() as usize / 8,
        },
        Some(_) => at,
        None => bytes.iter().position(|byte| is_special(*byte)).unwrap_or(bytes.len()),
    }
}

/// Returns the high bit of each byte that is a control character, a quote, a backslash or not ASCII. Only the lowest
/// set bit is reliable.
#[inline]
fn special_bits(word: u64) -> u64 {
    let below = |limit: u64| word.wrapping_sub(ONES * limit) & !word;
    let equal = |byte: u64| {
        let other = word ^ (ONES * byte);
        other.wrapping_sub(ONES) & !other
    };
    (word | below(0x20) | equal(0x22) | equal(0x5c)) & (ONES << 7)
}

#[inline]
fn is_special(byte: u8) -> bool {
    // Non-ASCII bytes are negative here: one comparison covers both.
    byte.cast_signed() < 0x20 || byte == b'"' || byte == b'\\'
}

/// Appends text with JSON escapes; returns how many bytes were consumed: everything except an incomplete character at
/// the end, if more follows.
///
/// # Errors
/// The position of a byte that is not UTF-8.
#[inline]
pub(in crate::json) fn write_escaped(
    out: &mut Vec<u8>,
    text: &[u8],
    position: PiecePosition,
) -> Result<usize, usize> {
    let plain = plain_len(text);
    if plain == text.len() {
        out.extend_from_slice(text);
        return Ok(plain);
    }
    write_special(out, text, position)
}

/// Appends text as a quoted JSON string.
pub(crate) fn write_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    // A `str` is completely UTF-8, so this does not fail.
    let _ = write_escaped(out, text.as_bytes(), PiecePosition::Last);
    out.push(b'"');
}

fn write_special(out: &mut Vec<u8>, text: &[u8], position: PiecePosition) -> Result<usize, usize> {
    let whole = match valid_chunk(text, position) {
        Utf8Chunk::Valid(bytes) => bytes,
        Utf8Chunk::Invalid(place) => return Err(place),
    };
    let mut from = 0;
    let text = text.get(..whole).unwrap_or_default();
    for (at, byte) in text.iter().enumerate() {
        if *byte < 0x20 || *byte == b'"' || *byte == b'\\' {
            out.extend_from_slice(text.get(from..at).unwrap_or_default());
            write_escape(out, *byte);
            from = at + 1;
        }
    }
    out.extend_from_slice(text.get(from..).unwrap_or_default());
    Ok(whole)
}

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x09 => b't',
        0x0a => b'n',
        0x0c => b'f',
        0x0d => b'r',
        _ => {
            let digit = |value: u8| if value < 10 { b'0' + value } else { b'a' + value - 10 };
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 15)]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Appends the decoded text of a JSON string without its quotes.
///
/// # Errors
/// Position and kind of the error.
pub(in crate::json) fn unescape(out: &mut Vec<u8>, string: &[u8]) -> Result<(), (usize, ProtobufErrorKind)> {
    if let Utf8Chunk::Invalid(place) = valid_chunk(string, PiecePosition::Last) {
        return Err((place, ProtobufErrorKind::Utf8));
    }
    let mut at = 0;
    while let Some(rest) = string.get(at..).filter(|rest| !rest.is_empty()) {
        let plain = rest.iter().position(|byte| *byte == b'\\' || *byte < 0x20).unwrap_or(rest.len());
        out.extend_from_slice(rest.get(..plain).unwrap_or_default());
        at += plain;
        match rest.get(plain..) {
            Some([b'\\', escape @ ..]) => {
                at += read_escape(out, escape).ok_or((at, ProtobufErrorKind::JsonEscape))?
            }
            Some([_, ..]) => return Err((at, ProtobufErrorKind::JsonSyntax)),
            Some([]) | None => {}
        }
    }
    Ok(())
}

/// Appends the decoded escape; returns its length including the backslash.
fn read_escape(out: &mut Vec<u8>, escape: &[u8]) -> Option<usize> {
    let simple = match escape.first()? {
        byte @ (b'"' | b'\\' | b'/') => *byte,
        b'b' => 0x08,
        b't' => 0x09,
        b'n' => 0x0a,
        b'f' => 0x0c,
        b'r' => 0x0d,
        b'u' => return read_unicode(out, escape.get(1..)?),
        _ => return None,
    };
    out.push(simple);
    Some(2)
}

fn read_unicode(out: &mut Vec<u8>, digits: &[u8]) -> Option<usize> {
    let first = read_hex(digits)?;
    let (code, bytes) = match first {
        0xd800..0xdc00 => {
            let (b"\\u", second) = digits.get(4..)?.split_at_checked(2)? else { return None };
            let second = read_hex(second)?;
            if !(0xdc00..0xe000).contains(&second) {
                return None;
            }
            (0x10000 + ((first - 0xd800) << 10 | (second - 0xdc00)), 12)
        }
        _ => (first, 6),
    };
    let letter = char::from_u32(code)?;
    out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
    Some(bytes)
}

fn read_hex(digits: &[u8]) -> Option<u32> {
    let digits = digits.get(..4)?;
    digits.iter().try_fold(0, |code, digit| Some(code << 4 | char::from(*digit).to_digit(16)?))
}

const ONES: u64 = 0x0101_0101_0101_0101;
/// Two of the smallest vectors of 64-bit machines.
const WIDE_BYTES: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(text: &[u8]) -> Result<String, usize> {
        let mut out = Vec::new();
        write_escaped(&mut out, text, PiecePosition::Last).map(|_| String::from_utf8(out).unwrap())
    }

    #[test]
    fn escapes_are_those_of_json() {
        assert_eq!(escaped(b"plain text").unwrap(), "plain text");
        assert_eq!(escaped("a\"b\\c\n\u{1}\u{7f}é".as_bytes()).unwrap(), "a\\\"b\\\\c\\n\\u0001\u{7f}é");
        assert_eq!(escaped(b"0123456789\xff"), Err(10));
    }

    #[test]
    fn every_special_byte_is_found_at_every_position() {
        for byte in 0..=255_u8 {
            let is_special = !(0x20..0x80).contains(&byte) || byte == b'"' || byte == b'\\';
            for length in [1, 3, 7, 8, 9, 20, 31, 32, 33, 75] {
                for place in 0..length {
                    let mut text = vec![b'x'; length];
                    text[place] = byte;
                    let expected = if is_special { place } else { length };
                    assert_eq!(plain_len(&text), expected, "{byte} at {place} of {length}");
                }
            }
        }
    }

    #[test]
    fn escaped_text_round_trips() {
        for text in ["", "plain", "\u{0}\u{1f}\"\\/\u{8}\u{c}\r\t\n", "日本語 𝄞 é"] {
            let mut back = Vec::new();
            unescape(&mut back, escaped(text.as_bytes()).unwrap().as_bytes()).unwrap();
            assert_eq!(back, text.as_bytes());
        }
    }

    #[test]
    fn invalid_escapes_report_their_position() {
        let check = |string: &[u8], expected| assert_eq!(unescape(&mut Vec::new(), string), Err(expected));
        check(b"ab\\x", (2, ProtobufErrorKind::JsonEscape));
        check(b"ab\\", (2, ProtobufErrorKind::JsonEscape));
        check(b"\\u12", (0, ProtobufErrorKind::JsonEscape));
        check(b"\\ud800", (0, ProtobufErrorKind::JsonEscape));
        check(b"\\ud800\\u0041", (0, ProtobufErrorKind::JsonEscape));
        check(b"\\udc00", (0, ProtobufErrorKind::JsonEscape));
        check(b"a\nb", (1, ProtobufErrorKind::JsonSyntax));
        check(b"abc\xc3", (3, ProtobufErrorKind::Utf8));
        let mut out = Vec::new();
        unescape(&mut out, b"\\ud834\\udd1e\\u00e9").unwrap();
        assert_eq!(out, "𝄞é".as_bytes());
    }
}
