//! Classes and sets of bytes: `%a`, `[^%s,]`.

/// Returns the end of the set whose `[` is at `at`: the position after its `]`.
pub(super) fn set_end(pattern: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1 + usize::from(pattern.get(at + 1) == Some(&b'^'));
    loop {
        // The first byte belongs to the set even if it is a `]`.
        at += if *pattern.get(at)? == b'%' { 2 } else { 1 };
        if *pattern.get(at)? == b']' {
            return Some(at + 1);
        }
    }
}

/// Whether a set contains the byte; `set` is everything from its `[` to its `]`.
pub(super) fn set_has(set: &[u8], byte: u8) -> bool {
    let inner = set.get(1..set.len().saturating_sub(1)).unwrap_or_default();
    match inner.strip_prefix(b"^") {
        Some(others) => !any_has(others, byte),
        None => any_has(inner, byte),
    }
}

fn any_has(mut items: &[u8], byte: u8) -> bool {
    loop {
        let (found, rest) = match items {
            [] => return false,
            [b'%', class, rest @ ..] => (class_has(*class, byte), rest),
            [low, b'-', high, rest @ ..] => ((*low..=*high).contains(&byte), rest),
            [one, rest @ ..] => (*one == byte, rest),
        };
        if found {
            return true;
        }
        items = rest;
    }
}

/// Whether the class with this letter contains the byte; any other character matches itself.
pub(super) fn class_has(letter: u8, byte: u8) -> bool {
    let is_in = match letter.to_ascii_lowercase() {
        b'a' => byte.is_ascii_alphabetic(),
        b'c' => byte.is_ascii_control(),
        b'd' => byte.is_ascii_digit(),
        b'g' => byte.is_ascii_graphic(),
        b'l' => byte.is_ascii_lowercase(),
        b'p' => byte.is_ascii_punctuation(),
        b's' => matches!(byte, b' ' | b'\t'..=b'\r'),
        b'u' => byte.is_ascii_uppercase(),
        b'w' => byte.is_ascii_alphanumeric(),
        b'x' => byte.is_ascii_hexdigit(),
        b'z' => byte == 0,
        _ => return letter == byte,
    };
    is_in != letter.is_ascii_uppercase()
}
