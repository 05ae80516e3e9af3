//! Byte classes of the grammar (RFC 9110 §5.5, §5.6.2; RFC 3986 §3.2.2).

/// Whether `byte` is allowed in a token: names of methods and fields.
#[inline]
pub(crate) fn is_tchar(byte: u8) -> bool {
    class(byte) & TCHAR != 0
}

/// Whether `byte` is allowed in a field value: visible, space, tab or `obs-text`.
#[inline]
pub(crate) fn is_text(byte: u8) -> bool {
    class(byte) & TEXT != 0
}

/// Byte classes that all bytes of a name have in common.
pub(crate) struct NameBytes(u8);

impl NameBytes {
    /// Classifies all bytes of a name.
    #[inline]
    pub(crate) fn of(name: &[u8]) -> Self {
        Self(name.iter().fold(TCHAR | PLAIN, |common, &byte| common & class(byte)))
    }

    /// Whether all bytes are allowed in a token.
    pub(crate) fn are_token(&self) -> bool {
        self.0 & TCHAR != 0
    }

    /// Whether all bytes are letters, digits or `-`.
    pub(crate) fn are_plain(&self) -> bool {
        self.0 & PLAIN != 0
    }
}

/// Whether all bytes are allowed in a registered name, except commas, and no label except the last one is empty.
#[inline]
pub(crate) fn is_host_name(name: &[u8]) -> bool {
    // A dot before the name makes an empty first label count as an empty label.
    let mut before = DOT;
    let mut wrong = 0;
    for &byte in name {
        let class = class(byte);
        wrong |= (!class & HOST) | (class & before & DOT);
        before = class;
    }
    wrong == 0
}

/// Whether `byte` is visible ASCII.
#[inline]
pub(crate) fn is_vchar(byte: u8) -> bool {
    byte.is_ascii_graphic()
}

/// Appends a byte in percent-encoding.
pub(crate) fn write_percent(out: &mut Vec<u8>, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.push(b'%');
    out.extend(DIGITS.get(usize::from(byte >> 4)));
    out.extend(DIGITS.get(usize::from(byte & 0xf)));
}

/// Returns the value of a hexadecimal digit.
#[inline]
pub(crate) fn hex_value(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

#[inline]
fn class(byte: u8) -> u8 {
    #[expect(clippy::indexing_slicing, reason = "a table of 256 has a place for every byte")]
    CLASSES[usize::from(byte)]
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
#[expect(clippy::cast_possible_truncation, reason = "the index is below 256")]
const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let byte = index as u8;
        if byte.is_ascii_alphanumeric() {
            table[index] |= TCHAR | HOST | PLAIN;
        }
        if matches!(
            byte,
            b'!' | b'#'
                | b'$'
                | b'%'
                | b'&'
                | b'\''
                | b'*'
                | b'+'
                | b'-'
                | b'.'
                | b'^'
                | b'_'
                | b'`'
                | b'|'
                | b'~'
        ) {
            table[index] |= TCHAR;
        }
        if matches!(byte, b'-' | b'.' | b'_' | b'~')
            || matches!(byte, b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b';' | b'=')
        {
            table[index] |= HOST;
        }
        if byte == b'-' {
            table[index] |= PLAIN;
        }
        if byte == b'.' {
            table[index] |= DOT;
        }
        if byte == b'\t' || (byte >= b' ' && byte != 0x7f) {
            table[index] |= TEXT;
        }
        index += 1;
    }
    table
}

const TCHAR: u8 = 1;
const HOST: u8 = 2;
const TEXT: u8 = 4;
const PLAIN: u8 = 8;
const DOT: u8 = 16;
static CLASSES: [u8; 256] = classes();
