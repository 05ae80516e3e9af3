//! Resource limits of messages.

/// Resource limits; each is checked where the limited resource grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtobufLimits {
    /// Nesting depth of messages, groups, arrays and objects.
    pub depth_max: u32,
    /// Bytes of a message, and of the output made from it.
    pub message_bytes_max: usize,
    /// Bytes of a value that is buffered because it arrives in several pieces, or must be complete.
    pub held_bytes_max: usize,
    /// Extracted values of a repeated field; edits of a rewritten message; map keys checked for duplicates.
    pub items_max: usize,
}

impl Default for ProtobufLimits {
    /// Depth 100 as in the reference implementations, messages of 64 MiB, buffered values of 1 MiB, about a million
    /// items.
    fn default() -> Self {
        Self { depth_max: 100, message_bytes_max: 64 << 20, held_bytes_max: 1 << 20, items_max: 1 << 20 }
    }
}
