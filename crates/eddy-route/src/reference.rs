//! Reference search: tries every entry in order until one matches. Slow and obviously correct; `explain` uses it, and
//! tests compare the index with it.

use crate::compile::{CompiledRule, RuleMatchContext};
use crate::order::RouteEntries;

/// Returns the rank of the first matching entry under these hosts.
pub(crate) fn find(
    rules: &[CompiledRule],
    entries: &RouteEntries,
    serving: &[u32],
    probe: &mut RuleMatchContext<'_>,
) -> Option<usize> {
    serving.iter().find_map(|scope| {
        let scope = &entries.scopes[*scope as usize];
        probe.read_path(scope.ground.strips_parameters);
        let mut ranks = scope.ranks.start as usize..scope.ranks.end as usize;
        ranks.find(|rank| {
            let rule = &rules[entries.list[*rank].rule as usize];
            rule.first_failure(probe).is_none()
        })
    })
}
