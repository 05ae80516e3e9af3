//! Conversion of an HTTP/2 field block to the text form of a head.

use super::stream::H2Head;
use crate::field::FieldId;
use crate::head::{HeadFault, HeadLimits};
use crate::octet::{is_tchar, is_text};
use crate::status::status_reason;
use crate::websocket::WEBSOCKET_ACCEPT_BYTES;

/// Size of a field in addition to its text (RFC 9113 §6.5.2).
const FIELD_BYTES: usize = 32;
/// Capacity above which memory is freed after a block.
const KEPT_BYTES_MAX: usize = 8 * 1024;

/// Collects the fields of one block at a time.
///
/// A violation of HTTP/2 makes the message malformed and the stream is reset; a message that is valid but not accepted
/// by eddy is a fault and gets a response.
#[derive(Debug, Default)]
pub(super) struct FieldList {
    method: Vec<u8>,
    scheme: Vec<u8>,
    authority: Vec<u8>,
    path: Vec<u8>,
    status: Vec<u8>,
    protocol: Vec<u8>,
    /// The regular fields as lines.
    lines: Vec<u8>,
    cookie: Vec<u8>,
    host: Option<Vec<u8>>,
    /// Pseudo-header fields seen, as bits of [`Pseudo`].
    seen: u8,
    count: usize,
    bytes: usize,
    length: Option<u64>,
    has_regular: bool,
    is_malformed: bool,
    fault: Option<HeadFault>,
}

/// Pseudo-header fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pseudo {
    Method = 1,
    Scheme = 2,
    Authority = 4,
    Path = 8,
    /// Of an extended `CONNECT` (RFC 8441).
    Protocol = 16,
    Status = 32,
}

/// A received request head.
#[derive(Debug)]
pub(super) struct Arrived {
    pub(super) head: H2Head,
    /// Announced length of the body.
    pub(super) length: Option<u64>,
}

/// A received response head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answered {
    pub(super) status: u16,
    /// Announced length of the body.
    pub(super) length: Option<u64>,
}

/// Reason for rejecting a response head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeadRejection {
    /// It violates HTTP/2.
    Malformed,
    /// It exceeds the limits.
    Head(HeadFault),
}

/// Marks a message that violates HTTP/2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

impl FieldList {
    /// Resets the list for the next block.
    pub(super) fn clear(&mut self) {
        let Self { method, scheme, authority, path, protocol, status, lines, cookie, .. } = self;
        for vector in [method, scheme, authority, path, protocol, status, lines, cookie] {
            vector.clear();
            vector.shrink_to(KEPT_BYTES_MAX);
        }
        self.host = None;
        self.seen = 0;
        self.count = 0;
        self.bytes = 0;
        self.length = None;
        self.has_regular = false;
        self.is_malformed = false;
        self.fault = None;
    }

    /// Adds one field. Beyond the limits nothing is stored, so that a small block never becomes large.
    ///
    /// # Spec
    /// RFC 9113 §8.2, §8.3
    pub(super) fn add(&mut self, name: &[u8], value: &[u8], limits: &HeadLimits) {
        self.bytes = self.bytes.saturating_add(name.len() + value.len() + FIELD_BYTES);
        if self.bytes > limits.head_bytes_max as usize {
            self.fault.get_or_insert(HeadFault::HeadTooLarge);
            return;
        }
        let is_pseudo = name.first() == Some(&b':');
        if !is_value(value) {
            self.is_malformed = true;
        } else if is_pseudo {
            self.add_pseudo(name, value);
        } else if name.is_empty() || !name.iter().all(|byte| is_tchar(*byte) && !byte.is_ascii_uppercase()) {
            self.is_malformed = true;
        } else {
            self.has_regular = true;
            self.count += 1;
            if self.count > usize::from(limits.fields_max) {
                self.fault.get_or_insert(HeadFault::TooManyFields);
                return;
            }
            self.add_regular(name, value);
        }
    }

