//! Reads responses as bytes arrive and checks each against what was expected.

use std::fmt;

use memchr::memmem;

use super::exchange::Expected;

/// Reads one response after another on a connection.
#[derive(Debug, Default)]
pub(super) struct ResponseReader {
    /// The part of a head that has come so far; empty when heads come whole.
    head: Vec<u8>,
    /// Body bytes seen, once the head is read.
    received: Option<usize>,
    /// Bytes of the body under way.
    length: usize,
    is_last: bool,
    /// Responses finished; decides which large bodies are compared in full.
    finished: u64,
}

/// How far a response has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// More bytes are awaited.
    More,
    /// The response is whole and as expected.
    Done {
        /// The target closes the connection after it.
        is_last: bool,
    },
}

/// How a response differs from what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mismatch {
    /// Not a head of HTTP/1.1, or one too long.
    Head,
    /// Another status.
    Status(u16),
    /// No `Content-Length`, or another one.
    Length,
    /// Other bytes.
    Body,
    /// Bytes after the response.
    Surplus,
    /// The connection ended first.
    End,
}

impl ResponseReader {
    /// Takes what was read.
    ///
    /// # Errors
    /// How the response differs.
    pub(super) fn feed(&mut self, bytes: &[u8], expected: &Expected) -> Result<Step, Mismatch> {
        if let Some(received) = self.received {
            return self.feed_body(received, bytes, expected);
        }
        if self.head.is_empty() {
            match memmem::find(bytes, END) {
                Some(at) => return self.feed_head(bytes, at, expected),
                None => self.head.extend_from_slice(bytes),
            }
        } else {
            self.head.extend_from_slice(bytes);
            let head = std::mem::take(&mut self.head);
            match memmem::find(&head, END) {
                Some(at) => return self.feed_head(&head, at, expected),
                None => self.head = head,
            }
        }
        if self.head.len() > HEAD_BYTES_MAX { Err(Mismatch::Head) } else { Ok(Step::More) }
    }

    /// A response has begun and not ended.
    pub(super) fn is_amid(&self) -> bool {
        self.received.is_some() || !self.head.is_empty()
    }

    fn feed_head(&mut self, bytes: &[u8], at: usize, expected: &Expected) -> Result<Step, Mismatch> {
        let (head, rest) = bytes.split_at_checked(at + END.len()).ok_or(Mismatch::Head)?;
        let head = Head::parse(head)?;
        if head.status != expected.status {
            return Err(Mismatch::Status(head.status));
        }
        let Some(length) = head.length else { return Err(Mismatch::Length) };
        if expected.body.as_ref().is_some_and(|body| body.len() != length) {
            return Err(Mismatch::Length);
        }
        self.length = length;
        self.is_last = head.is_last;
        self.feed_body(0, rest, expected)
    }

