//! Router of a listener: tables compiled into one order and one index; immutable.

use std::borrow::Borrow;

use eddy_ids::Shared;

use crate::compile::{CompiledRule, HostKey, PatternCache, RewriteFault, RuleMatchContext, Work};
use crate::error::{RouteError, RouteProblem};
use crate::explain::{Cost, Explanation, judge};
use crate::index::{HostIndex, NONE, PathIndex};
use crate::order::{PrecedenceStep, RouteEntries, RouteEntry};
use crate::reference;
use crate::request::{RouteRequest, RouteScratch};
use crate::rule::{RouteTable, SourceLocation};
use crate::survey::{RankedRule, survey};
use crate::witness::{Witness, WitnessSearch};

/// Finds the rule for a request. Immutable; shared by all workers.
#[derive(Debug)]
pub struct Router {
    rules: Vec<CompiledRule>,
    entries: RouteEntries,
    hosts: HostIndex,
    paths: PathIndex,
    /// Whether any rule has conditions on the decoded query; otherwise it is not decoded.
    has_query_conditions: bool,
    /// Whether any rule compares paths without parameters.
    strips_parameters: bool,
    /// Whether the search in any table may end early, or any table compares paths without parameters.
    has_special_grounds: bool,
    /// Whether any rule takes a fraction of requests.
    has_fractions: bool,
}

/// The rule that matches a request.
#[derive(Clone, Copy, Debug)]
pub struct MatchedRule<'r> {
    /// Rule.
    pub rule: &'r CompiledRule,
    /// Rank of the rule in the total order, under the matching host, from 1, as shown by `explain`.
    pub rank: u32,
}

impl Router {
    /// Compiles the tables of a listener, in the order in which the listener names them.
    ///
    /// # Errors
    ///
    /// All problems of all rules, in file order.
    ///
    /// # Cost
    ///
    /// 10,000 rules take about 10 ms and a few MiB; each regular expression about 50 to 100 µs and 10 KiB more, one
    /// with a large automaton some milliseconds.
    pub fn build<T: Borrow<RouteTable>>(tables: &[T]) -> Result<Self, Vec<RouteError>> {
        let tables: Vec<&RouteTable> = tables.iter().map(Borrow::borrow).collect();
        let rules = compile(&tables)?;
        let entries = RouteEntries::build(&rules, &tables);
        let hosts = HostIndex::build(&entries.scopes);
        let paths = PathIndex::build(&rules, &entries);
        let has_query_conditions = rules.iter().any(CompiledRule::has_query_condition);
        let strips_parameters = entries.scopes.iter().any(|scope| scope.ground.strips_parameters);
        let has_special_grounds = strips_parameters || entries.scopes.iter().any(|scope| scope.is_end);
        let has_fractions = rules.iter().any(|rule| rule.fraction.is_some());
        Ok(Self {
            rules,
            entries,
            hosts,
            paths,
            has_query_conditions,
            strips_parameters,
            has_special_grounds,
            has_fractions,
        })
    }

    /// Whether any rule takes a fraction of requests, so that requests need a random number.
    pub fn has_fractions(&self) -> bool {
        self.has_fractions
    }

