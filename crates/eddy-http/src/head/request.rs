//! Request heads.

use super::authority::{Authority, parse_authority};
use super::framing::{list, parse_announced, parse_connection, span_of, value_of};
use super::target::{RequestTarget, parse_target};
use super::{HeadFault, HeadLimits, RequestBody, TargetForm};
use crate::field::{Field, FieldId, Fields, SeenFieldIds, is_line_end, parse_lines};
use crate::method::{METHOD_BYTES_MAX, Method, PREFACE_METHOD, Version};
use crate::octet::{find_token_end, is_tchar, load};
use crate::span::Span;

/// A parsed request head; reusable for the next request.
///
/// After a fault the members hold what was parsed before it, which is enough for an access log entry and nothing else.
///
/// # Spec
/// [RFC 9112 §3](https://www.rfc-editor.org/rfc/rfc9112#section-3), read strictly.
#[derive(Clone, Debug, Default)]
pub struct RequestHead {
    /// The method.
    pub method: Method,
    /// The method's bytes.
    pub method_span: Span,
    /// HTTP version of the client.
    pub version: Version,
    /// The form of the target.
    pub form: TargetForm,
    /// Target as sent.
    pub target: Span,
    /// Path of an origin or absolute form; `*` of `OPTIONS *`. Empty means `/` (RFC 9110 §4.2.3).
    pub path: Span,
    /// Query without its `?`.
    pub query: Option<Span>,
    /// Effective authority, `host` or `host:port`: of an absolute form, else of `Host`. Empty if both are missing.
    pub authority: Span,
    /// Effective authority as the client sent it, even if it was replaced since.
    pub client_authority: Span,
    /// Authority without its port; an IPv6 address keeps its brackets.
    pub host: Span,
    /// Body framing.
    pub body: RequestBody,
    /// Whether the client allows another request on the connection.
    pub keep_alive: bool,
    /// Whether the client waits for `100 Continue` before it sends the body.
    pub expects_continue: bool,
    /// Whether the client offers a protocol switch.
    pub has_upgrade: bool,
    /// Whether the client accepts trailers (`TE: trailers`).
    pub accepts_trailers: bool,
    /// Remaining hops of an `OPTIONS` or `TRACE` request; at zero eddy answers it itself (RFC 9110 §7.6.2).
    pub max_forwards: Option<u32>,
    /// Whether the authority was set by eddy instead of the client.
    pub is_authority_own: bool,
    /// Whether fields were changed after parsing.
    pub(crate) is_edited: bool,
    pub(super) fields: Vec<Field>,
}

/// Origin of a parsed head, which determines the strictness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// A client or an endpoint: the full rules apply.
    Peer,
    /// A head of eddy's own, about to be sent. No CR LF is tolerated before the first line. But the host of a request
    /// may be empty, because that of an HTTP/1.0 client may be, and a response status above 599 is allowed, because a
    /// configuration may ask for it.
    Egress,
}

impl RequestHead {
    /// Creates an empty head to parse into.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the fields, in the order sent; `bytes` must be those that were parsed.
    pub fn fields<'a>(&'a self, bytes: &'a [u8]) -> Fields<'a> {
        Fields::new(bytes, &self.fields)
    }

