//! The plain way to find the winner: every entry in order, until one matches. Slow and obviously right; `explain` uses
//! it, and tests compare the index with it.

use crate::compile::{CompiledRule, Probe};
use crate::order::Entries;

/// The rank of the first entry that matches a request with this folded host.
pub(crate) fn find(
    rules: &[CompiledRule],
    entries: &Entries,
    folded_host: &[u8],
    probe: &mut Probe<'_>,
) -> Option<usize> {
    entries.list.iter().position(|entry| {
        let rule = &rules[entry.rule as usize];
        entries.scope(*entry).host.matches(folded_host) && rule.first_failure(probe).is_none()
    })
}
