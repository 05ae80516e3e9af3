//! Heads of local replies.

use super::line::{LINE_END, write_field, write_number_field};
use super::request::{IdState, RequestId};
use super::response::{write_connection, write_status_line};
use crate::edits::FieldEdits;
use crate::grpc::{GrpcKind, write_grpc_message};
use crate::method::Version;
use crate::octet::{is_vchar, write_percent};
use crate::status::status_reason;

/// A local reply: a response that eddy makes itself.
#[derive(Clone, Copy, Debug)]
pub struct LocalReply<'a> {
    /// Status, 200 to 999.
    pub status: u16,
    /// Content type of the body, if there is one.
    pub content_type: Option<&'a str>,
    /// Redirect target. Bytes that are not allowed in URIs are percent-encoded.
    pub location: Option<&'a [u8]>,
    /// Changes by the rule.
    pub edits: &'a FieldEdits,
    /// Length of the body; in response to `HEAD`, of the body that `GET` would get.
    pub body_len: u64,
    /// Whether the client may send another request on the connection.
    pub keep_alive: bool,
    /// HTTP version of the client.
    pub version: Version,
    /// Date; empty for none ([`crate::format_date`]).
    pub date: &'a [u8],
    /// Request ID, if it is sent to the client.
    pub request_id: Option<RequestId<'a>>,
    /// Status for a gRPC call; the head is then the whole response and includes the content type.
    pub grpc: Option<GrpcReply<'a>>,
}

/// Status of a gRPC call that ends without a response from its method.
///
/// # Spec
/// [gRPC over HTTP/2](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md), Trailers-Only
#[derive(Clone, Copy, Debug)]
pub struct GrpcReply<'a> {
    /// Message format of the call's content type, as [`GrpcKind::format`] returns it: clients expect their own.
    pub format: &'a [u8],
    /// gRPC status code.
    pub code: u32,
    /// Description for developers.
    pub message: &'a [u8],
}

impl LocalReply<'_> {
    /// Creates a response without body that closes the connection.
    pub fn new(status: u16) -> Self {
        Self {
            status,
            content_type: None,
            location: None,
            edits: FieldEdits::none(),
            body_len: 0,
            keep_alive: false,
            version: Version::Http11,
            date: b"",
            request_id: None,
            grpc: None,
        }
    }
}

/// Writes the head of a local reply.
///
/// # Cost
/// Appends to `out`; allocates only where `out` must grow.
pub fn write_local_head(out: &mut Vec<u8>, reply: &LocalReply<'_>) {
    let edits = reply.edits;
    out.reserve(512);
    write_status_line(out, reply.status, status_reason(reply.status).as_bytes());
    if !reply.date.is_empty() && !edits.decides("date") {
        write_field(out, b"Date", reply.date);
    }
    let (content_type, format) = match reply.grpc {
        Some(GrpcReply { format, .. }) => (Some(GrpcKind::Plain.name()), format),
        None => (reply.content_type, &b""[..]),
    };
    if let Some(content_type) = content_type.filter(|_| !edits.decides("content-type")) {
        out.extend_from_slice(b"Content-Type: ");
        out.extend_from_slice(content_type.as_bytes());
        out.extend_from_slice(format);
        out.extend_from_slice(LINE_END);
    }
    // Neither has a body, and a length would be misread as that of a body or of another response (RFC 9110 §8.6).
    if !matches!(reply.status, 204 | 304) {
        write_number_field(out, b"Content-Length", reply.body_len);
    }
    if let Some(GrpcReply { code, message, .. }) = reply.grpc {
        write_number_field(out, b"Grpc-Status", code.into());
        if !message.is_empty() {
            out.extend_from_slice(b"Grpc-Message: ");
            write_grpc_message(out, message);
            out.extend_from_slice(LINE_END);
        }
    }
    if let Some(location) = reply.location.filter(|_| !edits.decides("location")) {
        out.extend_from_slice(b"Location: ");
        write_uri(out, location);
        out.extend_from_slice(LINE_END);
    }
    write_connection(out, reply.version, reply.keep_alive);
    if let Some(id) = reply.request_id {
        IdState::new(id).write(out, edits);
    }
    for (name, value) in edits.written() {
        write_field(out, name, value);
    }
    out.extend_from_slice(LINE_END);
}

/// Writes a URI and percent-encodes invalid bytes: a redirect target may contain text from a client.
fn write_uri(out: &mut Vec<u8>, uri: &[u8]) {
    for &byte in uri {
        if is_vchar(byte) {
            out.push(byte);
        } else {
            write_percent(out, byte);
        }
    }
}
