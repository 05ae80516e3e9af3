//! The head of a response.

use super::framing::{Announced, parse_announced, parse_connection};
use super::{HeadFault, HeadLimits, ResponseBody, Strictness};
use crate::field::{Field, FieldId, Fields, LineFault, parse_lines};
use crate::method::{Method, Version};
use crate::octet::find_text_end;
use crate::span::Span;

/// What a response answers, as far as that decides how it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseContext {
    /// The request's method.
    pub method: Method,
    /// Whether the request offers to switch protocols.
    pub has_upgrade: bool,
}

impl ResponseContext {
    /// A request that offers to switch protocols.
    pub fn upgrade(method: Method) -> Self {
        Self { method, has_upgrade: true }
    }

    /// Whether nothing of HTTP follows a response with this status: what comes next belongs to a tunnel.
    ///
    /// # Spec
    /// [RFC 9110 §7.8, §9.3.6](https://www.rfc-editor.org/rfc/rfc9110#section-9.3.6)
    pub fn is_switched_by(self, status: u16) -> bool {
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

/// The head of a response, parsed; to be used again for the next.
///
/// # Spec
/// [RFC 9112 §4](https://www.rfc-editor.org/rfc/rfc9112#section-4), read strictly but for one thing: the space before an
/// empty reason may be left out, as many origins do.
#[derive(Clone, Debug, Default)]
pub struct ResponseHead {
    /// The status, 100 to 599.
    pub status: u16,
    /// The reason phrase; perhaps empty.
    pub reason: Span,
    /// The version that the origin speaks.
    pub version: Version,
    /// How the body ends.
    pub body: ResponseBody,
    /// The announced length; of the body that `GET` would have brought where there is none (`HEAD`, 304).
    pub content_length: Option<u64>,
    /// Whether the connection can carry another request after this response.
    pub keep_alive: bool,
    pub(super) fields: Vec<Field>,
}

impl ResponseHead {
    /// An empty head to parse into.
    pub fn new() -> Self {
        Self::default()
    }

    /// The fields, in the order sent; `bytes` are those that were parsed.
    pub fn fields<'a>(&'a self, bytes: &'a [u8]) -> Fields<'a> {
        Fields::new(bytes, &self.fields)
    }

    /// Whether another response follows for the same request (RFC 9110 §15.2).
    pub fn is_interim(&self) -> bool {
        (100..200).contains(&self.status) && self.status != 101
    }

    /// Reads exactly one head, from its first byte to its empty line, as the answer to a request with this method.
    ///
    /// # Errors
    /// Any [`HeadFault`]; the client is then answered 502 and the connection closed. A switch of protocols (101)
    /// is one where it was not asked for.
    ///
    /// # Cost
    /// One pass; no allocation once as many fields were seen before.
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

    /// Reads the head that `bytes` begin with; answers with its length, or `None` if more bytes must come first.
    ///
    /// For the first bytes of a response, which most often hold all of its head: saves the scan. Where it answers
    /// `None`, go on with a [`super::HeadScanner`], whose cost is linear however the rest is cut.
    ///
    /// # Errors
    /// As [`ResponseHead::parse`].
    ///
    /// # Cost
    /// One pass; no allocation once as many fields were seen before.
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

    /// Reads the head that `bytes` begin with; answers with its length.
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
        let is_switched = asked.is_switched_by(self.status);
        if self.status == 101 && !is_switched {
            return Err(HeadFault::UnaskedSwitch);
        }
        let announced = parse_announced(bytes, &self.fields, seen, self.version)?;
        let options = parse_connection(bytes, &mut self.fields, seen)?;
        let is_bodiless = matches!(announced, Announced::Nothing | Announced::Length(0));
        let says_what = self.status != 101 || (options.has_upgrade && seen.has(FieldId::Upgrade));
        if is_switched && !(is_bodiless && says_what) {
            return Err(HeadFault::BadSwitch);
        }
        self.body = if is_switched { ResponseBody::None } else { body(self.status, announced, asked.method) };
        self.content_length = match announced {
            Announced::Length(length) => Some(length),
            Announced::Nothing | Announced::Chunked => None,
        };
        // A 1xx or 204 that announces a body may well be followed by one: what comes next can't be believed.
        let is_honest = match announced {
            Announced::Nothing | Announced::Length(0) => true,
            Announced::Length(_) | Announced::Chunked => self.status >= 200 && self.status != 204,
        };
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

    /// Takes note that the head, parsed before, has come in frames; `has_body` says whether anything followed it there.
    pub fn note_framed(&mut self, has_body: bool) {
        self.version = Version::Http2;
        // Frames tell of that.
        self.keep_alive = true;
        if !has_body && self.body == ResponseBody::UntilClose {
            self.body = ResponseBody::Length(0);
        }
    }

    /// [`Self::body`] as it is read: of one in frames the end tells itself, and there may be trailers behind it, whatever length was
    /// announced.
    pub fn body_read(&self) -> ResponseBody {
        let is_framed = self.version == Version::Http2 && matches!(self.body, ResponseBody::Length(1..));
        if is_framed { ResponseBody::UntilClose } else { self.body }
    }

    /// [`Self::body`] as a client of this version is sent it. That there is none is told by frames on both sides alike.
    pub fn body_towards(&self, client: Version) -> ResponseBody {
        let is_untold = self.version == Version::Http2 && self.content_length.is_none();
        if is_untold && client == Version::Http2 && self.body == ResponseBody::Length(0) {
            return ResponseBody::UntilClose;
        }
        self.body.towards(client)
    }

    /// The places of the fields.
    pub(crate) fn places(&self) -> &[Field] {
        &self.fields
    }

    /// Reads the status line; answers with where the fields begin.
    ///
    /// A status above 599 has no class (RFC 9110 §15). An endpoint's is a fault of the endpoint; a configuration may ask for an
    /// answer of our own that has one, as an `nginx.conf` can.
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
        let line = bytes.get(start..).unwrap_or_default();
        let (reason, rest) = line.split_at_checked(find_text_end(line)).unwrap_or_default();
        let end = start + reason.len();
        self.reason = Span::new(start, end);
        if rest.starts_with(b"\r\n") { Ok(end + 2) } else { Err(LineFault::of_control(rest).into()) }
    }
}

/// How the body ends, by the rules in their order (RFC 9112 §6.3).
fn body(status: u16, announced: Announced, request_method: Method) -> ResponseBody {
    if status < 200 || status == 204 || status == 304 || request_method == Method::Head {
        return ResponseBody::None;
    }
    match announced {
        Announced::Chunked => ResponseBody::Chunked,
        Announced::Length(length) => ResponseBody::Length(length),
        Announced::Nothing => ResponseBody::UntilClose,
    }
}