    fn add_pseudo(&mut self, name: &[u8], value: &[u8]) {
        let (pseudo, place) = match name {
            b":method" => (Pseudo::Method, &mut self.method),
            b":scheme" => (Pseudo::Scheme, &mut self.scheme),
            b":authority" => (Pseudo::Authority, &mut self.authority),
            b":path" => (Pseudo::Path, &mut self.path),
            b":protocol" => (Pseudo::Protocol, &mut self.protocol),
            b":status" => (Pseudo::Status, &mut self.status),
            _ => {
                self.is_malformed = true;
                return;
            }
        };
        let bit = pseudo as u8;
        self.is_malformed |= self.has_regular || self.seen & bit != 0;
        self.seen |= bit;
        place.clear();
        place.extend_from_slice(value);
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "most fields mean nothing to the framing")]
    fn add_regular(&mut self, name: &[u8], value: &[u8]) {
        match FieldId::from_name(name) {
            // These fields are about an HTTP/1 connection.
            FieldId::Connection
            | FieldId::TransferEncoding
            | FieldId::Upgrade
            | FieldId::KeepAlive
            | FieldId::ProxyConnection => self.is_malformed = true,
            FieldId::Te if !value.eq_ignore_ascii_case(b"trailers") => self.is_malformed = true,
            FieldId::Host => match &self.host {
                None => self.host = Some(value.to_vec()),
                Some(_) => {
                    self.fault.get_or_insert(HeadFault::HostRepeated);
                }
            },
            FieldId::Cookie => {
                if !self.cookie.is_empty() {
                    self.cookie.extend_from_slice(b"; ");
                }
                self.cookie.extend_from_slice(value);
            }
            FieldId::ContentLength => {
                self.is_malformed |= self.length.is_some();
                self.length = parse_length(value);
                self.is_malformed |= self.length.is_none();
                write_field(&mut self.lines, name, value);
            }
            _ => write_field(&mut self.lines, name, value),
        }
    }

    /// Returns the size of all fields of the block so far, stored or not, including 32 bytes for each (RFC 9113
    /// §6.5.2).
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    #[cfg(test)]
    pub(super) fn lines_capacity(&self) -> usize {
        self.lines.capacity()
    }

    fn has(&self, pseudo: Pseudo) -> bool {
        self.seen & pseudo as u8 != 0
    }

    /// Writes a request head in text form; `is_ended` if no body follows.
    ///
    /// # Errors
    /// When it violates HTTP/2.
    ///
    /// # Spec
    /// RFC 9113 §8.1.1, §8.3.1, §8.5; §8.2.3 for `Cookie`; RFC 8441 §4
    pub(super) fn write_request(&mut self, is_ended: bool) -> Result<Arrived, Malformed> {
        let is_tunnel = self.method == b"CONNECT";
        if self.has(Pseudo::Protocol) && !is_tunnel {
            return Err(Malformed);
        }
        let is_complete = if is_tunnel && !self.has(Pseudo::Protocol) {
            self.has(Pseudo::Authority) && !self.has(Pseudo::Scheme) && !self.has(Pseudo::Path)
        } else {
            self.has(Pseudo::Method)
                && self.has(Pseudo::Scheme)
                && self.has(Pseudo::Path)
                && !self.path.is_empty()
        };
        let is_scheme_right = !self.has(Pseudo::Scheme) || is_scheme(&self.scheme);
        // A head that was not stored completely cannot be checked for completeness.
        if self.is_malformed
            || !is_scheme_right
            || self.has(Pseudo::Status)
            || (!is_complete && self.fault.is_none())
        {
            return Err(Malformed);
        }
        // Data in a tunnel has no length and is not a body.
        if self.length.is_some_and(|length| is_tunnel || (is_ended && length > 0)) {
            return Err(Malformed);
        }
        let fault = self.fault.or_else(|| self.find_fault());
        let mut text = Vec::new();
        if fault.is_none() {
            self.write_text(&mut text);
        }
        let head = H2Head { text, fault, has_body: !is_ended, is_tunnel };
        Ok(Arrived { head, length: self.length })
    }

    /// Returns the fault of a head that conforms to HTTP/2.
    fn find_fault(&self) -> Option<HeadFault> {
        if self.has(Pseudo::Protocol) && self.protocol != b"websocket" {
            return Some(HeadFault::ConnectRefused);
        }
        let has_path = self.has(Pseudo::Path);
        match &self.host {
            None if self.authority.is_empty() => Some(HeadFault::HostMissing),
            // Recipients that read one of the two must not get another host from the other.
            Some(host) if self.has(Pseudo::Authority) && !host.eq_ignore_ascii_case(&self.authority) => {
                Some(HeadFault::BadHost)
            }
            Some(_) | None if has_path && !self.path.starts_with(b"/") && self.path != b"*" => {
                Some(HeadFault::BadTarget)
            }
            // As for an absolute target of HTTP/1: other schemes are not accepted.
            Some(_) | None if self.has(Pseudo::Scheme) && !is_own_scheme(&self.scheme) => {
                Some(HeadFault::BadTarget)
            }
            Some(_) | None => None,
        }
    }

    fn write_text(&self, text: &mut Vec<u8>) {
        let authority = match &self.host {
            Some(host) if self.authority.is_empty() => host,
            Some(_) | None => &self.authority,
        };
        text.reserve(
            self.method.len() + self.path.len() + authority.len() + self.lines.len() + self.cookie.len() + 80,
        );
        let is_upgrade = self.has(Pseudo::Protocol);
        let method: &[u8] = if is_upgrade { b"GET" } else { &self.method };
        let target = if self.has(Pseudo::Path) { &self.path } else { &self.authority };
        for piece in [method, b" ", target, b" HTTP/1.1\r\n"] {
            text.extend_from_slice(piece);
        }
        write_field(text, b"host", authority);
        if is_upgrade {
            write_field(text, b"connection", b"upgrade");
            write_field(text, b"upgrade", &self.protocol);
        }
        text.extend_from_slice(&self.lines);
        if !self.cookie.is_empty() {
            write_field(text, b"cookie", &self.cookie);
        }
        text.extend_from_slice(b"\r\n");
    }

    /// Appends a response head in text form to `out`. `is_ended` if nothing follows, `is_for_head` for a response to
    /// `HEAD`, `accept` for a response to a WebSocket request: its acceptance is written in HTTP/1.1 form.
    ///
    /// # Errors
    /// When it violates HTTP/2 or exceeds the limits of a head; the appended text is then unusable.
    ///
    /// # Spec
    /// RFC 9113 §8.1, §8.1.1, §8.3.2, §8.5, §8.6; RFC 8441 §5
    pub(super) fn write_answer(
        &mut self,
        out: &mut Vec<u8>,
        is_ended: bool,
        is_for_head: bool,
        accept: Option<[u8; WEBSOCKET_ACCEPT_BYTES]>,
    ) -> Result<Answered, HeadRejection> {
        if let Some(fault) = self.fault {
            return Err(HeadRejection::Head(fault));
        }
        let status = parse_status(&self.status).filter(|_| self.seen == Pseudo::Status as u8);
        let status = status.filter(|_| !self.is_malformed).ok_or(HeadRejection::Malformed)?;
        let is_interim = status < 200;
        let is_bodiless = is_for_head || matches!(status, 204 | 304);
        let length = if is_bodiless { Some(0) } else { self.length };
        let is_short = is_ended && length.is_some_and(|length| length > 0);
        // HTTP/2 has no protocol switch, and another response must follow an interim response.
        if status == 101 || (is_interim && is_ended) || is_short {
            return Err(HeadRejection::Malformed);
        }
        let accept = accept.filter(|_| (200..300).contains(&status));
        // Data in a tunnel has no length.
        if accept.is_some() && self.length.is_some() {
            return Err(HeadRejection::Malformed);
        }
        let host = self.host.as_deref().unwrap_or_default();
        let reason = status_reason(status).as_bytes();
        out.reserve(self.lines.len() + self.cookie.len() + host.len() + reason.len() + 40);
        match accept {
            Some(accept) => {
                out.extend_from_slice(b"HTTP/1.1 101 Switching Protocols\r\n");
                write_field(out, b"connection", b"upgrade");
                write_field(out, b"upgrade", b"websocket");
                write_field(out, b"sec-websocket-accept", &accept);
            }
            None => {
                for piece in [b"HTTP/1.1 ", self.status.as_slice(), b" ", reason, b"\r\n"] {
                    out.extend_from_slice(piece);
                }
            }
        }
        out.extend_from_slice(&self.lines);
        for (name, value) in [(b"host".as_slice(), host), (b"cookie", &self.cookie)] {
            if !value.is_empty() {
                write_field(out, name, value);
            }
        }
        out.extend_from_slice(b"\r\n");
        Ok(Answered { status, length })
    }

    /// Writes trailers in the form of the end of a chunked body, for the chunked decoder.
    ///
    /// # Errors
    /// When they violate HTTP/2 or exceed the limits of a head.
    pub(super) fn write_trailers(&mut self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        if self.is_malformed || self.seen != 0 || self.fault.is_some() {
            return Err(Malformed);
        }
        out.extend_from_slice(b"0\r\n");
        out.extend_from_slice(&self.lines);
        out.extend_from_slice(b"\r\n");
        Ok(())
    }
}

