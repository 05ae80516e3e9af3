//! Reads responses as bytes arrive and checks each against what was expected.

use std::fmt;

use memchr::memmem;

use super::exchange::ExpectedResponse;

/// Reads one response after another on a connection.
#[derive(Debug, Default)]
pub(super) struct ResponseReader {
    /// The part of a head received so far; empty when heads arrive whole.
    head: Vec<u8>,
    /// Body bytes seen, once the head is read.
    received: Option<usize>,
    /// Body length of the current response.
    length: usize,
    /// Parse state of a chunked body.
    chunk: Option<ChunkParseState>,
    is_last: bool,
    /// Responses finished; decides which large bodies are compared in full.
    finished: u64,
}

/// State of a response after the bytes were fed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseProgress {
    /// More bytes are needed.
    More,
    /// The response is complete and as expected.
    Done {
        /// The target closes the connection after it.
        is_last: bool,
    },
}

/// Difference between a response and the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mismatch {
    /// Not an HTTP/1.1 head, or one too long.
    Head,
    /// Another status.
    Status(u16),
    /// Another length, or no length given.
    Length,
    /// Invalid chunked encoding, or trailers.
    Chunk,
    /// Other body bytes.
    Body,
    /// Bytes after the response.
    Surplus,
    /// The connection ended first.
    End,
}

impl ResponseReader {
    /// Parses and checks the bytes that were read.
    ///
    /// # Errors
    /// The difference found.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        expected: &ExpectedResponse,
    ) -> Result<ResponseProgress, Mismatch> {
        if let Some(received) = self.received {
            return match self.chunk {
                Some(chunk) => self.feed_chunks(chunk, received, bytes, expected),
                None => self.feed_body(received, bytes, expected),
            };
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
        if self.head.len() > HEAD_BYTES_MAX { Err(Mismatch::Head) } else { Ok(ResponseProgress::More) }
    }

    /// Whether a response has begun and not ended.
    pub(super) fn is_amid(&self) -> bool {
        self.received.is_some() || !self.head.is_empty()
    }

    fn feed_head(
        &mut self,
        bytes: &[u8],
        at: usize,
        expected: &ExpectedResponse,
    ) -> Result<ResponseProgress, Mismatch> {
        let (head, rest) = bytes.split_at_checked(at + END.len()).ok_or(Mismatch::Head)?;
        let head = LoadResponseHead::parse(head)?;
        if head.status != expected.status {
            return Err(Mismatch::Status(head.status));
        }
        self.is_last = head.is_last;
        if head.is_chunked {
            return self.feed_chunks(ChunkParseState::Size(0), 0, rest, expected);
        }
        let Some(length) = head.length else { return Err(Mismatch::Length) };
        if expected.body.as_ref().is_some_and(|body| body.len() != length) {
            return Err(Mismatch::Length);
        }
        self.length = length;
        self.feed_body(0, rest, expected)
    }

    fn feed_body(
        &mut self,
        received: usize,
        bytes: &[u8],
        expected: &ExpectedResponse,
    ) -> Result<ResponseProgress, Mismatch> {
        if received + bytes.len() > self.length {
            return Err(Mismatch::Surplus);
        }
        self.compare(received, bytes, expected)?;
        let received = received + bytes.len();
        if received < self.length {
            self.received = Some(received);
            return Ok(ResponseProgress::More);
        }
        Ok(self.finish())
    }

    fn feed_chunks(
        &mut self,
        mut chunk: ChunkParseState,
        mut received: usize,
        mut bytes: &[u8],
        expected: &ExpectedResponse,
    ) -> Result<ResponseProgress, Mismatch> {
        while let Some((&first, rest)) = bytes.split_first() {
            if let ChunkParseState::Data(left) = chunk {
                let (piece, rest) = bytes.split_at(left.min(bytes.len()));
                self.compare(received, piece, expected)?;
                received += piece.len();
                chunk = if piece.len() == left {
                    ChunkParseState::DataEnd
                } else {
                    ChunkParseState::Data(left - piece.len())
                };
                bytes = rest;
                continue;
            }
            chunk = match (chunk, first) {
                (_, b'\r') => chunk,
                (ChunkParseState::Size(0), b'\n') => ChunkParseState::End,
                (ChunkParseState::Size(size), b'\n') => ChunkParseState::Data(size),
                (ChunkParseState::Size(size), digit) if size <= CHUNK_BYTES_MAX => {
                    ChunkParseState::Size(size * 16 + hex(digit)?)
                }
                (ChunkParseState::DataEnd, b'\n') => ChunkParseState::Size(0),
                (ChunkParseState::End, b'\n') if !rest.is_empty() => return Err(Mismatch::Surplus),
                (ChunkParseState::End, b'\n')
                    if expected.body.as_ref().is_some_and(|body| body.len() != received) =>
                {
                    return Err(Mismatch::Length);
                }
                (ChunkParseState::End, b'\n') => return Ok(self.finish()),
                _ => return Err(Mismatch::Chunk),
            };
            bytes = rest;
        }
        (self.received, self.chunk) = (Some(received), Some(chunk));
        Ok(ResponseProgress::More)
    }

    /// Compares a piece of the body that begins at offset `received`.
    fn compare(&self, received: usize, bytes: &[u8], expected: &ExpectedResponse) -> Result<(), Mismatch> {
        let Some(body) = &expected.body else { return Ok(()) };
        let expected = body.get(received..received + bytes.len()).ok_or(Mismatch::Surplus)?;
        let is_full = body.len() <= FULL_BYTES_MAX || self.finished.is_multiple_of(FULL_EVERY);
        let is_same = if is_full { bytes == expected } else { has_same_edges(bytes, expected) };
        if is_same { Ok(()) } else { Err(Mismatch::Body) }
    }

    fn finish(&mut self) -> ResponseProgress {
        (self.received, self.chunk) = (None, None);
        self.finished += 1;
        ResponseProgress::Done { is_last: self.is_last }
    }
}

