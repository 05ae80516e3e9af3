//! Nesting state of the conversion: messages, map entries, packed lists, skipped groups.

use crate::schema::{MessageId, Special};

/// Interpretation of a frame's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonWriteRole {
    /// A message written as an object.
    Object,
    /// `Struct` and `ListValue`: their one field without an object around it.
    Bare,
    /// `Value`: one of its fields, without a key.
    Value,
    /// A wrapper: its field 1, without a key.
    Wrapper,
    Timestamp,
    Duration,
    Mask,
    Any,
    /// A map entry.
    Entry,
    /// Consecutive scalars.
    Packed,
    /// An unknown group.
    Skip,
}

impl JsonWriteRole {
    pub(super) fn of(special: Special) -> Self {
        match special {
            Special::None => Self::Object,
            Special::Any => Self::Any,
            Special::Timestamp => Self::Timestamp,
            Special::Duration => Self::Duration,
            Special::FieldMask => Self::Mask,
            Special::Struct | Special::ListValue => Self::Bare,
            Special::Value => Self::Value,
            Special::Wrapper => Self::Wrapper,
        }
    }

    /// Whether it counts as a nesting level. Types that are one level in JSON, such as a `Value` with a `Struct` in
    /// it, count as one.
    pub(super) fn is_level(self) -> bool {
        !matches!(self, Self::Entry | Self::Packed | Self::Bare)
    }
}

/// State of one nesting level.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonWriteFrame {
    pub(super) role: JsonWriteRole,
    pub(super) message: MessageId,
    /// Offset of its end in the input; for a group, that of its parent.
    pub(super) end: u64,
    /// Group number; 0 if it is not a group.
    pub(super) group: u32,
    /// Index of its first bit in the machine's `seen`.
    pub(super) seen_index: usize,
    /// The field whose array or object is open; [`CLOSED`] if none is. For a packed list, its field.
    pub(super) open: u16,
    /// Closing bracket of it.
    pub(super) close: u8,
    /// Whether no field or element was written yet.
    pub(super) is_first: bool,
    /// Number of the open map.
    pub(super) map: u64,
    /// Data read so far: seconds; the type of an `Any`; the progress of an entry.
    pub(super) progress: FrameProgress,
}

/// Data of a frame that is written at its end, or that depends on the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameProgress {
    /// Nothing.
    Nothing,
    /// A time.
    Time { seconds: i64, nanos: i32 },
    /// The type of an `Any`.
    Type(MessageId),
    /// The key of an entry.
    Key,
    /// The value of an entry, wrapper or `Any`.
    Value,
    /// The value of an `Any` written as a separate member.
    SpecialValue,
}

/// No field is open.
pub(super) const CLOSED: u16 = u16::MAX;
