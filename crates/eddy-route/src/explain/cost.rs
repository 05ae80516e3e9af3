//! Cost of a lookup, counted by the index.

use serde::Serialize;

/// Work done by a lookup, with or without a match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Hosts whose rules were searched.
    pub hosts: u32,
    /// Steps in the path tries.
    pub steps: u32,
    /// Passes over the path for many expressions at once.
    pub passes: u32,
    /// Rules whose expression or conditions were evaluated one by one.
    pub tries: u32,
    /// Total rules; a rule with several hosts counts once for each.
    pub rules: u32,
}
