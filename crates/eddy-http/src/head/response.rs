//! Response heads.

use super::framing::{parse_announced, parse_connection};
use super::{HeadFault, HeadLimits, HeadScanner, RequestBody, ResponseBody, Strictness};
use crate::field::{Field, FieldId, Fields, LineFault, parse_lines};
use crate::method::{Method, Version};
use crate::octet::find_text_end;
use crate::span::Span;

/// Properties of the request that determine the framing of its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseContext {
    /// Method of the request.
    pub method: Method,
    /// Whether the request offers a protocol switch.
    pub has_upgrade: bool,
}

impl ResponseContext {
    /// Creates the context of a request that offers a protocol switch.
    pub fn upgrade(method: Method) -> Self {
        Self { method, has_upgrade: true }
    }

    /// Whether a response with this status ends HTTP on the connection: the following bytes belong to a tunnel.
    ///
    /// # Spec
    /// [RFC 9110 §7.8, §9.3.6](https://www.rfc-editor.org/rfc/rfc9110#section-9.3.6)
    pub fn switches_protocol(self, status: u16) -> bool {
        if self.method == Method::Connect {
            (200..300).contains(&status)
        } else {
            self.has_upgrade && status == 101
        }
    }
}

impl From<Method> for ResponseContext {
    fn from(method: Method) -> Self {
        Self { method, has_upgrade: false }
    }
}

/// A parsed response head; reusable for the next response.
///
/// # Spec
/// [RFC 9112 §4](https://www.rfc-editor.org/rfc/rfc9112#section-4), read strictly with one exception: the space before
/// an empty reason phrase may be missing, as with many origins.
#[derive(Clone, Debug, Default)]
pub struct ResponseHead {
    /// Status, 100 to 599.
    pub status: u16,
    /// Reason phrase; possibly empty.
    pub reason: Span,
    /// HTTP version of the origin.
    pub version: Version,
    /// Body framing.
    pub body: ResponseBody,
    /// Announced length; without a body (`HEAD`, 304), the length that the response to `GET` would have.
    pub content_length: Option<u64>,
    /// Whether the connection can be reused after this response.
    pub keep_alive: bool,
    pub(super) fields: Vec<Field>,
}

impl ResponseHead {
    /// Creates an empty head to parse into.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the fields, in the order sent; `bytes` must be those that were parsed.
    pub fn fields<'a>(&'a self, bytes: &'a [u8]) -> Fields<'a> {
        Fields::new(bytes, &self.fields)
    }

    /// Whether another response to the same request follows (RFC 9110 §15.2).
    pub fn is_interim(&self) -> bool {
        (100..200).contains(&self.status) && self.status != 101
    }

    /// Parses exactly one head, from its first byte to its empty line, as the response to the request `asked`.
    ///
    /// # Errors
    /// Any [`HeadFault`]; the client must then get 502 and the connection must be closed. A protocol switch (101) that
    /// was not requested is a fault.
    ///
    /// # Cost
    /// One pass; no allocation once a head with as many fields was parsed.
    pub fn parse(
        &mut self,
        bytes: &[u8],
        limits: &HeadLimits,
        asked: impl Into<ResponseContext>,
    ) -> Result<(), HeadFault> {
        self.parse_with(bytes, limits, asked.into(), Strictness::Peer)
    }

    pub(crate) fn parse_with(
        &mut self,
        bytes: &[u8],
        limits: &HeadLimits,
        asked: ResponseContext,
        strictness: Strictness,
    ) -> Result<(), HeadFault> {
        if bytes.len() > limits.head_bytes_max as usize {
            return Err(HeadFault::HeadTooLarge);
        }
        let end = self.parse_front(bytes, limits, asked, strictness)?;
        if end == bytes.len() { Ok(()) } else { Err(HeadFault::Excess) }
    }

    /// Parses the head at the beginning of `bytes`; returns its length, or `None` if more bytes are needed.
    ///
    /// For the first bytes of a response, which usually contain the whole head: saves the scan. After `None`, continue
    /// with a [`HeadScanner`], whose cost is linear however the rest is split, or use [`Self::parse_growing`].
    ///
    /// # Errors
    /// As [`ResponseHead::parse`].
    ///
    /// # Cost
    /// One pass; no allocation once a head with as many fields was parsed.
    pub fn parse_start(
        &mut self,
        bytes: &[u8],
        limits: &HeadLimits,
        asked: impl Into<ResponseContext>,
    ) -> Result<Option<usize>, HeadFault> {
        let window = bytes.get(..limits.head_bytes_max as usize).unwrap_or(bytes);
        match self.parse_front(window, limits, asked.into(), Strictness::Peer) {
            Ok(end) => Ok(Some(end)),
            Err(HeadFault::Truncated) if window.len() == bytes.len() => Ok(None),
            Err(HeadFault::Truncated) => Err(HeadFault::HeadTooLarge),
            Err(fault) => Err(fault),
        }
    }

    /// As [`Self::parse_start`], for bytes that grow from call to call; `scanner` is fresh at the first.
    ///
    /// # Errors
    /// As [`ResponseHead::parse`].
    ///
    /// # Cost
    /// Linear in the bytes of the head, however they are split.
    pub fn parse_growing(
        &mut self,
        scanner: &mut HeadScanner,
        bytes: &[u8],
        limits: &HeadLimits,
        asked: impl Into<ResponseContext>,
    ) -> Result<Option<usize>, HeadFault> {
        let asked = asked.into();
        if bytes.is_empty() {
            return Ok(None);
        }
        if !scanner.started()
            && let Some(length) = self.parse_start(bytes, limits, asked)?
        {
            return Ok(Some(length));
        }
        let Some(length) = scanner.scan(bytes, limits)? else { return Ok(None) };
        self.parse(bytes.get(..length).expect("the head was found in these bytes"), limits, asked)?;
        Ok(Some(length))
    }

