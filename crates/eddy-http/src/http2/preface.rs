//! Detection of the HTTP version of a client without ALPN.

/// Connection preface of an HTTP/2 client (RFC 9113 §3.4).
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Protocol indicated by the first bytes of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetectedProtocol {
    /// HTTP/1.
    Http1,
    /// HTTP/2.
    Http2,
    /// Undecided: more bytes are needed.
    NeedMore,
}

/// Part of the preface that no HTTP/1 request begins with: a reserved method that no server supports (RFC 9113 §11.6).
const PREFACE_MARKER: &[u8] = b"PRI ";

/// Detects the protocol from the first bytes of a connection.
///
/// # Spec
/// RFC 9113 §3.3, §3.4
pub fn spoken(bytes: &[u8]) -> DetectedProtocol {
    if bytes.starts_with(PREFACE_MARKER) {
        DetectedProtocol::Http2
    } else if PREFACE_MARKER.starts_with(bytes) {
        DetectedProtocol::NeedMore
    } else {
        DetectedProtocol::Http1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_bytes_detect_the_protocol() {
        for (bytes, expected) in [
            (b"".as_slice(), DetectedProtocol::NeedMore),
            (b"P", DetectedProtocol::NeedMore),
            (b"PRI", DetectedProtocol::NeedMore),
            (b"PRI ", DetectedProtocol::Http2),
            (PREFACE, DetectedProtocol::Http2),
            (b"PO", DetectedProtocol::Http1),
            (b"PRIX /", DetectedProtocol::Http1),
            (b"\r\nPRI ", DetectedProtocol::Http1),
            (b"GET / HTTP/1.1\r\n", DetectedProtocol::Http1),
        ] {
            assert_eq!(spoken(bytes), expected, "{bytes:?}");
        }
    }
}
