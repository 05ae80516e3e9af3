//! Nesting state of a walk.

/// A message, group or packed list.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WalkFrame {
    /// Index of the program node for its fields.
    pub(super) node: u32,
    /// Offset of its end; for a group, that of its parent.
    pub(super) end: u64,
    /// Group number; 0 if it is not a group.
    pub(super) group: u32,
    /// Whether it is skipped.
    pub(super) is_skipped: bool,
    /// For a packed list, the operation of its field.
    pub(super) packed: Option<usize>,
    /// If it is dropped, the offset from which on.
    pub(super) dropped_from: Option<u64>,
    /// Bits of required fields that are present.
    pub(super) seen: u64,
    /// Offset and size of its length; size 0 if it has none.
    pub(super) length_at: u64,
    pub(super) length_bytes: u8,
    /// Offset of its content.
    pub(super) start: u64,
    /// Whether its content changes, and the index of the change of its length.
    pub(super) is_changed: bool,
    pub(super) change: usize,
    /// Number of bytes by which it becomes shorter.
    pub(super) removed: i64,
}

impl WalkFrame {
    pub(super) fn new(node: u32, start: u64, end: u64) -> Self {
        Self { node, start, end, ..Self::default() }
    }
}
