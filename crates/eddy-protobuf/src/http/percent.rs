//! Percent-encoding.

/// Treatment of characters with a special meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    /// One path segment.
    Segment,
    /// Several segments: an encoded slash stays encoded, since it would otherwise separate segments.
    Segments,
    /// A query, where `+` is a space.
    Query,
}

/// Returns the decoded text; `None` if it is malformed or not UTF-8.
pub(super) fn decode(text: &[u8], within: Within) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, behind)) = rest.split_first() {
        rest = behind;
        match byte {
            b'%' => {
                let ([high, low], behind) = rest.split_first_chunk::<2>()?;
                let value = hex(*high)? << 4 | hex(*low)?;
                if value == b'/' && within == Within::Segments {
                    out.extend_from_slice(&[b'%', *high, *low]);
                } else {
                    out.push(value);
                }
                rest = behind;
            }
            b'+' if within == Within::Query => out.push(b' '),
            _ => out.push(*byte),
        }
    }
    String::from_utf8(out).ok()
}

fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_encoding_is_decoded_once() {
        let check = |text: &str, within, expected: Option<&str>| {
            assert_eq!(decode(text.as_bytes(), within).as_deref(), expected, "{text}");
        };
        check("a%20b+c", Within::Query, Some("a b c"));
        check("a%2Fb+c", Within::Segment, Some("a/b+c"));
        check("a%2fb/%63", Within::Segments, Some("a%2fb/c"));
        check("%2541", Within::Segment, Some("%41"));
        for bad in ["%", "%4", "%zz", "%ff", "a%c3"] {
            check(bad, Within::Segment, None);
        }
    }
}
