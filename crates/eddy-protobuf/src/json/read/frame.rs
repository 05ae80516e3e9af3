//! What the parser is within: objects and arrays, by what they become.

use crate::schema::MessageId;

/// What an object or array becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonReadRole {
    /// What is around the outermost message.
    Outermost,
    /// An object that is a message.
    Message,
    /// An object that is an `Any`, before its `@type`.
    AnyHead,
    /// An object that is an `Any` of a message that JSON has a form for: `value` holds it.
    AnySpecial,
    /// An object that is a map.
    Map,
    /// An array that is a repeated field.
    Array,
    /// An object or array that is passed over.
    SkipObject,
    SkipArray,
}

/// A frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonReadFrame {
    pub(super) role: JsonReadRole,
    pub(super) message: MessageId,
    /// The field that the next value is of.
    pub(super) field: u16,
    /// The field that is expected next, because it comes next in the declaration.
    pub(super) guess: u16,
    /// Whether it is the message of an `Any`, whose `@type` was read.
    pub(super) is_of_any: bool,
    /// Whether it is a list with one tag and length, which is not written if it is empty.
    pub(super) is_packed: bool,
    /// Whether the `value` of an `Any` may be absent, or was read.
    pub(super) has_value: bool,
    /// Where the lengths begin that end with it; 0 is none.
    pub(super) outer: usize,
    pub(super) inner: usize,
    /// The number of the group that ends with it; 0 is none.
    pub(super) group: u32,
    /// Where its bits begin in the parser's `seen`.
    pub(super) seen_at: usize,
    /// Which map it is.
    pub(super) map: u64,
    /// Where the entry that is read began, or the packed list; and where the length of the entry does.
    pub(super) entry: usize,
    pub(super) entry_length: usize,
}

impl JsonReadFrame {
    pub(super) fn new(role: JsonReadRole, message: MessageId) -> Self {
        Self {
            role,
            message,
            field: 0,
            guess: 0,
            is_of_any: false,
            is_packed: false,
            has_value: false,
            outer: 0,
            inner: 0,
            group: 0,
            seen_at: 0,
            map: 0,
            entry: 0,
            entry_length: 0,
        }
    }
}
