//! Detection of the HTTP version of a client without ALPN.

/// Connection preface of an HTTP/2 client (RFC 9113 §3.4).
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Protocol indicated by the first bytes of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spoken {
    /// HTTP/1.
    Http1,
    /// HTTP/2.
    Http2,
    /// Undecided: more bytes are needed.
    Unclear,
}

/// Part of the preface that no HTTP/1 request begins with: a reserved method that no server supports (RFC 9113 §11.6).
const TELLING: &[u8] = b"PRI ";

/// Detects the protocol from the first bytes of a connection.
///
/// # Spec
/// RFC 9113 §3.3, §3.4
pub fn spoken(bytes: &[u8]) -> Spoken {
    if bytes.starts_with(TELLING) {
        Spoken::Http2
    } else if TELLING.starts_with(bytes) {
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
