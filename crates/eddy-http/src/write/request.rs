//! Writer of request heads towards the upstream.

use super::forwarded::{Decided, ForwardedClient};
use super::line::{LINE_END, copy_fields, write_field, write_number_field};
use crate::edits::FieldEdits;
use crate::field::{Field, FieldId, Fields, Traits, is_alias_of};
use crate::head::{RequestBody, RequestHead};
use crate::method::Version;
use crate::octet;

/// A parsed request and its changes on the way to the upstream.
#[derive(Clone, Copy, Debug)]
pub struct RequestWrite<'a> {
    /// The bytes that `head` was parsed from.
    pub bytes: &'a [u8],
    /// Received request.
    pub head: &'a RequestHead,
    /// Target in origin form or `*`: [`RequestHead::origin_target`], or as rewritten by a rule.
    pub target: &'a [u8],
    /// Host to send, `host` or `host:port`: [`RequestHead::authority`], or as set by a rule.
    pub host: &'a [u8],
    /// Body framing towards the upstream.
    pub body: RequestBody,
    /// Changes by the rule.
    pub edits: &'a FieldEdits,
    /// Client information for the upstream.
    pub client: ForwardedClient<'a>,
    /// Pseudonym added to `Via`, if any (RFC 9110 §7.6.3).
    pub via: Option<&'a str>,
    /// Request ID, if any.
    pub request_id: Option<RequestId<'a>>,
    /// Protocol that the upstream is asked to switch to, if any; such a request has no body.
    pub upgrade: Option<&'a [u8]>,
    /// Whether the client's `Expect: 100-continue` is forwarded, so that the upstream responds to it.
    pub forwards_expectation: bool,
}

/// Request ID and the field that carries it.
#[derive(Clone, Copy, Debug)]
pub struct RequestId<'a> {
    /// Field name.
    pub name: &'a str,
    /// ID: visible ASCII.
    pub value: &'a str,
    /// Whether it replaces an ID from the peer; otherwise it is written only if there is none.
    pub replace: bool,
}

/// Writes a request head towards the upstream, always as HTTP/1.1.
///
/// Framing and `Host` are written anew. Removed are: hop-by-hop fields and those that `Connection` nominates, `Expect`
/// unless [`RequestWrite::forwards_expectation`], `Upgrade` except for the requested protocol, and with it the fields of
/// other handshakes, spellings that could be taken for a field that eddy knows, and forwarding fields of untrusted
/// peers.
///
/// # Cost
/// Appends to `out`; copies each kept line once. Allocates only where `out` must grow.
///
/// # Spec
/// [RFC 9110 §7.6](https://www.rfc-editor.org/rfc/rfc9110#section-7.6),
/// [RFC 9112 §3.2, §6](https://www.rfc-editor.org/rfc/rfc9112#section-3.2),
/// [RFC 7239](https://www.rfc-editor.org/rfc/rfc7239)
pub fn write_request_head(out: &mut Vec<u8>, request: &RequestWrite<'_>) {
    let head = request.head;
    let fields = head.fields(request.bytes);
    debug_assert!(request.via.is_none_or(is_text), "a pseudonym is checked where it is configured");
    debug_assert!(request.request_id.is_none_or(|id| is_text(id.value)), "an id is visible ASCII");
    out.reserve(request.bytes.len() + request.target.len() + 512);
    out.extend_from_slice(head.method_name(request.bytes));
    out.push(b' ');
    out.extend_from_slice(request.target);
    out.extend_from_slice(b" HTTP/1.1\r\nHost: ");
    out.extend_from_slice(request.host);
    out.extend_from_slice(LINE_END);
    let mut id = request.request_id.map(IdState::new);
    let offers_switch = fields.first(FieldId::Upgrade).is_some();
    copy_fields(out, request.bytes, head.places(), |field| {
        is_kept(request, field)
            && !(offers_switch && is_of_lost_handshake(request, field))
            && id.as_mut().is_none_or(|id| id.keeps(field, field.name.of(request.bytes)))
            && (request.edits.is_empty() || !request.edits.drops(field.id, field.name.of(request.bytes)))
    });
    write_framing(out, request);
    let edited = if head.is_edited { fields } else { Fields::default() };
    let decided = Decided { edits: request.edits, edited };
    request.client.write(out, fields, head.client_authority.of(request.bytes), &decided);
    write_end(out, (head.version, request.via), id, request.edits);
}