/// Whether a field value is valid: no line ends, and no surrounding white space (RFC 9113 §8.2.1).
fn is_value(value: &[u8]) -> bool {
    let is_blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    !is_blank(value.first()) && !is_blank(value.last()) && value.iter().all(|byte| is_text(*byte))
}

fn parse_status(value: &[u8]) -> Option<u16> {
    match value {
        // Statuses above 599 belong to no class (RFC 9110 §15).
        [b'1'..=b'5', b, c] if b.is_ascii_digit() && c.is_ascii_digit() => {
            str::from_utf8(value).ok()?.parse().ok()
        }
        _ => None,
    }
}

/// Whether a scheme is syntactically valid (RFC 3986 §3.1).
fn is_scheme(value: &[u8]) -> bool {
    let is_more = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    value.first().is_some_and(u8::is_ascii_alphabetic) && value.iter().all(is_more)
}

/// Whether a scheme is accepted. Both are, because the client may speak TLS to a proxy in front of eddy.
fn is_own_scheme(value: &[u8]) -> bool {
    [b"http".as_slice(), b"https"].iter().any(|scheme| value.eq_ignore_ascii_case(scheme))
}

fn parse_length(value: &[u8]) -> Option<u64> {
    let is_number = (1..=19).contains(&value.len()) && value.iter().all(u8::is_ascii_digit);
    str::from_utf8(value).ok().filter(|_| is_number)?.parse().ok()
}

fn write_field(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    for piece in [name, b": ", value, b"\r\n"] {
        out.extend_from_slice(piece);
    }
}
