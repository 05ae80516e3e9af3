//! Base64 with the standard alphabet and its padding (RFC 4648 §4).

/// Decodes `text` into `out` and returns the written bytes, or `None` when `text` is not Base64 or too long for `out`.
pub(crate) fn decode<'o>(text: &[u8], out: &'o mut [u8]) -> Option<&'o [u8]> {
    let (quads, rest) = text.as_chunks::<4>();
    if !rest.is_empty() {
        return None;
    }
    let mut len = 0;
    for (index, quad) in quads.iter().enumerate() {
        let padding = quad.iter().rev().take_while(|byte| **byte == b'=').count();
        if padding > 2 || (padding > 0 && index + 1 != quads.len()) {
            return None;
        }
        let bits =
            quad.iter().take(4 - padding).try_fold(0_u32, |bits, byte| Some(bits << 6 | value(*byte)?))?;
        let [_, bytes @ ..] = (bits << (6 * padding)).to_be_bytes();
        let (bytes, unused) = bytes.split_at(3 - padding);
        // Unused bits must be 0; otherwise several texts would decode to the same bytes.
        if unused.iter().any(|byte| *byte != 0) {
            return None;
        }
        out.get_mut(len..len + bytes.len())?.copy_from_slice(bytes);
        len += bytes.len();
    }
    out.get(..len)
}

fn value(byte: u8) -> Option<u32> {
    match byte {
        b'A'..=b'Z' => Some(u32::from(byte - b'A')),
        b'a'..=b'z' => Some(u32::from(byte - b'a') + 26),
        b'0'..=b'9' => Some(u32::from(byte - b'0') + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}
