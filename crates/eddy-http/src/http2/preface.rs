//! Which version of HTTP a client speaks that has not agreed on one.

/// What a client of HTTP/2 begins with (RFC 9113 §3.4).
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// What the first bytes of a connection tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spoken {
    /// HTTP/1.
    Http1,
    /// HTTP/2.
    Http2,
    /// They may be either.
    Unclear,
}

/// How many bytes of the preface no request of HTTP/1 begins with: `PRI ` is no method that anybody serves, and reserved
/// (RFC 9113 §11.6).
const TELLING_BYTES: usize = 4;

/// Tells by the first bytes of a connection what is spoken on it.
///
/// # Spec
/// RFC 9113 §3.3, §3.4
pub fn spoken(bytes: &[u8]) -> Spoken {
    let telling = PREFACE.get(..TELLING_BYTES).unwrap_or_default();
    if bytes.starts_with(telling) {
        Spoken::Http2
    } else if telling.starts_with(bytes) {
        Spoken::Unclear
    } else {
        Spoken::Http1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_bytes_tell() {
        for (bytes, expected) in [
            (b"".as_slice(), Spoken::Unclear),
            (b"P", Spoken::Unclear),
            (b"PRI", Spoken::Unclear),
            (b"PRI ", Spoken::Http2),
            (PREFACE, Spoken::Http2),
            (b"PO", Spoken::Http1),
            (b"PRIX /", Spoken::Http1),
            (b"\r\nPRI ", Spoken::Http1),
            (b"GET / HTTP/1.1\r\n", Spoken::Http1),
        ] {
            assert_eq!(spoken(bytes), expected, "{bytes:?}");
        }
    }
}