    /// Returns the method name; `bytes` must be those that were parsed.
    pub fn method_name<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        self.method_span.of(bytes)
    }

    /// Iterates over the protocols that the client offers to switch to, in its order. Empty for requests with a body,
    /// which would have to be sent first, and for versions without protocol switch. `bytes` must be those that were
    /// parsed.
    ///
    /// # Spec
    /// [RFC 9110 §7.8](https://www.rfc-editor.org/rfc/rfc9110#section-7.8)
    pub fn upgrades<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let may_switch = self.has_upgrade && self.version != Version::Http10 && self.body.is_empty();
        let offered = self.fields(bytes).all(FieldId::Upgrade).flat_map(list);
        offered.filter(move |_| may_switch)
    }

    /// Whether a success response makes a tunnel of the connection or stream: `CONNECT`, including extended `CONNECT`
    /// of HTTP/2.
    pub fn wants_tunnel(&self) -> bool {
        self.method == Method::Connect || (self.version == Version::Http2 && self.has_upgrade)
    }

    /// Returns the target in origin form (or `*`), as sent to an origin; `bytes` must be those that were parsed.
    ///
    /// # Cost
    /// Copies to `scratch` only for a target such as `http://host?query`, which lacks the path.
    ///
    /// # Spec
    /// [RFC 9112 §3.2.1](https://www.rfc-editor.org/rfc/rfc9112#section-3.2.1), §3.2.4 for `OPTIONS`
    pub fn origin_target<'a>(&self, bytes: &'a [u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
        if self.form != TargetForm::Absolute {
            return self.target.of(bytes);
        }
        match (self.path.is_empty(), self.query) {
            (false, _) => Span { start: self.path.start, end: self.target.end }.of(bytes),
            (true, None) if self.method == Method::Options => b"*",
            (true, None) => b"/",
            (true, Some(query)) => {
                scratch.clear();
                scratch.extend_from_slice(b"/?");
                scratch.extend_from_slice(query.of(bytes));
                scratch
            }
        }
    }

    /// Parses the head at the beginning of `bytes`; returns its length, or `None` if more bytes are needed.
    ///
    /// For the first bytes of a request, which usually contain the whole head: saves the scan. After `None`, continue
    /// with a [`super::HeadScanner`], whose cost is linear however the rest is split.
    ///
    /// # Errors
    /// Any [`HeadFault`]; the connection then accepts no further request.
    ///
    /// # Cost
    /// One pass; no allocation once a head with as many fields was parsed.
    pub fn parse_start(&mut self, bytes: &[u8], limits: &HeadLimits) -> Result<Option<usize>, HeadFault> {
        let window = bytes.get(..limits.head_bytes_max as usize).unwrap_or(bytes);
        match self.parse_front(window, limits, Strictness::Peer) {
            Ok(end) => Ok(Some(end)),
            Err(HeadFault::Truncated) if window.len() == bytes.len() => Ok(None),
            Err(HeadFault::Truncated) => Err(HeadFault::HeadTooLarge),
            Err(fault) => Err(fault),
        }
    }

    /// Parses exactly one head, from its first byte (or the CR LF before it) to its empty line.
    ///
    /// # Errors
    /// Any [`HeadFault`]; the connection then accepts no further request.
    ///
    /// # Cost
    /// One pass; no allocation once a head with as many fields was parsed.
    pub fn parse(&mut self, bytes: &[u8], limits: &HeadLimits) -> Result<(), HeadFault> {
        self.parse_with(bytes, limits, Strictness::Peer)
    }

    /// Parses a head received over HTTP/2, in the form that [`crate::Http2`] writes. HTTP/2 frames mark the end of the
    /// body: where a body follows without an announced length, it is [`RequestBody::Chunked`] for the recipient. Data
    /// after a tunnel request is not a body.
    ///
    /// # Errors
    /// Any [`HeadFault`]; the connection still accepts other requests.
    ///
    /// # Cost
    /// As [`Self::parse`].
    pub fn parse_http2(
        &mut self,
        bytes: &[u8],
        limits: &HeadLimits,
        has_body: bool,
    ) -> Result<(), HeadFault> {
        self.parse(bytes, limits)?;
        self.version = Version::Http2;
        if has_body && self.body == RequestBody::None {
            self.body = RequestBody::Chunked;
            if self.method == Method::Trace {
                return Err(HeadFault::TraceWithBody);
            }
            self.expects_continue = self.fields(bytes).first(FieldId::Expect).is_some();
        }
        debug_assert!(has_body || self.body.is_empty(), "a length that is not kept is refused before");
        Ok(())
    }

    pub(crate) fn parse_with(
        &mut self,
        bytes: &[u8],
        limits: &HeadLimits,
        strictness: Strictness,
    ) -> Result<(), HeadFault> {
        if bytes.len() > limits.head_bytes_max as usize {
            self.clear();
            return Err(HeadFault::HeadTooLarge);
        }
        let end = self.parse_front(bytes, limits, strictness)?;
        if end == bytes.len() { Ok(()) } else { Err(HeadFault::Excess) }
    }

    /// Parses the head at the beginning of `bytes`; returns its length.
    fn parse_front(
        &mut self,
        bytes: &[u8],
        limits: &HeadLimits,
        strictness: Strictness,
    ) -> Result<usize, HeadFault> {
        self.clear();
        if bytes == b"\r" {
            return Err(HeadFault::Truncated);
        }
        let start = if strictness == Strictness::Peer && is_line_end(bytes, 0) { 2 } else { 0 };
        let target_start = self.parse_method(bytes, start)?;
        let target = parse_target(bytes, target_start, self.method, limits.target_bytes_max)?;
        self.form = target.form;
        self.target = target.whole;
        self.path = target.path;
        self.query = target.query;
        let (version, lines_start) = parse_version(bytes, target.whole.end as usize + 1)?;
        self.version = version;
        if self.method == Method::Other && self.method_name(bytes) == PREFACE_METHOD {
            return Err(HeadFault::BadMethod);
        }
        if self.form == TargetForm::Asterisk && self.method != Method::Options {
            return Err(HeadFault::BadTarget);
        }
        let (seen, end) = parse_lines(bytes, lines_start, &mut self.fields, limits.fields_max.into())?;
        self.check_authority(bytes, seen, &target, strictness)?;
        self.check_body(bytes, seen)?;
        self.check_connection(bytes, seen)?;
        self.check_connect()?;
        Ok(end)
    }

    /// Returns the positions of the fields.
    pub(crate) fn places(&self) -> &[Field] {
        &self.fields
    }

    fn clear(&mut self) {
        let mut fields = std::mem::take(&mut self.fields);
        fields.clear();
        *self = Self { fields, ..Self::default() };
    }

    /// Parses the method; returns the index of the target.
    fn parse_method(&mut self, bytes: &[u8], start: usize) -> Result<usize, HeadFault> {
        let line = bytes.split_at(start).1;
        let (name, rest) = line.split_at(find_token_end(line));
        let end = start + name.len();
        if name.len() > METHOD_BYTES_MAX {
            return Err(HeadFault::MethodTooLong);
        }
        self.method_span = Span::new(start, end);
        self.method = Method::from_word(load(line), name.len());
        let is_token =
            self.method != Method::Other || (!name.is_empty() && name.iter().all(|&byte| is_tchar(byte)));
        match rest {
            [b' ', ..] if is_token => Ok(end + 1),
            [b'\n', ..] => Err(HeadFault::BareLf),
            [_, ..] => Err(HeadFault::BadMethod),
            [] => Err(HeadFault::Truncated),
        }
    }

    fn check_authority(
        &mut self,
        bytes: &[u8],
        seen: SeenFieldIds,
        target: &RequestTarget,
        strictness: Strictness,
    ) -> Result<(), HeadFault> {
        if seen.has_repeated(FieldId::Host) {
            return Err(HeadFault::HostRepeated);
        }
        if !seen.has(FieldId::Host) && self.version == Version::Http11 {
            return Err(HeadFault::HostMissing);
        }
        let host = span_of(&self.fields, FieldId::Host);
        let authority = match parse_authority(bytes, host) {
            Some(authority) => authority,
            // An empty `Host` is allowed where the target has its own authority or none (RFC 9112 §3.2, §3.3).
            None if host.is_empty()
                && (strictness == Strictness::Egress
                    || self.version == Version::Http10
                    || self.form != TargetForm::Origin) =>
            {
                Authority {
                    whole: Span { start: host.start, end: host.start },
                    host: Span { start: host.start, end: host.start },
                }
            }
            None => return Err(HeadFault::BadHost),
        };
        let authority = match target.authority {
            Some(span) => parse_authority(bytes, span).ok_or(HeadFault::BadTarget)?,
            None => authority,
        };
        self.authority = authority.whole;
        self.client_authority = authority.whole;
        self.host = authority.host;
        Ok(())
    }

    fn check_body(&mut self, bytes: &[u8], seen: SeenFieldIds) -> Result<(), HeadFault> {
        self.body = parse_announced(bytes, &self.fields, seen, self.version)?;
        if self.method == Method::Trace && !self.body.is_empty() {
            return Err(HeadFault::TraceWithBody);
        }
        if seen.has(FieldId::Expect) {
            let expectation = value_of(bytes, &self.fields, FieldId::Expect);
            if seen.has_repeated(FieldId::Expect) || !expectation.eq_ignore_ascii_case(b"100-continue") {
                return Err(HeadFault::UnknownExpectation);
            }
            self.expects_continue = self.version == Version::Http11 && !self.body.is_empty();
        }
        Ok(())
    }

    /// Checks that a tunnel request names a port. Data after it is not a body (RFC 9110 §9.3.6).
    fn check_connect(&self) -> Result<(), HeadFault> {
        if self.method != Method::Connect {
            return Ok(());
        }
        if self.authority == self.host {
            return Err(HeadFault::BadTarget);
        }
        if self.version == Version::Http10 || self.body != RequestBody::None {
            return Err(HeadFault::ConnectRefused);
        }
        Ok(())
    }

    fn check_connection(&mut self, bytes: &[u8], seen: SeenFieldIds) -> Result<(), HeadFault> {
        let options = parse_connection(bytes, &mut self.fields, seen)?;
        self.keep_alive = options.keeps_alive(self.version);
        self.has_upgrade = options.has_upgrade && seen.has(FieldId::Upgrade);
        let fields = Fields::new(bytes, &self.fields);
        if seen.has(FieldId::Te) {
            self.accepts_trailers =
                fields.all(FieldId::Te).flat_map(list).any(|member| member.eq_ignore_ascii_case(b"trailers"));
        }
        if seen.has(FieldId::MaxForwards) && matches!(self.method, Method::Options | Method::Trace) {
            self.max_forwards = fields.first(FieldId::MaxForwards).and_then(parse_hops);
        }
        Ok(())
    }
}

