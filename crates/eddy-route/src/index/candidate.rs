//! Entries of the lists of an index.

/// An entry in a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) rank: u32,
    pub(super) rule: u32,
    /// Whether method, headers or query must be evaluated.
    pub(super) has_conditions: bool,
    /// Whether the path must still be matched: the list only guarantees its literal prefix.
    pub(super) has_pattern: bool,
}

impl Candidate {
    /// Whether every request that reaches the list matches this entry.
    pub(super) fn is_certain(&self) -> bool {
        !self.has_conditions && !self.has_pattern
    }
}
