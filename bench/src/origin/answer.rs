//! Parsing of requests at the origin, and the responses to them.

use std::rc::Rc;

use memchr::memmem;

use crate::{book, pattern};

/// The parts of a request that the origin uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OriginRequest {
    /// Bytes of the head, the empty line included.
    pub head_bytes: usize,
    /// Requested resource.
    pub ask: RequestedResource,
    /// Declared bytes of the body that follows the head.
    pub body_bytes: u64,
    /// Whether the body is chunked, which only gRPC calls may be.
    pub is_chunked: bool,
    /// Whether the peer wants the connection closed after the response.
    pub is_last: bool,
}

/// Resource that a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestedResource {
    /// `GET /any/path/N`: N bytes.
    Bytes(usize),
    /// `POST /anything`: the number of bytes of the request body.
    Count,
    /// `GET /any/path/head`: the head of the request as it arrived, for checks of what a target changed.
    Head,
    /// `GET /any/path/mark`: a body with the bytes that filters search for, to check that they do.
    Mark,
    /// `POST` of a book as JSON, as a client of a gateway sends it: a book as JSON.
    Book,
    /// The gRPC call that the gateway makes of it: a book in a gRPC frame, and trailers.
    Call,
    /// Anything else: 400.
    Unknown,
}

impl OriginRequest {
    /// Parses the request at the start of `bytes`; returns `None` until its head is complete.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let head_bytes = memmem::find(bytes, b"\r\n\r\n")? + 4;
        let head = bytes.get(..head_bytes)?;
        let mut lines = head.split(|&byte| byte == b'\n');
        let ask = RequestedResource::parse(lines.next().unwrap_or_default());
        let mut request = Self { head_bytes, ask, body_bytes: 0, is_chunked: false, is_last: false };
        for line in lines {
            request.read_field(line.trim_ascii_end());
        }
        Some(request)
    }

    fn read_field(&mut self, line: &[u8]) {
        let initial = line.first().map(u8::to_ascii_lowercase);
        if initial != Some(b'c') && initial != Some(b't') {
            return;
        }
        let mut parts = line.splitn(2, |&byte| byte == b':');
        let name = parts.next().unwrap_or_default();
        let value = parts.next().unwrap_or_default().trim_ascii();
        if name.eq_ignore_ascii_case(b"content-length") {
            match number(value) {
                Some(length) => self.body_bytes = length,
                None => self.ask = RequestedResource::Unknown,
            }
        } else if name.eq_ignore_ascii_case(b"connection") {
            self.is_last = value.eq_ignore_ascii_case(b"close");
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            // Every body of the benchmark has a `Content-Length`, and a target that changes the framing must be
            // noticed. Only bodies that a target makes itself (gRPC calls) may be chunked.
            self.is_chunked = self.ask == RequestedResource::Call;
            if !self.is_chunked {
                self.ask = RequestedResource::Unknown;
            }
        }
    }
}

impl RequestedResource {
    fn parse(line: &[u8]) -> Self {
        let mut words = line.split(|&byte| byte == b' ');
        let method = words.next().unwrap_or_default();
        let path = words.next().unwrap_or_default();
        match method {
            b"GET" => {
                let last = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
                match last {
                    b"head" => return Self::Head,
                    b"mark" => return Self::Mark,
                    _ => {}
                }
                let length = number(last).and_then(|length| usize::try_from(length).ok());
                length.filter(|&length| length <= pattern::BODY_BYTES_MAX).map_or(Self::Unknown, Self::Bytes)
            }
            b"POST" if path == book::PATH.as_bytes() => Self::Book,
            b"POST" if path == book::METHOD.as_bytes() => Self::Call,
            b"POST" => Self::Count,
            _ => Self::Unknown,
        }
    }
}

/// Responses built once and sent many times.
#[derive(Debug, Default)]
pub(super) struct OriginResponseCache {
    made: Vec<(RequestedResource, u64, Rc<[u8]>)>,
}