/// Parses `HTTP/1.x` and the following line end; returns the index of the fields.
pub(super) fn parse_version(bytes: &[u8], at: usize) -> Result<(Version, usize), HeadFault> {
    let Some((text, rest)) = bytes.get(at..).and_then(<[u8]>::split_first_chunk::<8>) else {
        return Err(HeadFault::Truncated);
    };
    let version = match text {
        b"HTTP/1.1" => Version::Http11,
        b"HTTP/1.0" => Version::Http10,
        [b'H', b'T', b'T', b'P', b'/', b'2'..=b'9', b'.', b'0'..=b'9'] => {
            return Err(match rest {
                [b'\r', b'\n', ..] => HeadFault::UnknownVersion,
                [] | [b'\r'] => HeadFault::Truncated,
                _ => HeadFault::BadVersion,
            });
        }
        _ => return Err(HeadFault::BadVersion),
    };
    match rest {
        [b'\r', b'\n', ..] => Ok((version, at + 10)),
        [] | [b'\r'] => Err(HeadFault::Truncated),
        [b'\r', ..] => Err(HeadFault::BareCr),
        [b'\n', ..] => Err(HeadFault::BareLf),
        _ => Err(HeadFault::BadVersion),
    }
}

fn parse_hops(value: &[u8]) -> Option<u32> {
    str::from_utf8(value).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()
}