    /// Finds the rule for a request: of all matching rules, the first in the total order.
    ///
    /// # Cost
    ///
    /// One walk along the path for each scope of the host until one matches, independent of the number of rules; one
    /// hash for each facet by which long lists are split; only regular expressions with a matching literal prefix that
    /// precede the best rule so far. Does not allocate once `scratch` has grown; takes no lock.
    pub fn lookup<'r>(
        &'r self,
        request: &RouteRequest<'_>,
        scratch: &mut RouteScratch,
    ) -> Option<MatchedRule<'r>> {
        let (rank, _) = self.find(request, scratch);
        if rank == NONE { None } else { self.found(rank) }
    }

    /// Returns the rank of the first matching rule, or [`NONE`], and the cost of finding it.
    fn find(&self, request: &RouteRequest<'_>, scratch: &mut RouteScratch) -> (u32, Cost) {
        let RouteScratch { host, query, pattern, scopes, closed, stripped, folded, branches, lists } =
            scratch;
        query.read(if self.has_query_conditions { request.query } else { b"" });
        self.hosts.find(request, host, scopes);
        let stripped = if self.strips_parameters { request.strip_path(stripped) } else { b"" };
        let mut probe = RuleMatchContext::new(request, stripped, query, pattern);
        let (mut rank, mut hosts) = (NONE, 0);
        closed.clear();
        while rank == NONE
            && let Some(scope) = scopes.pop()
        {
            if self.has_special_grounds && !self.enter(scope, closed, &mut probe) {
                continue;
            }
            rank = self.paths.find(scope, &self.rules, &mut probe, folded, branches, lists);
            hosts += 1;
        }
        let Work { steps, passes, tries } = probe.work;
        let rules = u32::try_from(self.entries.list.len()).unwrap_or(u32::MAX);
        (rank, Cost { hosts, steps, passes, tries, rules })
    }

    /// Selects the path form of a host's rules; returns `false` if the search in their table has ended.
    fn enter(&self, scope: u32, closed: &mut Vec<u32>, probe: &mut RuleMatchContext<'_>) -> bool {
        let scope = &self.entries.scopes[scope as usize];
        if let Some(table) = scope.closing_table() {
            if closed.contains(&table) {
                return false;
            }
            if scope.is_end {
                closed.push(table);
            }
        }
        probe.read_path(scope.ground.strips_parameters);
        true
    }

    /// Finds the rule for a request by trying all in order: the same result as [`Router::lookup`], slowly.
    ///
    /// # Cost
    ///
    /// Linear in the number of rules; for tests and for occasional checks of the index on live traffic.
    pub fn lookup_sequentially<'r>(
        &'r self,
        request: &RouteRequest<'_>,
        scratch: &mut RouteScratch,
    ) -> Option<MatchedRule<'r>> {
        let RouteScratch { host, query, pattern, stripped, .. } = scratch;
        let serving = self.entries.serving(request, host);
        query.read(request.query);
        let mut probe = RuleMatchContext::new(request, request.strip_path(stripped), query, pattern);
        let at = reference::find(&self.rules, &self.entries, &serving, &mut probe)?;
        self.found(u32::try_from(at).ok()?)
    }

    /// Whether trying all rules in order gives the result of [`Router::lookup`] for this request.
    ///
    /// # Cost
    ///
    /// As [`Router::lookup_sequentially`].
    pub fn agrees(
        &self,
        found: Option<MatchedRule<'_>>,
        request: &RouteRequest<'_>,
        scratch: &mut RouteScratch,
    ) -> bool {
        let plainly = self.lookup_sequentially(request, scratch);
        plainly.map(|plainly| plainly.rank) == found.map(|found| found.rank)
    }

    /// Explains which rule matches a request and why, and why the others do not.
    ///
    /// # Cost
    ///
    /// Linear in the number of rules, and allocates; not for the request path.
    pub fn explain(&self, request: &RouteRequest<'_>) -> Explanation {
        let (_, cost) = self.find(request, &mut RouteScratch::new());
        judge(&self.rules, &self.entries, request, cost)
    }

    /// Returns a short request that the rule with this index wins, if the search finds one.
    ///
    /// # Cost
    ///
    /// At most some thousand lookups; allocates.
    pub fn witness(&self, rule: u32) -> Option<Witness> {
        let search = WitnessSearch::new(&self.rules);
        let compiled = self.rules.get(rule as usize)?;
        let mut scratch = RouteScratch::new();
        compiled.hosts.iter().find_map(|host| {
            search.find(&[compiled], host, |request| {
                self.lookup(request, &mut scratch).is_some_and(|found| found.rule.index == rule)
            })
        })
    }

    /// Returns all rules in order, each with the reason for its position and its problems.
    ///
    /// # Cost
    ///
    /// Linear in the number of rules, and allocates; not for the request path.
    pub fn ordered(&self) -> Vec<RankedRule> {
        self.ordered_by(&|_, _| false)
    }

    /// Returns all rules in order as [`Self::ordered`] does, and marks redundant ones; `alike` tells whether the
    /// actions of two rules are equivalent.
    pub fn ordered_by(&self, alike: &dyn Fn(&CompiledRule, &CompiledRule) -> bool) -> Vec<RankedRule> {
        survey(&self.rules, &self.entries, alike)
    }

    /// Returns the step by which the rule for a request precedes the next matching rule; `None` if there is no other.
    ///
    /// # Cost
    ///
    /// Linear in the number of rules for the host.
    pub fn deciding_step(
        &self,
        request: &RouteRequest<'_>,
        scratch: &mut RouteScratch,
    ) -> Option<PrecedenceStep> {
        let RouteScratch { query, pattern, stripped, folded, .. } = scratch;
        query.read(request.query);
        let stripped = if self.strips_parameters { request.strip_path(stripped) } else { b"" };
        let serving = self.entries.serving(request, folded);
        let mut probe = RuleMatchContext::new(request, stripped, query, pattern);
        let mut first: Option<RouteEntry> = None;
        for scope in serving {
            let scope = &self.entries.scopes[scope as usize];
            probe.read_path(scope.ground.strips_parameters);
            for entry in &self.entries.list[scope.ranks.start as usize..scope.ranks.end as usize] {
                if self.rules[entry.rule as usize].first_failure(&mut probe).is_some() {
                    continue;
                }
                match first {
                    None => first = Some(*entry),
                    Some(first) if first.rule != entry.rule => {
                        return Some(self.entries.step(&self.rules, first, *entry));
                    }
                    Some(_) => {}
                }
            }
        }
        None
    }

    /// Returns the rules by index: in table and file order.
    pub fn rules(&self) -> &[CompiledRule] {
        &self.rules
    }

    fn found(&self, rank: u32) -> Option<MatchedRule<'_>> {
        let entry = self.entries.list.get(rank as usize)?;
        Some(MatchedRule { rule: &self.rules[entry.rule as usize], rank: rank + 1 })
    }
}

