//! What finding the rule for a request took, counted by the index itself.

use serde::Serialize;

/// What a lookup did, whatever it found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Hosts whose rules were looked at.
    pub hosts: u32,
    /// Steps down the trees of paths.
    pub steps: u32,
    /// Passes over the path for many expressions at once.
    pub passes: u32,
    /// Rules whose expression or conditions were tried one by one.
    pub tries: u32,
    /// Rules there are, one with several hosts counted for each.
    pub rules: u32,
}