    /// Parses the head at the beginning of `bytes`; returns its length.
    fn parse_front(
        &mut self,
        bytes: &[u8],
        limits: &HeadLimits,
        asked: ResponseContext,
        strictness: Strictness,
    ) -> Result<usize, HeadFault> {
        let mut fields = std::mem::take(&mut self.fields);
        fields.clear();
        *self = Self { fields, ..Self::default() };
        let lines_start = self.parse_status_line(bytes, strictness)?;
        let (seen, end) = parse_lines(bytes, lines_start, &mut self.fields, limits.fields_max.into())?;
        let is_switched = asked.switches_protocol(self.status);
        if self.status == 101 && !is_switched {
            return Err(HeadFault::UnaskedSwitch);
        }
        let announced = parse_announced(bytes, &self.fields, seen, self.version)?;
        let options = parse_connection(bytes, &mut self.fields, seen)?;
        let says_what = self.status != 101 || (options.has_upgrade && seen.has(FieldId::Upgrade));
        if is_switched && !(announced.is_empty() && says_what) {
            return Err(HeadFault::BadSwitch);
        }
        self.body = if is_switched { ResponseBody::None } else { body(self.status, announced, asked.method) };
        self.content_length = match announced {
            RequestBody::Length(length) => Some(length),
            RequestBody::None | RequestBody::Chunked => None,
        };
        // A 1xx or 204 that announces a body may in fact be followed by one: the next bytes cannot be trusted.
        let is_honest = announced.is_empty() || (self.status >= 200 && self.status != 204);
        self.keep_alive = options.keeps_alive(self.version)
            && is_honest
            && !is_switched
            && self.body != ResponseBody::UntilClose;
        debug_assert!(
            !seen.has(FieldId::TransferEncoding) || self.content_length.is_none(),
            "one framing only"
        );
        Ok(end)
    }

    /// Marks the parsed head as received over HTTP/2; `has_body` tells whether anything followed it on the stream.
    pub fn note_http2(&mut self, has_body: bool) {
        self.version = Version::Http2;
        // The HTTP/2 connection decides on its reuse.
        self.keep_alive = true;
        if !has_body && self.body == ResponseBody::UntilClose {
            self.body = ResponseBody::Length(0);
        }
    }

    /// Returns [`Self::body`] as it is read: over HTTP/2 the stream marks the end, and trailers may follow, whatever
    /// length was announced.
    pub fn body_read(&self) -> ResponseBody {
        let is_framed = self.version == Version::Http2 && matches!(self.body, ResponseBody::Length(1..));
        if is_framed { ResponseBody::UntilClose } else { self.body }
    }

    /// Returns [`Self::body`] as it is sent to a client of this version. Between HTTP/2 connections, an empty body
    /// without an announced length stays without one.
    pub fn body_towards(&self, client: Version) -> ResponseBody {
        let is_untold = self.version == Version::Http2 && self.content_length.is_none();
        if is_untold && client == Version::Http2 && self.body == ResponseBody::Length(0) {
            return ResponseBody::UntilClose;
        }
        self.body.towards(client)
    }

    /// Returns the positions of the fields.
    pub(crate) fn places(&self) -> &[Field] {
        &self.fields
    }

    /// Parses the status line; returns the index of the fields.
    ///
    /// A status above 599 belongs to no class (RFC 9110 §15). From an endpoint it is a fault; a configuration such as
    /// an `nginx.conf` may ask for a response of eddy's own that has one.
    fn parse_status_line(&mut self, bytes: &[u8], strictness: Strictness) -> Result<usize, HeadFault> {
        let last_class = match strictness {
            Strictness::Peer => b'5',
            Strictness::Egress => b'9',
        };
        let Some((version, rest)) = bytes.split_first_chunk::<9>() else { return Err(HeadFault::Truncated) };
        self.version = match version {
            b"HTTP/1.1 " => Version::Http11,
            b"HTTP/1.0 " => Version::Http10,
            _ => return Err(HeadFault::BadStatusLine),
        };
        self.status = match rest.first_chunk() {
            Some([a, b @ b'0'..=b'9', c @ b'0'..=b'9']) if (b'1'..=last_class).contains(a) => {
                [a, b, c].iter().fold(0, |status, digit| status * 10 + u16::from(**digit - b'0'))
            }
            Some(_) => return Err(HeadFault::BadStatusLine),
            None => return Err(HeadFault::Truncated),
        };
        let start = match bytes.get(12) {
            Some(b' ') => 13,
            Some(b'\r' | b'\n') => 12,
            Some(_) => return Err(HeadFault::BadStatusLine),
            None => return Err(HeadFault::Truncated),
        };
        let line = bytes.split_at(start).1;
        let (reason, rest) = line.split_at(find_text_end(line));
        let end = start + reason.len();
        self.reason = Span::new(start, end);
        if rest.starts_with(b"\r\n") { Ok(end + 2) } else { Err(LineFault::of_control(rest).into()) }
    }
}

/// Returns the framing of the body, by the rules in their order (RFC 9112 §6.3).
fn body(status: u16, announced: RequestBody, request_method: Method) -> ResponseBody {
    if status < 200 || status == 204 || status == 304 || request_method == Method::Head {
        return ResponseBody::None;
    }
    match announced {
        RequestBody::Chunked => ResponseBody::Chunked,
        RequestBody::Length(length) => ResponseBody::Length(length),
        RequestBody::None => ResponseBody::UntilClose,
    }
}