impl OriginResponseCache {
    /// Returns the whole response to `ask` after a body of `body_bytes`; `head` is the head of the request.
    ///
    /// # Cost
    /// Only a short search, except for the first time.
    pub(super) fn answer(&mut self, ask: RequestedResource, body_bytes: u64, head: &[u8]) -> Rc<[u8]> {
        if ask == RequestedResource::Head {
            return respond("200 OK", head).into();
        }
        let known = self.made.iter().find(|(made, count, _)| *made == ask && *count == body_bytes);
        if let Some((_, _, bytes)) = known {
            return Rc::clone(bytes);
        }
        let bytes: Rc<[u8]> = make(ask, body_bytes).into();
        if self.made.len() < ANSWERS_MAX {
            self.made.push((ask, body_bytes, Rc::clone(&bytes)));
        }
        bytes
    }
}

fn make(ask: RequestedResource, body_bytes: u64) -> Vec<u8> {
    let (status, body) = match ask {
        RequestedResource::Bytes(length) => ("200 OK", pattern::body(length)),
        RequestedResource::Mark => ("200 OK", MARK.to_vec()),
        RequestedResource::Book => ("200 OK", book::response_json().into_bytes()),
        RequestedResource::Call => return book::answer(),
        RequestedResource::Count => ("200 OK", body_bytes.to_string().into_bytes()),
        // The head is not available here: only a request with a body gets here, and its head is no longer buffered.
        RequestedResource::Unknown | RequestedResource::Head => {
            ("400 Bad Request", b"the origin serves GET /N and POST\n".to_vec())
        }
    };
    respond(status, &body)
}

fn respond(status: &str, body: &[u8]) -> Vec<u8> {
    // The date is a constant: every target may forward it unchanged, and the origin needs no clock.
    let head = format!(
        "HTTP/1.1 {status}\r\nServer: origin\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\n\
         Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Neither byte occurs in any other body.
const MARK: &[u8] = b"<\n";
const ANSWERS_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(head: &str, ask: RequestedResource, body_bytes: u64, is_last: bool) {
        let is_chunked = false;
        let expected = OriginRequest { head_bytes: head.len(), ask, body_bytes, is_chunked, is_last };
        assert_eq!(OriginRequest::parse(head.as_bytes()), Some(expected), "{head:?}");
    }

    #[test]
    fn requests_are_read() {
        check("GET /128 HTTP/1.1\r\nHost: a\r\n\r\n", RequestedResource::Bytes(128), 0, false);
        check(
            "GET /route-7/10240 HTTP/1.1\r\nConnection: Close\r\n\r\n",
            RequestedResource::Bytes(10_240),
            0,
            true,
        );
        check("GET /a/head HTTP/1.1\r\n\r\n", RequestedResource::Head, 0, false);
        check("GET /mark HTTP/1.1\r\n\r\n", RequestedResource::Mark, 0, false);
        check("POST /up HTTP/1.1\r\ncontent-length: 9\r\n\r\n", RequestedResource::Count, 9, false);
    }

    #[test]
    fn paths_that_the_origin_does_not_serve_are_unknown() {
        check("GET /x HTTP/1.1\r\n\r\n", RequestedResource::Unknown, 0, false);
        check("GET /99999999999 HTTP/1.1\r\n\r\n", RequestedResource::Unknown, 0, false);
        check("PUT /1 HTTP/1.1\r\n\r\n", RequestedResource::Unknown, 0, false);
        check("POST /1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", RequestedResource::Unknown, 0, false);
    }

    #[test]
    fn an_incomplete_head_needs_more_bytes() {
        assert_eq!(OriginRequest::parse(b"GET /128 HTTP/1.1\r\nHost: a\r\n"), None);
    }

    #[test]
    fn responses_are_complete() {
        let mut answers = OriginResponseCache::default();
        let bytes = answers.answer(RequestedResource::Bytes(40), 0, b"");
        let text = std::str::from_utf8(&bytes).unwrap();
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n"));
        assert!(text.contains("Content-Length: 40\r\n"));
        assert!(bytes.ends_with(&pattern::body(40)));
        assert!(answers.answer(RequestedResource::Count, 65_536, b"").ends_with(b"\r\n\r\n65536"));
        assert!(answers.answer(RequestedResource::Head, 0, b"GET /head").ends_with(b"\r\n\r\nGET /head"));
        assert!(Rc::ptr_eq(&answers.answer(RequestedResource::Bytes(40), 0, b""), &bytes));
    }
}
