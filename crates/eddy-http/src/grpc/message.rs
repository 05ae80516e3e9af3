//! The `grpc-message` field: the readable description of a call's status.

use crate::octet::write_percent;

/// Maximum bytes of a description; it is sent in a head.
const TEXT_BYTES_MAX: usize = 1024;

/// Appends a text as the value of `grpc-message`, percent-encoded; long texts are truncated.
///
/// # Spec
/// gRPC over HTTP/2, Percent-Encoded. Leading and trailing white space is encoded as well, because field values lose
/// it.
pub fn write_grpc_message(out: &mut Vec<u8>, text: &[u8]) {
    let text = beginning(text);
    let last = text.len().saturating_sub(1);
    for (at, &byte) in text.iter().enumerate() {
        let is_plain = matches!(byte, 0x21..=0x24 | 0x26..=0x7e) || byte == b' ' && at != 0 && at != last;
        if is_plain {
            out.push(byte);
        } else {
            write_percent(out, byte);
        }
    }
}

/// Returns the text truncated to the maximum, between two UTF-8 characters.
fn beginning(text: &[u8]) -> &[u8] {
    let Some(mut cut) = text.get(..TEXT_BYTES_MAX).filter(|_| text.len() > TEXT_BYTES_MAX) else {
        return text;
    };
    let is_within = |byte: &u8| byte & 0xc0 == 0x80;
    if text.get(TEXT_BYTES_MAX).is_some_and(is_within) {
        while let Some((last, before)) = cut.split_last() {
            cut = before;
            if !is_within(last) {
                break;
            }
        }
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::{TEXT_BYTES_MAX, write_grpc_message};

    fn written(text: &[u8]) -> String {
        let mut out = Vec::new();
        write_grpc_message(&mut out, text);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn bytes_not_allowed_in_a_field_are_percent_encoded() {
        assert_eq!(written(b"no shelf"), "no shelf");
        assert_eq!(written(b" 100%\r\n"), "%20100%25%0D%0A");
        assert_eq!(written("gr\u{fc}n\u{7f}".as_bytes()), "gr%C3%BCn%7F");
        assert_eq!(written(b" "), "%20");
        assert_eq!(written(b""), "");
        assert_eq!(written(b"ab "), "ab%20");
    }

    #[test]
    fn a_long_message_is_truncated_at_a_character_boundary() {
        assert_eq!(written(&vec![b'a'; 5000]).len(), TEXT_BYTES_MAX);
        assert_eq!(written(&vec![b'a'; TEXT_BYTES_MAX]).len(), TEXT_BYTES_MAX);
        let text = [&vec![b'a'; TEXT_BYTES_MAX - 1][..], "\u{20ac}\u{20ac}".as_bytes()].concat();
        assert_eq!(written(&text), "a".repeat(TEXT_BYTES_MAX - 1));
        // Not UTF-8 at all: there is no character to keep whole, and it must not panic.
        assert_eq!(written(&vec![0x80; 5000]), "");
    }
}
