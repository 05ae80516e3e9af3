//! Percent-encoding compatible with NGINX.

/// Kind of text to encode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escape {
    /// Path for an upstream.
    Path,
    /// Part of a path that becomes part of a query.
    Query,
}

impl Escape {
    /// Appends the bytes and percent-encodes those that are not allowed there.
    pub(crate) fn write(self, bytes: &[u8], out: &mut Vec<u8>) {
        for &byte in bytes {
            if self.keeps(byte) {
                out.push(byte);
            } else {
                out.extend_from_slice(&[b'%', digit(byte >> 4), digit(byte & 15)]);
            }
        }
    }

    fn keeps(self, byte: u8) -> bool {
        if !(0x21..0x7f).contains(&byte) {
            return false;
        }
        let is_bad = matches!(
            byte,
            b'"' | b'#' | b'%' | b'<' | b'>' | b'?' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}'
        );
        match self {
            Self::Path => !is_bad,
            Self::Query => !is_bad && !matches!(byte, b'&' | b'+' | b';'),
        }
    }
}

/// Decodes unnecessary escapes in a redirect address: those of visible bytes above `%`, up to a `?`.
pub(crate) fn unescape_redirect(address: &mut Vec<u8>) {
    let (mut read, mut write) = (0, 0);
    while let Some(&byte) = address.get(read) {
        if byte == b'?' {
            break;
        }
        if byte == b'%'
            && let Some(value) = address.get(read + 1..read + 3).and_then(hex_pair)
        {
            if value == b'?' || (value > b'%' && value < 0x7f) {
                address[write] = value;
                write += 1;
            } else {
                address.copy_within(read..read + 3, write);
                write += 3;
            }
            read += 3;
            if value == b'?' {
                break;
            }
            continue;
        }
        address[write] = byte;
        write += 1;
        read += 1;
    }
    address.drain(write..read);
}

fn hex_pair(digits: &[u8]) -> Option<u8> {
    let [high, low] = digits else { return None };
    Some(crate::normalise::hex_value(*high)? << 4 | crate::normalise::hex_value(*low)?)
}

fn digit(value: u8) -> u8 {
    b"0123456789ABCDEF"[usize::from(value)]
}

#[cfg(test)]
mod tests {
    use super::{Escape, unescape_redirect};

    #[test]
    fn bytes_not_allowed_in_a_component_are_encoded() {
        let written = |escape: Escape| {
            let mut out = Vec::new();
            escape.write("/a b%?#&+;é".as_bytes(), &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(Escape::Path), "/a%20b%25%3F%23&+;%C3%A9");
        assert_eq!(written(Escape::Query), "/a%20b%25%3F%23%26%2B%3B%C3%A9");
    }

    #[test]
    fn an_address_keeps_only_necessary_escapes() {
        for (address, expected) in [
            ("/a%2Fb%20c%25d", "/a/b%20c%25d"),
            ("/a%61?%61", "/aa?%61"),
            ("/a%3f%61", "/a?%61"),
            ("/%zz%4", "/%zz%4"),
        ] {
            let mut bytes = address.as_bytes().to_vec();
            unescape_redirect(&mut bytes);
            assert_eq!(String::from_utf8(bytes).unwrap(), expected);
        }
    }
}
