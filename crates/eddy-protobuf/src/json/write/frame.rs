//! What the conversion is within: messages, entries of maps, packed lists, groups that are passed over.

use crate::schema::{MessageId, Special};

/// How the bytes of a frame are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonWriteRole {
    /// A message that is an object.
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
    /// An entry of a map.
    Entry,
    /// Values of a scalar one after the other.
    Packed,
    /// A group that is not known.
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

    /// Whether it counts as a level of nesting; what JSON nests once, a `Value` with a `Struct` in it, counts once.
    pub(super) fn is_level(self) -> bool {
        !matches!(self, Self::Entry | Self::Packed | Self::Bare)
    }
}

/// A frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonWriteFrame {
    pub(super) role: JsonWriteRole,
    pub(super) message: MessageId,
    /// Offset of its end in the input; of a group that of what it is within.
    pub(super) end: u64,
    /// The number of the group; 0 if it is none.
    pub(super) group: u32,
    /// Where its bits begin in the machine's `seen`.
    pub(super) seen_at: usize,
    /// The field whose array or object is open; [`CLOSED`] if none is. Of a packed list, its field.
    pub(super) open: u16,
    /// What closes it.
    pub(super) close: u8,
    /// Whether no field or element was written yet.
    pub(super) is_first: bool,
    /// Which map is open.
    pub(super) map: u64,
    /// What was read: seconds; the type of an `Any`; how far an entry is.
    pub(super) progress: FrameProgress,
}

/// What was read of a frame that is written at its end, or has an order.
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
    /// The value of an `Any` that is a field of its own.
    SpecialValue,
}

/// No field is open.
pub(super) const CLOSED: u16 = u16::MAX;
