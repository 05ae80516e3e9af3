//! Nesting state of the parser: objects and arrays, and what they are converted to.

use crate::schema::MessageId;

/// Target of an object or array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum JsonReadRole {
    /// The level around the outermost message.
    #[default]
    Outermost,
    /// An object that is a message.
    Message,
    /// An object that is an `Any`, before its `@type`.
    AnyHead,
    /// An object that is an `Any` whose type has a special JSON form, in its `value`.
    AnySpecial,
    /// An object that is a map.
    Map,
    /// An array that is a repeated field.
    Array,
    /// An object that is skipped.
    SkipObject,
    SkipArray,
}

/// State of one nesting level.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JsonReadFrame {
    pub(super) role: JsonReadRole,
    pub(super) message: MessageId,
    /// Field of the next value.
    pub(super) field: u16,
    /// Field expected next, because it is next in the declaration.
    pub(super) guess: u16,
    /// Whether it is the message of an `Any` whose `@type` was read.
    pub(super) is_of_any: bool,
    /// Whether it is a packed list, with one tag and length, which is not written if it is empty.
    pub(super) is_packed: bool,
    /// Whether the `value` of an `Any` may be absent, or was read.
    pub(super) has_value: bool,
    /// Positions of the lengths that are completed at its end; 0 is none.
    pub(super) outer: usize,
    pub(super) inner: usize,
    /// Number of the group that ends with it; 0 is none.
    pub(super) group: u32,
    /// Index of its first bit in the parser's `seen`.
    pub(super) seen_index: usize,
    /// Number of the map.
    pub(super) map: u64,
    /// Position of the current map entry or packed list, and of the entry's length.
    pub(super) entry: usize,
    pub(super) entry_length: usize,
}

impl JsonReadFrame {
    pub(super) fn new(role: JsonReadRole, message: MessageId) -> Self {
        Self { role, message, ..Self::default() }
    }
}
