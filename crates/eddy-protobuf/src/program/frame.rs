//! What a walk is within.

/// A message, group or packed list.
#[derive(Clone, Copy, Debug)]
pub(super) struct WalkFrame {
    /// What is done with its fields.
    pub(super) node: u32,
    /// Offset of its end; of a group that of what it is within.
    pub(super) end: u64,
    /// The number of the group; 0 if it is none.
    pub(super) group: u32,
    /// Whether it is passed over.
    pub(super) is_skipped: bool,
    /// The operation of the field that it is a packed list of.
    pub(super) packed: Option<usize>,
    /// Whether it is left out, from this offset on.
    pub(super) dropped_from: Option<u64>,
    /// Bits of fields that must be there and are.
    pub(super) seen: u64,
    /// Where its length is, and its bytes; 0 bytes if it has none.
    pub(super) length_at: u64,
    pub(super) length_bytes: u8,
    /// Where its content begins.
    pub(super) start: u64,
    /// Whether something in it changes, and which change is that of its length.
    pub(super) is_changed: bool,
    pub(super) change: usize,
    /// By how many bytes it gets shorter.
    pub(super) removed: i64,
}

impl WalkFrame {
    pub(super) fn new(node: u32, start: u64, end: u64) -> Self {
        Self {
            node,
            end,
            group: 0,
            is_skipped: false,
            packed: None,
            dropped_from: None,
            seen: 0,
            length_at: 0,
            length_bytes: 0,
            start,
            is_changed: false,
            change: 0,
            removed: 0,
        }
    }
}
