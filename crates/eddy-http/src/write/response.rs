//! Writer of response heads towards the client.

use super::line::{LINE_END, copy_fields, write_field, write_number, write_number_field};
use super::request::{IdState, RequestId, write_end};
use crate::edits::FieldEdits;
use crate::field::{Field, FieldId, Traits};
use crate::head::{ResponseBody, ResponseHead};
use crate::method::Version;

/// A parsed response and its changes on the way to the client.
#[derive(Clone, Copy, Debug)]
pub struct ResponseWrite<'a> {
    /// The bytes that `head` was parsed from.
    pub bytes: &'a [u8],
    /// Received response.
    pub head: &'a ResponseHead,
    /// Changes by the rule.
    pub edits: &'a FieldEdits,
    /// Body framing towards the client; see [`ResponseBody::towards`].
    pub body: ResponseBody,
    /// HTTP version of the client.
    pub client_version: Version,
    /// Whether the client may send another request on the connection.
    pub keep_alive: bool,
    /// Pseudonym added to `Via`, if any (RFC 9110 §7.6.3).
    pub via: Option<&'a str>,
    /// Date to write if the response has none; empty for none ([`crate::format_date`]).
    pub date: &'a [u8],
    /// Request ID, if it is sent to the client.
    pub request_id: Option<RequestId<'a>>,
    /// New use of the connection after this response, if it is a protocol switch.
    pub switched: Option<Switched<'a>>,
}

/// Use of a connection after a protocol switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switched<'a> {
    /// A tunnel, as requested by `CONNECT`.
    Tunnel,
    /// This protocol.
    To(&'a [u8]),
}

/// Writes the head of a final response towards the client.
///
/// Framing and `Connection` are written anew; hop-by-hop fields and those that `Connection` nominates are removed. The
/// connection is announced as closing where the body ends with it, whatever `keep_alive` says. For an HTTP/2 client a
/// protocol switch is a success response, because the client requested it by an extended `CONNECT` (RFC 8441).
///
/// # Cost
/// Appends to `out`; copies each kept line once. Allocates only where `out` must grow.
///
/// # Spec
/// [RFC 9110 §7.6](https://www.rfc-editor.org/rfc/rfc9110#section-7.6), §6.6.1 for `Date`;
/// [RFC 9112 §9](https://www.rfc-editor.org/rfc/rfc9112#section-9)
pub fn write_response_head(out: &mut Vec<u8>, response: &ResponseWrite<'_>) {
    let head = response.head;
    debug_assert!(
        response.client_version == Version::Http11 || response.body != ResponseBody::Chunked,
        "an HTTP/1.0 client knows no chunks"
    );
    out.reserve(response.bytes.len() + 256);
    let is_framed = response.client_version == Version::Http2;
    if matches!(response.switched, Some(Switched::To(_))) && is_framed {
        write_status_line(out, 200, b"OK");
    } else {
        write_status_line(out, head.status, head.reason.of(response.bytes));
    }
    let has_no_key = response.switched.is_some() && is_framed;
    let mut id = response.request_id.map(IdState::new);
    let has_trailers = response.body == ResponseBody::Chunked
        || (response.client_version == Version::Http2 && response.body == ResponseBody::UntilClose);
    let mut has_date = response.date.is_empty() || response.edits.decides("date");
    copy_fields(out, response.bytes, head.places(), |field| {
        has_date |= field.id == FieldId::Date;
        (is_kept(field) || (has_trailers && announces_trailers(field)))
            && !(has_no_key && field.name.of(response.bytes).eq_ignore_ascii_case(b"sec-websocket-accept"))
            && id.as_mut().is_none_or(|id| id.keeps(field, field.name.of(response.bytes)))
            && (response.edits.is_empty() || !response.edits.drops(field.id, field.name.of(response.bytes)))
    });
    if !has_date {
        write_field(out, b"Date", response.date);
    }
    match response.switched {
        None => {
            write_framing(out, response);
            write_connection(
                out,
                response.client_version,
                response.keep_alive && response.body != ResponseBody::UntilClose,
            );
        }
        Some(Switched::To(protocol)) if !is_framed => {
            out.extend_from_slice(b"Connection: Upgrade\r\n");
            write_field(out, b"Upgrade", protocol);
        }
        Some(Switched::To(_) | Switched::Tunnel) => {}
    }
    write_end(out, (head.version, response.via), id, response.edits);
}

/// Writes the head of an interim response (1xx) towards an HTTP/1.1 client.
///
/// HTTP/1.0 does not have interim responses: send none to such a client (RFC 9110 §15.2).
pub fn write_interim_head(out: &mut Vec<u8>, bytes: &[u8], head: &ResponseHead) {
    debug_assert!(head.is_interim(), "a final response has its own writer");
    write_status_line(out, head.status, head.reason.of(bytes));
    copy_fields(out, bytes, head.places(), is_kept);
    out.extend_from_slice(LINE_END);
}

pub(super) fn write_status_line(out: &mut Vec<u8>, status: u16, reason: &[u8]) {
    out.extend_from_slice(b"HTTP/1.1 ");
    write_number(out, status.into());
    out.push(b' ');
    out.extend_from_slice(reason);
    out.extend_from_slice(LINE_END);
}

/// Writes `Connection` where the persistence differs from the default of the version (RFC 9112 §9.3).
pub(super) fn write_connection(out: &mut Vec<u8>, client_version: Version, keep_alive: bool) {
    match (keep_alive, client_version) {
        // HTTP/2 does not use `Connection`.
        (_, Version::Http2) => {}
        (false, _) => out.extend_from_slice(b"Connection: close\r\n"),
        (true, Version::Http10) => out.extend_from_slice(b"Connection: keep-alive\r\n"),
        (true, Version::Http11) => {}
    }
}

/// Whether a field of the origin is forwarded, apart from edits and the request ID.
fn is_kept(field: &Field) -> bool {
    let traits = field.id.traits();
    !traits.has(Traits::HOP) && !traits.has(Traits::FRAMING) && !field.is_nominated
}

/// Whether a field of the origin is `Trailer`, which is forwarded with the trailers only.
fn announces_trailers(field: &Field) -> bool {
    field.id == FieldId::Trailer && !field.is_nominated
}

fn write_framing(out: &mut Vec<u8>, response: &ResponseWrite<'_>) {
    match response.body {
        ResponseBody::Length(length) => write_number_field(out, b"Content-Length", length),
        ResponseBody::Chunked => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
        ResponseBody::UntilClose => {}
        // 304 and responses to `HEAD` carry the length of the body that is left out, 1xx and 204 never (RFC 9110 §8.6).
        ResponseBody::None if response.head.status < 200 || response.head.status == 204 => {}
        ResponseBody::None => {
            if let Some(length) = response.head.content_length {
                write_number_field(out, b"Content-Length", length);
            }
        }
    }
}

/// Interim response to a client that waits before it sends the body (RFC 9110 §15.2.1).
pub const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
