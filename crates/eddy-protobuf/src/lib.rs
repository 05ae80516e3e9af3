//! Protobuf processing on the wire format, without objects.
//!
//! A [`Schema`] is built once from a `FileDescriptorSet`. It is used by
//!
//! * [`WalkProgram`]s, which extract fields by path, check rules, and drop or mask fields in one pass over the bytes
//!   of a message; a [`MessageWalk`] runs them;
//! * [`ToJson`] and [`FromJson`], which convert between the wire format and JSON;
//! * [`canonical`], which writes a message in the form that a serializer would write;
//! * [`Frames`], which splits gRPC frames;
//! * [`HttpIndex`], which maps HTTP requests to methods by `google.api.http` rules, with [`CallRequest`] and
//!   [`CallResponse`], which convert the bodies of such requests and responses to and from framed messages;
//! * [`FieldWriter`] and [`Items`], which write and read messages field by field without a schema.
//!
//! All accept messages in pieces as they arrive, keep buffered data within named limits ([`ProtobufLimits`]), reuse
//! buffers so that nothing is allocated per message once they have grown, and reject malformed input with a
//! [`ProtobufError`] that has its offset. No I/O, clock, thread or randomness.
#![forbid(unsafe_code)]
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "most functions are of a few of the eighteen types, and all others are one case"
)]

mod canonical;
mod fault;
mod frames;
mod grpc;
mod http;
mod json;
mod limits;
mod program;
mod schema;
mod wire;

pub use canonical::canonical;
pub use fault::{ProtobufError, ProtobufErrorKind, ProtobufResult};
pub use frames::{Compressed, FrameEvent, Frames};
pub use grpc::{CallRequest, CallResponse, RpcStatus, StreamForm};
pub use http::{
    HttpBindError, HttpBodyBinding, HttpIndex, HttpIndexOptions, HttpRoute, HttpRouteLookup, HttpRuleError,
    HttpRuleProblem, PathPart, PathParts,
};
pub use json::{
    Duplicates, EnumForm, FromJson, FromJsonOptions, JsonFieldNaming, Required, ToJson, ToJsonOptions,
    Unknown, decode_base64, write_base64,
};
pub use limits::ProtobufLimits;
pub use program::{
    FieldValue, Mask, MessageEdit, MessageWalk, ProgramBuilder, ProgramError, RuleTest, ValueSlot, ValueSpan,
    Values, WalkProgram,
};
pub use schema::{
    EnumId, Enumeration, FieldDescriptor, FieldOption, FieldOptionError, FieldType, Label, MessageDescriptor,
    MessageId, MethodDescriptor, Schema, SchemaError, ServiceDescriptor, Special,
};
pub use wire::{FieldWriter, Items, WireValue};