impl MatchedRule<'_> {
    /// Writes the path for the upstream; returns `false`, with no useful content in `out`, if the rule does not change
    /// it.
    ///
    /// `path` is the normalised path of the lookup. The written path is normal as well: it has no line break, space,
    /// incomplete escape or dot segment.
    ///
    /// # Errors
    ///
    /// The captures produce a path that must not be sent; the request must be answered 500.
    ///
    /// # Cost
    ///
    /// Runs a regular expression with captures again. Allocates only to grow `scratch` and `out`.
    pub fn rewrite(
        &self,
        path: &[u8],
        scratch: &mut RouteScratch,
        out: &mut Vec<u8>,
    ) -> Result<bool, RewriteFault> {
        self.rule.rewrite(if path.is_empty() { b"/" } else { path }, &mut scratch.pattern, out)
    }
}

/// Compiles all rules, and collects all problems.
fn compile(tables: &[&RouteTable]) -> Result<Vec<CompiledRule>, Vec<RouteError>> {
    let mut errors = Vec::new();
    let mut rules = Vec::with_capacity(tables.iter().map(|table| table.rules.len()).sum());
    let (mut entries, mut path_bytes) = (0, 0);
    let mut library = PatternCache::default();
    for (table, spec) in (0..).zip(tables) {
        for end in &spec.ends {
            if let Err(problem) = HostKey::check(end, spec.reading.host) {
                errors.push(RouteError {
                    origin: SourceLocation::nowhere(),
                    rule: Shared::clone(&spec.name),
                    problem,
                });
            }
        }
        for rule in &spec.rules {
            entries += rule.hosts.len().max(1);
            path_bytes += rule.hosts.len().max(1) * rule.path.text_len();
            let index = u32::try_from(rules.len()).unwrap_or(u32::MAX);
            rules.extend(CompiledRule::build(rule, (table, spec.reading), index, &mut library, &mut errors));
            let totals =
                [("rules times hosts", entries, ENTRIES_MAX), ("bytes of paths", path_bytes, PATH_BYTES_MAX)];
            if let Some((what, _, max)) = totals.into_iter().find(|(_, total, max)| total > max) {
                errors.push(RouteError::new(rule, RouteProblem::TablesTooLarge { what, max }));
                return Err(errors);
            }
        }
    }
    if errors.is_empty() { Ok(rules) } else { Err(errors) }
}

/// Maximum rules of a listener; a rule with several hosts counts once for each.
const ENTRIES_MAX: usize = 4_000_000;

/// Maximum bytes of all paths of a listener, counted in the same way; the index uses 32-bit positions.
const PATH_BYTES_MAX: usize = 1 << 30;
