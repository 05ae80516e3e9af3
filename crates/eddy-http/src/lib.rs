//! HTTP messages, wire formats and framing rules; no I/O.
//!
//! A head is scanned for its end ([`HeadScanner`]), parsed in place ([`RequestHead`], [`ResponseHead`]), written
//! towards the next hop ([`write_request_head`], [`write_response_head`]) and verified before it is sent ([`Egress`]).
//! Chunked bodies are decoded by [`ChunkDecoder`], and [`BodyReader`] finds the data of bodies of any framing. Upgrades and `CONNECT` are parsed with the heads; the bytes of a
//! tunnel are outside the scope of this crate.
//!
//! gRPC support of a gateway is limited to names and numbers in fields: [`GrpcKind`], [`GrpcStatus`],
//! [`parse_grpc_timeout`].
//!
//! Messages from both sides are parsed strictly: what two parsers could interpret differently is rejected, not
//! repaired.

#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]
#![cfg_attr(test, allow(clippy::indexing_slicing, reason = "a test may fail by panicking"))]

mod body;
mod chunk;
mod date;
mod edits;
mod egress;
mod fault_table;
mod field;
mod grpc;
mod head;
mod http2;
mod method;
mod octet;
mod span;
mod status;
mod websocket;
mod write;

pub use body::{BodyPiece, BodyProbe, BodyReader};
pub use chunk::{
    CHUNK_END, ChunkDecoder, ChunkFault, ChunkLimits, ChunkStep, LAST_CHUNK, is_trailer_allowed,
    write_chunk_header, write_trailers,
};
pub use date::{DATE_BYTES, format_date};
pub use edits::{EDIT_BYTES_MAX, EDITS_MAX, EditFault, FieldEdits};
pub use egress::{Egress, EgressFault};
pub use field::{Field, FieldId, FieldRef, Fields};
pub use grpc::{
    BadGrpcTimeout, GRPC_END_LABELS, GrpcEnd, GrpcKind, GrpcStatus, GrpcStatuses, parse_grpc_timeout,
    write_grpc_message,
};
pub use head::{
    FieldsEditor, HEAD_BYTES_EDITED_MAX, HeadFault, HeadLimits, HeadScanner, RequestBody, RequestHead,
    ResponseBody, ResponseContext, ResponseHead, TargetForm, check_field,
};
pub use http2::{
    ABUSE_LABELS, Abuse, BodyReadResult, DetectedProtocol, ErrorCode, Gone, H2Head, Http2, Http2Fault,
    Http2Limits, Loss, OpenedStream, Unread, spoken,
};
pub use method::{METHOD_BYTES_MAX, Method, Version};
pub use span::Span;
pub use status::status_reason;
pub use websocket::{
    WEBSOCKET_ACCEPT_BYTES, WEBSOCKET_KEY_BYTES, is_websocket_key, websocket_accept, websocket_key,
};
pub use write::{
    CONTINUE, ForwardedClient, ForwardedPolicy, GrpcReply, LocalReply, RequestId, RequestWrite,
    ResponseWrite, Switched, write_interim_head, write_local_head, write_request_head, write_response_head,
};
