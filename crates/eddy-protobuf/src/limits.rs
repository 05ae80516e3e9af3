//! What a message may make this crate hold.

/// Named limits; each is checked where the thing it names grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtobufLimits {
    /// Messages, groups, arrays and objects within each other.
    pub depth_max: u32,
    /// Bytes of a message, and of the output made of one.
    pub message_bytes_max: usize,
    /// Bytes of a value that is held because it arrives in several pieces, or has to be known whole.
    pub held_bytes_max: usize,
    /// Values of a repeated field that are extracted; edits of a message that is rewritten; keys of maps that are told apart.
    pub items_max: usize,
}

impl Default for ProtobufLimits {
    /// Depth 100 as the reference implementations have it, messages of 64 MiB, held values of 1 MiB, a million items.
    fn default() -> Self {
        Self { depth_max: 100, message_bytes_max: 64 << 20, held_bytes_max: 1 << 20, items_max: 1 << 20 }
    }
}
