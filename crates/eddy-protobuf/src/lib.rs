//! Protobuf on the wire without objects.
//!
//! A [`Schema`] is made once from a `FileDescriptorSet`. On it work
//!
//! * [`Program`]s, which extract fields by path, check rules, and drop or mask fields in one pass over the bytes of a
//!   message, run by a [`Walk`];
//! * [`ToJson`] and [`FromJson`], which convert between the wire and the JSON form of protobuf;
//! * [`canonical`], which writes a message the way a serializer would;
//! * [`Frames`], which takes the framing of gRPC apart;
//! * [`HttpIndex`], which knows the methods as `google.api.http` has them, with [`CallRequest`] and [`CallResponse`], which
//!   make messages in frames of the bodies of such requests, and back;
//! * [`FieldWriter`] and [`Items`], which write and read messages field by field for those who know them without a schema.
//!
//! All take messages in pieces as they arrive, keep what they hold within named limits ([`Limits`]), use buffers again so that
//! nothing is allocated a message once they have grown, and answer malformed input with a [`Fault`] that has its offset.
//! No I/O, clock, thread or randomness.
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
pub use fault::{ProtobufError, ProtobufErrorKind};
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
    MessageId, MethodDescriptor, Schema, SchemaError, ServiceDescriptor,
};
pub use wire::{FieldWriter, Items, WireValue};
