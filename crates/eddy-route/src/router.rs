//! The router of a listener: tables compiled into one order and one index, never changed after.

use std::sync::Arc;

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
    /// Whether any rule looks at the decoded query; if not, it is not decoded.
    has_query_conditions: bool,
    /// Whether any rule compares paths without parameters.
    strips_parameters: bool,
    /// Whether the search in any table may end early, or any table compares paths without parameters.
    has_special_grounds: bool,
    /// Whether any rule takes a fraction of requests.
    has_fractions: bool,
}

/// The rule that a request is for.
#[derive(Clone, Copy, Debug)]
pub struct MatchedRule<'r> {
    /// The rule.
    pub rule: &'r CompiledRule,
    /// The place of the rule, under the host it was found by, in the total order, from 1, as `explain` shows it.
    pub rank: u32,
}

impl Router {
    /// Compiles the tables of a listener, in the listener's order.
    ///
    /// # Errors
    ///
    /// Every problem of every rule, in file order.
    ///
    /// # Cost
    ///
    /// 10,000 rules take some 10 ms and a few MiB; a regular expression some 50 to 100 µs and 10 KiB on top, one whose
    /// automaton would be large some milliseconds.
    pub fn build(tables: &[RouteTable]) -> Result<Self, Vec<RouteError>> {
        let rules = compile(tables)?;
        let entries = RouteEntries::build(&rules, tables);
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

    /// Finds the rule for a request: of all that match, the first in the total order.
    ///
    /// # Cost
    ///
    /// One walk along the path for each of the host's scopes until one matches, whatever the number of rules; a hash of
    /// one value for each facet that long lists are split by; only regular expressions that begin like the path and
    /// come before the best rule so far. Does not allocate once `scratch` has grown; takes no lock.
    pub fn lookup<'r>(
        &'r self,
        request: &RouteRequest<'_>,
        scratch: &mut RouteScratch,
    ) -> Option<MatchedRule<'r>> {
        let (rank, _) = self.find(request, scratch);
        if rank == NONE { None } else { self.found(rank) }
    }

    /// The rank of the first rule that matches, or [`NONE`], and what was done to find it.
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

    /// Takes the path as the rules of a host read it; `false` if the search in their table has ended.
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

    /// Finds the rule for a request by trying all in order: the same answer as [`Router::lookup`], slowly.
    ///
    /// # Cost
    ///
    /// Grows with the number of rules; for tests and for checking the index on live traffic now and then.
    pub fn lookup_plainly<'r>(
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

    /// Whether trying all rules in order finds what [`Router::lookup`] found for this request.
    ///
    /// # Cost
    ///
    /// As [`Router::lookup_plainly`].
    pub fn agrees(
        &self,
        found: Option<MatchedRule<'_>>,
        request: &RouteRequest<'_>,
        scratch: &mut RouteScratch,
    ) -> bool {
        let plainly = self.lookup_plainly(request, scratch);
        plainly.map(|plainly| plainly.rank) == found.map(|found| found.rank)
    }

    /// Tells which rule a request is for and why, and why not the others.
    ///
    /// # Cost
    ///
    /// Grows with the number of rules and allocates; not for the path of requests.
    pub fn explain(&self, request: &RouteRequest<'_>) -> Explanation {
        let (_, cost) = self.find(request, &mut RouteScratch::new());
        judge(&self.rules, &self.entries, request, cost)
    }

    /// A short request that the rule of this index wins, if one of those that are tried is such.
    ///
    /// # Cost
    ///
    /// Some thousand lookups at most; allocates.
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

    /// All rules in order, each with the reason of its place and what is wrong with it.
    ///
    /// # Cost
    ///
    /// Grows with the number of rules and allocates; not for the path of requests.
    pub fn ordered(&self) -> Vec<RankedRule> {
        self.ordered_by(&|_, _| false)
    }

    /// The same, with rules marked that could be left out; `alike` says of two actions whether they do the same.
    pub fn ordered_by(&self, alike: &dyn Fn(u32, u32) -> bool) -> Vec<RankedRule> {
        survey(&self.rules, &self.entries, alike)
    }

    /// The step by which the rule for a request comes before the next rule that is for it as well; `None` where no other
    /// is.
    ///
    /// # Cost
    ///
    /// Grows with the number of rules for the host.
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

    /// The rules by index: in table and file order.
    pub fn rules(&self) -> &[CompiledRule] {
        &self.rules
    }

    fn found(&self, rank: u32) -> Option<MatchedRule<'_>> {
        let entry = self.entries.list.get(rank as usize)?;
        Some(MatchedRule { rule: &self.rules[entry.rule as usize], rank: rank + 1 })
    }
}

impl MatchedRule<'_> {
    /// Writes the path for the upstream; `false`, and nothing of use in `out`, if the rule leaves it as it is.
    ///
    /// `path` is the normalised path of the lookup. What is written is a path that the normaliser leaves alone: no
    /// line break, space, half escape or dot segment.
    ///
    /// # Errors
    ///
    /// The captures make a path that may not be sent; the request is to be answered 500.
    ///
    /// # Cost
    ///
    /// A regular expression with captures is run again. Allocates only to grow `scratch` and `out`.
    pub fn rewrite(
        &self,
        path: &[u8],
        scratch: &mut RouteScratch,
        out: &mut Vec<u8>,
    ) -> Result<bool, RewriteFault> {
        self.rule.rewrite(if path.is_empty() { b"/" } else { path }, &mut scratch.pattern, out)
    }
}

/// Compiles every rule, and collects every problem.
fn compile(tables: &[RouteTable]) -> Result<Vec<CompiledRule>, Vec<RouteError>> {
    let mut errors = Vec::new();
    let mut rules = Vec::with_capacity(tables.iter().map(|table| table.rules.len()).sum());
    let (mut entries, mut path_bytes) = (0, 0);
    let mut library = PatternCache::default();
    for (table, spec) in (0..).zip(tables) {
        for end in &spec.ends {
            if let Err(problem) = HostKey::check(end, spec.reading.host) {
                errors.push(RouteError {
                    origin: SourceLocation::nowhere(),
                    rule: Arc::clone(&spec.name),
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

/// Most rules of a listener, one with several hosts counted for each.
const ENTRIES_MAX: usize = 4_000_000;

/// Most bytes of paths of a listener, counted so; the index counts them in 32 bits.
const PATH_BYTES_MAX: usize = 1 << 30;
