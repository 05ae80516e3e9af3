//! Request methods and protocol versions.

use crate::octet::{SwarWord, load, word_of};

/// A request method (RFC 9110 §9, RFC 5789).
///
/// Methods are case-sensitive: `get` is [`Method::Other`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// `GET`.
    #[default]
    Get,
    /// `HEAD`.
    Head,
    /// `POST`.
    Post,
    /// `PUT`.
    Put,
    /// `DELETE`.
    Delete,
    /// `OPTIONS`.
    Options,
    /// `TRACE`.
    Trace,
    /// `CONNECT`.
    Connect,
    /// `PATCH`.
    Patch,
    /// Any other; its name is in the message.
    Other,
}

/// A version of HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// HTTP/1.0 (RFC 1945).
    Http10,
    /// HTTP/1.1 (RFC 9112).
    #[default]
    Http11,
    /// HTTP/2 (RFC 9113).
    Http2,
}

impl Method {
    /// Returns the method with this name.
    #[inline]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        if bytes.len() > 7 {
            return Self::Other;
        }
        let method = Self::of_word(load(bytes));
        // Zero bytes after the name do not count in a word.
        if method.name().is_some_and(|name| name.len() == bytes.len()) { method } else { Self::Other }
    }

    /// Returns the method in the first `len` bytes of `word`, which contains no NUL.
    #[inline]
    pub(crate) fn from_word(word: SwarWord, len: usize) -> Self {
        if len > 7 { Self::Other } else { Self::of_word(word & ((1 << (len * 8)) - 1)) }
    }

    #[inline]
    fn of_word(word: SwarWord) -> Self {
        match word {
            GET => Self::Get,
            HEAD => Self::Head,
            POST => Self::Post,
            PUT => Self::Put,
            DELETE => Self::Delete,
            OPTIONS => Self::Options,
            TRACE => Self::Trace,
            CONNECT => Self::Connect,
            PATCH => Self::Patch,
            _ => Self::Other,
        }
    }

    /// Returns the name as sent, for all but [`Method::Other`].
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Get => Some("GET"),
            Self::Head => Some("HEAD"),
            Self::Post => Some("POST"),
            Self::Put => Some("PUT"),
            Self::Delete => Some("DELETE"),
            Self::Options => Some("OPTIONS"),
            Self::Trace => Some("TRACE"),
            Self::Connect => Some("CONNECT"),
            Self::Patch => Some("PATCH"),
            Self::Other => None,
        }
    }

    /// Whether the method is safe: it requests no change at the origin.
    ///
    /// # Spec
    /// [RFC 9110 §9.2.1](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.1)
    pub fn is_safe(self) -> bool {
        matches!(self, Self::Get | Self::Head | Self::Options | Self::Trace)
    }

    /// Whether the method is idempotent: repetition has no further effect.
    ///
    /// # Spec
    /// [RFC 9110 §9.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2)
    pub fn is_idempotent(self) -> bool {
        self.is_safe() || matches!(self, Self::Put | Self::Delete)
    }
}

impl Version {
    /// Returns the name as sent.
    pub fn name(self) -> &'static str {
        match self {
            Self::Http10 => "HTTP/1.0",
            Self::Http11 => "HTTP/1.1",
            Self::Http2 => "HTTP/2",
        }
    }

    /// Returns the number as used in `Via` (RFC 9110 §7.6.3).
    pub(crate) fn number(self) -> &'static [u8] {
        match self {
            Self::Http10 => b"1.0",
            Self::Http11 => b"1.1",
            Self::Http2 => b"2.0",
        }
    }
}

/// Beginning of the HTTP/2 preface; reserved, so that no request uses it as its method (RFC 9113 §3.4).
pub(crate) const PREFACE_METHOD: &[u8] = b"PRI";

/// Maximum length of a method, bytes. Longer methods are answered 501 (RFC 9110 §9.1).
pub const METHOD_BYTES_MAX: usize = 32;

const GET: SwarWord = word_of(b"GET");
const HEAD: SwarWord = word_of(b"HEAD");
const POST: SwarWord = word_of(b"POST");
const PUT: SwarWord = word_of(b"PUT");
const DELETE: SwarWord = word_of(b"DELETE");
const OPTIONS: SwarWord = word_of(b"OPTIONS");
const TRACE: SwarWord = word_of(b"TRACE");
const CONNECT: SwarWord = word_of(b"CONNECT");
const PATCH: SwarWord = word_of(b"PATCH");

#[cfg(test)]
mod tests {
    use super::Method;

    #[test]
    fn methods_are_read_by_their_exact_names() {
        for method in [
            Method::Get,
            Method::Head,
            Method::Post,
            Method::Put,
            Method::Delete,
            Method::Options,
            Method::Trace,
            Method::Connect,
            Method::Patch,
        ] {
            let name = method.name().unwrap();
            assert_eq!(Method::from_bytes(name.as_bytes()), method);
            assert_eq!(Method::from_bytes(name.to_lowercase().as_bytes()), Method::Other);
            assert_eq!(Method::from_bytes(format!("{name}X").as_bytes()), Method::Other);
            assert_eq!(Method::from_bytes(format!("{name}\0").as_bytes()), Method::Other, "{name}");
        }
        assert_eq!(Method::from_bytes(b""), Method::Other);
    }

    #[test]
    fn safety_and_idempotence_follow_the_registry() {
        assert!(Method::Options.is_safe() && Method::Options.is_idempotent());
        assert!(Method::Put.is_idempotent() && !Method::Put.is_safe());
        assert!(!Method::Post.is_idempotent() && !Method::Patch.is_idempotent());
        assert!(!Method::Connect.is_idempotent() && !Method::Other.is_idempotent());
    }
}