/// Next element of a chunked body; carriage returns are skipped.
#[derive(Clone, Copy, Debug)]
enum ChunkParseState {
    /// Digits of the chunk size with the value so far, then the line end.
    Size(usize),
    /// Remaining bytes of the chunk.
    Data(usize),
    /// Line end after the chunk data.
    DataEnd,
    /// Empty line after the last chunk.
    End,
}

fn hex(digit: u8) -> Result<usize, Mismatch> {
    let digit = char::from(digit).to_digit(16).and_then(|digit| usize::try_from(digit).ok());
    digit.ok_or(Mismatch::Chunk)
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Head => f.write_str("malformed head"),
            Self::Status(status) => write!(f, "status {status}"),
            Self::Length => f.write_str("wrong or missing length"),
            Self::Chunk => f.write_str("malformed chunk"),
            Self::Body => f.write_str("wrong body"),
            Self::Surplus => f.write_str("bytes after the response"),
            Self::End => f.write_str("connection ended"),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct LoadResponseHead {
    status: u16,
    length: Option<usize>,
    is_chunked: bool,
    is_last: bool,
}

impl LoadResponseHead {
    fn parse(bytes: &[u8]) -> Result<Self, Mismatch> {
        let digits = bytes.strip_prefix(b"HTTP/1.1 ").and_then(|rest| rest.get(..3)).ok_or(Mismatch::Head)?;
        let status = number(digits).and_then(|status| u16::try_from(status).ok()).ok_or(Mismatch::Head)?;
        let mut head = Self { status, length: None, is_chunked: false, is_last: false };
        for line in memchr::memchr_iter(b'\n', bytes).filter_map(|at| bytes.get(at + 1..)) {
            if !matches!(line.first(), Some(b'c' | b'C' | b't' | b'T')) {
                continue;
            }
            let end = memchr::memchr(b'\r', line).unwrap_or(line.len());
            let line = line.get(..end).unwrap_or_default();
            let Some(colon) = memchr::memchr(b':', line) else { return Err(Mismatch::Head) };
            let (name, value) = line.split_at(colon);
            let value = value.get(1..).unwrap_or_default().trim_ascii();
            if name.eq_ignore_ascii_case(b"content-length") {
                head.length = number(value);
            } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
                head.is_chunked = value.eq_ignore_ascii_case(b"chunked");
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
const CHUNK_BYTES_MAX: usize = 1 << 24;
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Larger bodies are compared in full only once in a while, so that checking does not take the target's cores.
const FULL_BYTES_MAX: usize = 64 * 1024;
const FULL_EVERY: u64 = 16;
const EDGE_BYTES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern;

    const OK: &str = "HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 5\r\n\r\nhello";

    fn hello() -> ExpectedResponse {
        ExpectedResponse::success(b"hello".to_vec())
    }

    fn check(input: &str, expected: Result<ResponseProgress, Mismatch>) {
        for piece in [1, 2, 7, 1000] {
            let mut reader = ResponseReader::default();
            let mut last = Ok(ResponseProgress::More);
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
    fn chunks_make_a_body() {
        let chunked = |body: &str| format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}");
        check(&chunked("5\r\nhello\r\n0\r\n\r\n"), Ok(ResponseProgress::Done { is_last: false }));
        check(&chunked("2\r\nhe\r\n03\r\nllo\r\n0\r\n\r\n"), Ok(ResponseProgress::Done { is_last: false }));
        check(&chunked("5\r\nhello\r\n0\r\n"), Ok(ResponseProgress::More));
        check(&chunked("4\r\nhell\r\n0\r\n\r\n"), Err(Mismatch::Length));
        check(&chunked("5\r\nhallo\r\n"), Err(Mismatch::Body));
        check(&chunked("6\r\nhello!\r\n"), Err(Mismatch::Surplus));
        check(&chunked("x\r\n"), Err(Mismatch::Chunk));
        check(&chunked("ffffffffffffffffff\r\n"), Err(Mismatch::Chunk));
        check(&chunked("5\r\nhelloo\r\n"), Err(Mismatch::Chunk));
        check(&chunked("5\r\nhello\r\n0\r\nx: y\r\n\r\n"), Err(Mismatch::Chunk));
    }

    #[test]
    fn complete_responses_are_done() {
        check(OK, Ok(ResponseProgress::Done { is_last: false }));
        let closing = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello";
        check(closing, Ok(ResponseProgress::Done { is_last: true }));
    }

    #[test]
    fn incomplete_responses_need_more_bytes() {
        for length in 1..OK.len() {
            check(&OK[..length], Ok(ResponseProgress::More));
        }
    }

    #[test]
    fn differences_are_reported() {
        check("HTTP/1.0 200 OK\r\n\r\n", Err(Mismatch::Head));
        check("HTTP/1.1 502 Bad\r\nContent-Length: 5\r\n\r\nhello", Err(Mismatch::Status(502)));
        check("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhell", Err(Mismatch::Length));
        check("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", Err(Mismatch::Length));
        check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhallo", Err(Mismatch::Body));
    }

    #[test]
    fn a_body_ends_at_its_content_length() {
        let any = ExpectedResponse { status: 401, body: None };
        let text = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 5\r\n\r\n";
        let mut reader = ResponseReader::default();
        assert_eq!(reader.feed(format!("{text}he").as_bytes(), &any), Ok(ResponseProgress::More));
        assert_eq!(reader.feed(b"llo", &any), Ok(ResponseProgress::Done { is_last: false }));
        assert_eq!(reader.feed(format!("{text}hello!").as_bytes(), &any), Err(Mismatch::Surplus));
        assert_eq!(ResponseReader::default().feed(OK.as_bytes(), &any), Err(Mismatch::Status(200)));
    }

    #[test]
    fn surplus_bytes_are_detected() {
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
        let body = ExpectedResponse::success(wrong.clone());
        wrong[FULL_BYTES_MAX / 2] ^= 1;
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", wrong.len());
        let mut reader = ResponseReader::default();
        assert_eq!(reader.feed(head.as_bytes(), &body), Ok(ResponseProgress::More));
        assert_eq!(reader.feed(&wrong, &body), Err(Mismatch::Body));
        let mut reader = ResponseReader { finished: 1, ..ResponseReader::default() };
        assert_eq!(reader.feed(head.as_bytes(), &body), Ok(ResponseProgress::More));
        assert_eq!(reader.feed(&wrong, &body), Ok(ResponseProgress::Done { is_last: false }));
        wrong[0] ^= 1;
        assert_eq!(reader.feed(head.as_bytes(), &body), Ok(ResponseProgress::More));
        assert_eq!(reader.feed(&wrong, &body), Err(Mismatch::Body));
    }
}
