//! Errors in input, with their position.

use std::fmt;

use crate::schema::MessageId;

/// Result of reading input.
pub type ProtobufResult<T = ()> = Result<T, ProtobufError>;

/// Error in the input: its kind, byte offset, and field if known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtobufError {
    /// Offset in the input.
    pub offset: u64,
    /// Kind of error.
    pub kind: ProtobufErrorKind,
    /// The message that contains the field, and the field's index in [`crate::MessageDescriptor::fields`].
    pub field: Option<(MessageId, u16)>,
}

/// Kinds of errors in input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtobufErrorKind {
    /// The input ends within a value.
    #[error("the input ends within a value")]
    Truncated,
    /// A value runs past the end of the message that holds it.
    #[error("a value runs past the end of the message that holds it")]
    PastEnd,
    /// A varint has more than ten bytes, or more than 64 bits.
    #[error("a varint has more than 64 bits")]
    VarintTooLong,
    /// A tag with field number 0, or one above 536,870,911.
    #[error("a field number is 0 or above 536870911")]
    FieldNumber,
    /// A tag with wire type 6 or 7.
    #[error("a wire type is above 5")]
    WireType,
    /// The end of a group that was not begun, or that is not the innermost one.
    #[error("the end of a group has no start")]
    GroupEnd,
    /// A length above 2 GiB.
    #[error("a length is above 2 GiB")]
    LengthTooLarge,
    /// Nesting deeper than [`crate::ProtobufLimits::depth_max`].
    #[error("messages are nested too deeply")]
    DepthExceeded,
    /// More bytes than [`crate::ProtobufLimits::message_bytes_max`].
    #[error("the message is too large")]
    MessageTooLarge,
    /// More bytes to hold than [`crate::ProtobufLimits::held_bytes_max`].
    #[error("a value that must be buffered is too large")]
    HeldTooLarge,
    /// More items than [`crate::ProtobufLimits::items_max`].
    #[error("the message has too many items")]
    TooManyItems,
    /// A string that is not UTF-8.
    #[error("a string is not UTF-8")]
    Utf8,
    /// A message without one of its required fields.
    #[error("a required field is missing")]
    RequiredMissing,
    /// A field that occurs again after its value was already returned.
    #[error("a field occurs again after its value was returned")]
    OutOfOrder,
    /// A frame whose flag is neither 0 nor 1.
    #[error("a frame has a flag that is neither 0 nor 1")]
    FrameFlag,
    /// A compressed frame where compression is not allowed.
    #[error("compressed frames are not supported here")]
    FrameCompressed,
    /// A number of messages that the method does not allow.
    #[error("the number of messages does not fit the gRPC method")]
    MessageCount,
    /// A rule of the program does not hold; its number in the order of addition.
    #[error("rule {0} is violated")]
    Rule(u16),
    /// Input after the walk has failed or ended.
    #[error("the message has already ended")]
    Ended,

    /// A `Timestamp` outside of the years 1 to 9999, or with invalid nanoseconds.
    #[error("a timestamp is out of range")]
    TimestampRange,
    /// A `Duration` outside of ±10,000 years, or with parts of different signs.
    #[error("a duration is out of range")]
    DurationRange,
    /// A `FieldMask` with a path that cannot be restored from its JSON form.
    #[error("a path of a field mask has no JSON form")]
    FieldMaskPath,
    /// A `Value` without any value.
    #[error("a google.protobuf.Value has no value")]
    ValueMissing,
    /// A number of a `Value` that is not finite.
    #[error("a google.protobuf.Value holds a number that is not finite")]
    ValueNotFinite,
    /// An `Any` with a value and no type.
    #[error("a google.protobuf.Any has a value and no type")]
    AnyWithoutType,
    /// An `Any` of a type that the schema does not have.
    #[error("a google.protobuf.Any has a type that is not in the schema")]
    AnyTypeUnknown,

    /// Invalid JSON.
    #[error("invalid JSON")]
    JsonSyntax,
    /// JSON after the end of the value.
    #[error("unexpected input after the end of the value")]
    JsonTrailing,
    /// An invalid escape in a string, or half of a surrogate pair.
    #[error("a string has an invalid escape")]
    JsonEscape,
    /// A value of another type than the field's.
    #[error("a value is not of the field's type")]
    JsonType,
    /// A number out of the range of the field's type.
    #[error("a number is out of the range of the field's type")]
    JsonRange,
    /// An unknown field name.
    #[error("the message has no field of this name")]
    JsonFieldUnknown,
    /// An unknown enum value name.
    #[error("the enum has no value of this name")]
    JsonEnumUnknown,
    /// A duplicate field or key.
    #[error("duplicate field or key")]
    JsonDuplicate,
    /// Two fields of one oneof.
    #[error("two fields of one oneof are set")]
    JsonOneof,
    /// `null` where a value is required.
    #[error("null is not allowed here")]
    JsonNull,
    /// Bytes that are not Base64.
    #[error("bytes are not Base64")]
    JsonBase64,
    /// A timestamp that is not of the form `2026-01-31T12:00:00.5Z`.
    #[error("a timestamp is not of the form 2026-01-31T12:00:00.5Z")]
    JsonTimestamp,
    /// A duration that is not of the form `1.5s`.
    #[error("a duration is not of the form 1.5s")]
    JsonDuration,
    /// A field mask that is not a list of camel-case paths.
    #[error("a field mask is not a list of paths in camel case")]
    JsonFieldMask,
    /// An object for an `Any` without `@type`, or with two.
    #[error("an Any needs exactly one \"@type\"")]
    JsonAnyType,
}

impl ProtobufError {
    pub(crate) fn new(offset: u64, kind: ProtobufErrorKind) -> Self {
        Self { offset, kind, field: None }
    }
}

impl fmt::Display for ProtobufError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at byte {}", self.kind, self.offset)
    }
}

impl std::error::Error for ProtobufError {}
