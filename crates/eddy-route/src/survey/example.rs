//! Example requests for the marks of rules.

use crate::compile::{CompiledRule, RuleMatchContext};
use crate::order::HostEntries;
use crate::request::{RouteRequest, RouteScratch};
use crate::witness::{Witness, WitnessSearch};

/// Finds example requests for marks, limited in number so that a survey of many rules ends soon.
pub(super) struct Examples {
    search: WitnessSearch,
    left: usize,
    scratch: RouteScratch,
}

impl Examples {
    pub(super) fn new(rules: &[CompiledRule]) -> Self {
        Self { search: WitnessSearch::new(rules), left: EXAMPLES_MAX, scratch: RouteScratch::new() }
    }

    /// Returns a short request of a host that matches all these rules.
    pub(super) fn find(&mut self, scope: &HostEntries, rules: &[&CompiledRule]) -> Option<Witness> {
        self.left = self.left.checked_sub(1)?;
        let Self { search, scratch, .. } = self;
        search.find(rules, &scope.host, |request| matches_all(request, scope, rules, scratch))
    }
}

fn matches_all(
    request: &RouteRequest<'_>,
    scope: &HostEntries,
    rules: &[&CompiledRule],
    scratch: &mut RouteScratch,
) -> bool {
    let RouteScratch { host: folded, query, pattern, stripped, .. } = scratch;
    let is_served = scope.host.matches(scope.ground.form.fold(request, folded));
    query.read(request.query);
    let mut probe = RuleMatchContext::new(request, request.strip_path(stripped), query, pattern);
    probe.read_path(scope.ground.strips_parameters);
    is_served && rules.iter().all(|rule| rule.first_failure(&mut probe).is_none())
}

/// Maximum examples of a survey; further marks have none.
const EXAMPLES_MAX: usize = 500;