/// Writes the end of a head: `Via` with the version of the received message (RFC 9110 §7.6.3), the request ID, and the
/// fields of the rule.
pub(super) fn write_end(
    out: &mut Vec<u8>,
    (version, via): (Version, Option<&str>),
    id: Option<IdState<'_>>,
    edits: &FieldEdits,
) {
    if let Some(pseudonym) = via.filter(|_| !edits.decides("via")) {
        for piece in [b"Via: ", version.number(), b" ", pseudonym.as_bytes(), LINE_END] {
            out.extend_from_slice(piece);
        }
    }
    if let Some(id) = id {
        id.write(out, edits);
    }
    for (name, value) in edits.written() {
        write_field(out, name, value);
    }
    out.extend_from_slice(LINE_END);
}

/// Whether a field of the client is forwarded, apart from edits and the request ID.
fn is_kept(request: &RequestWrite<'_>, field: &Field) -> bool {
    let traits = field.id.traits();
    if traits.has(Traits::HOP) || field.is_nominated || field.id == FieldId::Alias {
        return false;
    }
    if traits.has(Traits::FRAMING) {
        return field.id == FieldId::Trailer && request.body == RequestBody::Chunked;
    }
    if traits.has(Traits::FORWARDED) {
        return request.client.keeps(field);
    }
    field.id != FieldId::MaxForwards || request.head.max_forwards.is_none()
}

/// Whether a field belongs to a WebSocket handshake that is not forwarded: any field of such handshakes if there is no
/// switch to WebSocket, and always fields from before RFC 6455. Some of these (`Sec-WebSocket-Key1`) make a server read
/// the bytes after the head as its body.
fn is_of_lost_handshake(request: &RequestWrite<'_>, field: &Field) -> bool {
    if field.id.is_known() {
        return false;
    }
    let name = field.name.of(request.bytes);
    let begins_with = |start: &[u8]| name.get(..start.len()).is_some_and(|head| is_alias_of(head, start));
    let is_old = begins_with(b"websocket-")
        || begins_with(b"sec-websocket-key1")
        || begins_with(b"sec-websocket-key2");
    let is_asked = request.upgrade.is_some_and(|protocol| protocol.eq_ignore_ascii_case(b"websocket"));
    is_old || (!is_asked && begins_with(b"sec-websocket-"))
}

/// Whether the text can be part of a line without ending it.
fn is_text(text: &str) -> bool {
    text.bytes().all(octet::is_text)
}

fn write_framing(out: &mut Vec<u8>, request: &RequestWrite<'_>) {
    match request.body {
        RequestBody::None => {}
        RequestBody::Length(length) => write_number_field(out, b"Content-Length", length),
        RequestBody::Chunked => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
    }
    match request.upgrade {
        Some(protocol) => {
            debug_assert!(request.body.is_empty(), "a body would have to come before the switch");
            out.extend_from_slice(b"Connection: Upgrade\r\n");
            write_field(out, b"Upgrade", protocol);
        }
        None if request.head.accepts_trailers => {
            out.extend_from_slice(b"TE: trailers\r\nConnection: TE\r\n");
        }
        None => {}
    }
    if request.forwards_expectation {
        debug_assert!(!request.body.is_empty(), "without a body there is nothing to wait for");
        out.extend_from_slice(b"Expect: 100-continue\r\n");
    }
    if let Some(hops) = request.head.max_forwards {
        write_number_field(out, b"Max-Forwards", hops.saturating_sub(1).into());
    }
}

/// Decides between the peer's request ID and that of eddy while fields are copied.
pub(super) struct IdState<'a> {
    id: RequestId<'a>,
    field: FieldId,
    is_written: bool,
}

impl<'a> IdState<'a> {
    pub(super) fn new(id: RequestId<'a>) -> Self {
        Self { id, field: FieldId::from_name(id.name.as_bytes()), is_written: false }
    }

    /// Whether the field is forwarded: it is not replaced by eddy's ID, a duplicate, or another spelling of its name.
    pub(super) fn keeps(&mut self, field: &Field, name: &[u8]) -> bool {
        if field.id != self.field || !(field.id.is_known() || is_alias_of(name, self.id.name.as_bytes())) {
            return true;
        }
        let is_exact = name.eq_ignore_ascii_case(self.id.name.as_bytes());
        let is_kept = is_exact && (field.is_own || !self.id.replace) && !self.is_written;
        self.is_written |= is_kept;
        is_kept
    }

    /// Writes eddy's ID if that of the peer was not forwarded.
    pub(super) fn write(&self, out: &mut Vec<u8>, edits: &FieldEdits) {
        if !self.is_written && !edits.decides(self.id.name) {
            write_field(out, self.id.name.as_bytes(), self.id.value.as_bytes());
        }
    }
}