    fn feed_body(&mut self, received: usize, bytes: &[u8], expected: &Expected) -> Result<Step, Mismatch> {
        if received + bytes.len() > self.length {
            return Err(Mismatch::Surplus);
        }
        if let Some(body) = &expected.body {
            let expected = body.get(received..received + bytes.len()).ok_or(Mismatch::Surplus)?;
            let is_full = body.len() <= FULL_BYTES_MAX || self.finished.is_multiple_of(FULL_EVERY);
            if !(if is_full { bytes == expected } else { has_same_edges(bytes, expected) }) {
                return Err(Mismatch::Body);
            }
        }
        let received = received + bytes.len();
        if received < self.length {
            self.received = Some(received);
            return Ok(Step::More);
        }
        self.received = None;
        self.finished += 1;
        Ok(Step::Done { is_last: self.is_last })
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Head => f.write_str("malformed head"),
            Self::Status(status) => write!(f, "status {status}"),
            Self::Length => f.write_str("other or no content length"),
            Self::Body => f.write_str("other body"),
            Self::Surplus => f.write_str("bytes after the response"),
            Self::End => f.write_str("connection ended"),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Head {
    status: u16,
    length: Option<usize>,
    is_last: bool,
}

impl Head {
    fn parse(bytes: &[u8]) -> Result<Self, Mismatch> {
        let digits = bytes.strip_prefix(b"HTTP/1.1 ").and_then(|rest| rest.get(..3)).ok_or(Mismatch::Head)?;
        let status = number(digits).and_then(|status| u16::try_from(status).ok()).ok_or(Mismatch::Head)?;
        let mut head = Self { status, length: None, is_last: false };
        for line in memchr::memchr_iter(b'\n', bytes).filter_map(|at| bytes.get(at + 1..)) {
            if !matches!(line.first(), Some(b'c' | b'C')) {
                continue;
            }
            let end = memchr::memchr(b'\r', line).unwrap_or(line.len());
            let line = line.get(..end).unwrap_or_default();
            let Some(colon) = memchr::memchr(b':', line) else { return Err(Mismatch::Head) };
            let (name, value) = line.split_at(colon);
            let value = value.get(1..).unwrap_or_default().trim_ascii();
            if name.eq_ignore_ascii_case(b"content-length") {
                head.length = number(value);
            } else if name.eq_ignore_ascii_case(b"connection") {
                head.is_last = value.eq_ignore_ascii_case(b"close");
            }
        }
        Ok(head)
    }
}

/// Compares the first and last bytes of a piece: a piece lost, doubled or moved shows at its edges.
fn has_same_edges(bytes: &[u8], expected: &[u8]) -> bool {
    let edge = bytes.len().min(EDGE_BYTES);
    let tail = bytes.len() - edge;
    bytes.get(..edge) == expected.get(..edge) && bytes.get(tail..) == expected.get(tail..)
}

fn number(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

const END: &[u8] = b"\r\n\r\n";
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Larger bodies are compared in full only now and then, so that checking does not take the target's cores.
const FULL_BYTES_MAX: usize = 64 * 1024;
const FULL_EVERY: u64 = 16;
const EDGE_BYTES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern;

    const OK: &str = "HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 5\r\n\r\nhello";

    fn hello() -> Expected {
        Expected::success(b"hello".to_vec())
    }

    fn check(input: &str, expected: Result<Step, Mismatch>) {
        for piece in [1, 2, 7, 1000] {
            let mut reader = ResponseReader::default();
            let mut last = Ok(Step::More);
            for bytes in input.as_bytes().chunks(piece) {
                last = reader.feed(bytes, &hello());
                if last.is_err() {
                    break;
                }
            }
            assert_eq!(last, expected, "{input:?} in pieces of {piece}");
        }
    }

    #[test]
    fn whole_responses_are_done() {
        check(OK, Ok(Step::Done { is_last: false }));
        let closing = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello";
        check(closing, Ok(Step::Done { is_last: true }));
    }

    #[test]
    fn parts_want_more() {
        for length in 1..OK.len() {
            check(&OK[..length], Ok(Step::More));
        }
    }

    #[test]
    fn differences_are_named() {
        check("HTTP/1.0 200 OK\r\n\r\n", Err(Mismatch::Head));
        check("HTTP/1.1 502 Bad\r\nContent-Length: 5\r\n\r\nhello", Err(Mismatch::Status(502)));
        check("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhell", Err(Mismatch::Length));
        check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", Err(Mismatch::Length));
        check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhallo", Err(Mismatch::Body));
    }

    #[test]
    fn a_body_of_any_bytes_ends_where_it_says() {
        let any = Expected { status: 401, body: None };
        let text = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 5\r\n\r\n";
        let mut reader = ResponseReader::default();
        assert_eq!(reader.feed(format!("{text}he").as_bytes(), &any), Ok(Step::More));
        assert_eq!(reader.feed(b"llo", &any), Ok(Step::Done { is_last: false }));
        assert_eq!(reader.feed(format!("{text}hello!").as_bytes(), &any), Err(Mismatch::Surplus));
        assert_eq!(ResponseReader::default().feed(OK.as_bytes(), &any), Err(Mismatch::Status(200)));
    }

    #[test]
    fn surplus_is_seen() {
        let mut reader = ResponseReader::default();
        assert_eq!(reader.feed(format!("{OK}H").as_bytes(), &hello()), Err(Mismatch::Surplus));
    }

    #[test]
    fn an_endless_head_is_refused() {
        let mut reader = ResponseReader::default();
        let bytes = vec![b'x'; HEAD_BYTES_MAX + 1];
        assert_eq!(reader.feed(&bytes, &hello()), Err(Mismatch::Head));
    }

    #[test]
    fn one_large_body_in_sixteen_is_compared_in_full() {
        let mut wrong = pattern::body(FULL_BYTES_MAX + 1);
        let body = Expected::success(wrong.clone());
        wrong[FULL_BYTES_MAX / 2] ^= 1;
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", wrong.len());
        let mut reader = ResponseReader::default();
        assert_eq!(reader.feed(head.as_bytes(), &body), Ok(Step::More));
        assert_eq!(reader.feed(&wrong, &body), Err(Mismatch::Body));
        let mut reader = ResponseReader { finished: 1, ..ResponseReader::default() };
        assert_eq!(reader.feed(head.as_bytes(), &body), Ok(Step::More));
        assert_eq!(reader.feed(&wrong, &body), Ok(Step::Done { is_last: false }));
        wrong[0] ^= 1;
        assert_eq!(reader.feed(head.as_bytes(), &body), Ok(Step::More));
        assert_eq!(reader.feed(&wrong, &body), Err(Mismatch::Body));
    }
}
