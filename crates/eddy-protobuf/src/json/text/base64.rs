//! Base64: written with padding in the standard alphabet; read in that or the URL-safe alphabet, with or without
//! padding.

/// Appends the Base64 encoding of bytes. All pieces but the last must have a length divisible by three.
pub fn write_base64(out: &mut Vec<u8>, bytes: &[u8]) {
    let (groups, rest) = bytes.as_chunks::<3>();
    let start = out.len();
    out.reserve(bytes.len().div_ceil(3) * 4);
    out.resize(start + groups.len() * 4, 0);
    let places = out[start..].as_chunks_mut::<4>().0;
    for (place, [one, two, three]) in places.iter_mut().zip(groups) {
        let bits = u32::from(*one) << 16 | u32::from(*two) << 8 | u32::from(*three);
        *place = [letter(bits >> 18), letter(bits >> 12), letter(bits >> 6), letter(bits)];
    }
    match rest {
        [one] => {
            let bits = u32::from(*one) << 16;
            out.extend_from_slice(&[letter(bits >> 18), letter(bits >> 12), b'=', b'=']);
        }
        [one, two] => {
            let bits = u32::from(*one) << 16 | u32::from(*two) << 8;
            out.extend_from_slice(&[letter(bits >> 18), letter(bits >> 12), letter(bits >> 6), b'=']);
        }
        _ => {}
    }
}

#[inline]
fn letter(bits: u32) -> u8 {
    ALPHABET[bits as usize & 63]
}

/// Appends the decoded bytes; returns `None` if the text is not Base64.
pub fn decode_base64(out: &mut Vec<u8>, text: &[u8]) -> Option<()> {
    let padding = text.iter().rev().take_while(|byte| **byte == b'=').count();
    // With padding, the length is a multiple of four.
    if padding > 2 || padding > 0 && !text.len().is_multiple_of(4) {
        return None;
    }
    let letters = text.get(..text.len() - padding)?;
    let (groups, rest) = letters.as_chunks::<4>();
    let start = out.len();
    out.reserve(letters.len() / 4 * 3 + 2);
    out.resize(start + groups.len() * 3, 0);
    let mut seen = 0;
    let places = out.get_mut(start..)?.as_chunks_mut::<3>().0;
    for (place, group) in places.iter_mut().zip(groups) {
        let [one, two, three, four] = group.map(value);
        seen |= one | two | three | four;
        let [one, two, three, four] = [one, two, three, four].map(|value| u32::from(value & LETTER));
        let bits = one << 18 | two << 12 | three << 6 | four;
        let [_, first, second, third] = bits.to_be_bytes();
        *place = [first, second, third];
    }
    let mut values = [0; 3];
    for (place, letter) in values.iter_mut().zip(rest) {
        *place = value(*letter);
    }
    let [one, two, three] = values;
    seen |= one | two | three;
    // A text uses one alphabet; an invalid character has the marks of both.
    if seen & OF_BOTH == OF_BOTH || rest.len() == 1 {
        return None;
    }
    let [one, two, three] = values.map(|value| u32::from(value & LETTER));
    let [_, first, second, _] = (one << 18 | two << 12 | three << 6).to_be_bytes();
    out.extend_from_slice([first, second].get(..rest.len().saturating_sub(1))?);
    Some(())
}

#[inline]
fn value(letter: u8) -> u8 {
    VALUES.get(usize::from(letter)).copied().unwrap_or(NO_VALUE)
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// The bits of a character's value.
const LETTER: u8 = 63;
/// Marks characters that only the standard alphabet has.
const OF_STANDARD: u8 = 0x40;
/// Marks characters that only the URL-safe alphabet has.
const OF_URL: u8 = 0x80;
const OF_BOTH: u8 = OF_STANDARD | OF_URL;
/// All bits, so that it remains visible in any combination.
const NO_VALUE: u8 = 0xff;
const VALUES: [u8; 256] = values();

#[expect(clippy::cast_possible_truncation, reason = "below 64")]
const fn values() -> [u8; 256] {
    let mut values = [NO_VALUE; 256];
    let mut at = 0;
    while at < 64 {
        values[ALPHABET[at] as usize] = at as u8;
        at += 1;
    }
    values[b'+' as usize] = 62 | OF_STANDARD;
    values[b'/' as usize] = 63 | OF_STANDARD;
    values[b'-' as usize] = 62 | OF_URL;
    values[b'_' as usize] = 63 | OF_URL;
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        decode_base64(&mut out, text).map(|()| out)
    }

    #[test]
    fn written_values_are_read_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        for length in 0..bytes.len() {
            let mut text = Vec::new();
            write_base64(&mut text, &bytes[..length]);
            assert_eq!(decoded(&text).unwrap(), bytes[..length]);
            let bare: Vec<u8> = text.iter().copied().filter(|byte| *byte != b'=').collect();
            assert_eq!(decoded(&bare).unwrap(), bytes[..length]);
        }
    }

    #[test]
    fn either_alphabet_is_read_and_nothing_else() {
        assert_eq!(decoded(b"-_8="), decoded(b"+/8="));
        assert_eq!(decoded(b"-_8AAAA="), decoded(b"+/8AAAA="));
        for text in ["-/8=", "+_8=", "-AAAA+8=", "AAAA+AAAAA-="] {
            assert_eq!(decoded(text.as_bytes()), None, "{text}");
        }
        assert_eq!(decoded(b"-_"), Some(vec![0xfb]));
        for text in ["A", "AA=", "A===", "====", "AA=A", "AAAA=", "A A=", "AA*A", "AAAAA"] {
            assert_eq!(decoded(text.as_bytes()), None, "{text}");
        }
    }
}
