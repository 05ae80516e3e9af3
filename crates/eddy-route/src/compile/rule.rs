//! Compiled rules: everything that a lookup needs of a rule.

use std::fmt;

use eddy_ids::{ActionId, Shared};

use crate::compile::condition::{CompiledCondition, ConditionSource, is_token};
use crate::compile::host::HostKey;
use crate::compile::library::PatternCache;
use crate::compile::match_context::RuleMatchContext;
use crate::compile::path::PathMatcher;
use crate::compile::pattern::{Groups, PatternScratch};
use crate::compile::rewrite::{Rewrite, RewriteFault};
use crate::error::{RouteError, RouteProblem};
use crate::rule::{
    Fraction, KubernetesPrecedence, PathForm, PathRewrite, Rule, SourceLocation, TableMatchOptions,
};

/// A rule of a router.
#[derive(Debug)]
pub struct CompiledRule {
    /// The rule's name.
    pub name: Shared<str>,
    /// Index in the router, from 0 without gaps, in table and file order; the same for the same configuration.
    pub index: u32,
    /// Action for requests that match this rule, in the list of its table.
    pub action: ActionId,
    /// Location of the rule in the configuration.
    pub origin: SourceLocation,
    /// Table, as an index into the list that the router was built from.
    pub table: u32,
    pub(crate) rank: i32,
    pub(crate) hosts: Vec<HostKey>,
    pub(crate) path: PathMatcher,
    pub(crate) methods: Vec<Box<str>>,
    pub(crate) headers: Vec<CompiledCondition>,
    pub(crate) query: Vec<CompiledCondition>,
    pub(crate) claim: Option<KubernetesPrecedence>,
    pub(crate) fraction: Option<Fraction>,
    /// Path form of the rule's table.
    pub(crate) path_form: PathForm,
    rewrite: Option<Rewrite>,
}

/// First condition of a rule that a request fails.
pub(crate) enum RuleMismatch<'r> {
    Path,
    Method,
    Value(&'r CompiledCondition),
    Fraction(Fraction),
}

impl CompiledRule {
    /// Checks and compiles a rule; all its problems are pushed to `errors`.
    pub(crate) fn build(
        rule: &Rule,
        table: (u32, TableMatchOptions),
        index: u32,
        library: &mut PatternCache,
        errors: &mut Vec<RouteError>,
    ) -> Option<Self> {
        let (table, reading) = table;
        library.form = reading.path;
        let mut problems = Problems { rule, errors, is_sound: true };
        problems.check_counts();
        let mut hosts: Vec<HostKey> =
            rule.hosts.iter().filter_map(|host| problems.take(HostKey::check(host, reading.host))).collect();
        if rule.hosts.is_empty() {
            hosts.push(HostKey::Any);
        }
        hosts.sort_by(|a, b| a.compare(b).then_with(|| a.text().cmp(b.text())));
        hosts.dedup();
        let groups = if matches!(rule.rewrite, Some(PathRewrite::Full(_))) {
            Groups::Captured
        } else {
            Groups::Ignored
        };
        let path = problems.take(PathMatcher::build(&rule.path, groups, library));
        let methods = rule.methods.iter().filter_map(|method| problems.take(check_method(method))).collect();
        let headers = rule
            .headers
            .iter()
            .filter_map(|spec| problems.take(CompiledCondition::check_header(spec)))
            .collect();
        let query = rule
            .query
            .iter()
            .filter_map(|spec| problems.take(CompiledCondition::check_query(spec, reading.query)))
            .collect();
        let path = path?;
        let rewrite = rule
            .rewrite
            .as_ref()
            .and_then(|rewrite| problems.take(Rewrite::build(rewrite, &path, reading.path)));
        if !problems.is_sound {
            return None;
        }
        let rank = rule.rank.unwrap_or(0);
        let (name, action, origin) = (Shared::clone(&rule.name), rule.action, rule.origin.clone());
        // The whole fraction is not a condition.
        let fraction = rule.fraction.filter(|fraction| fraction.numerator < fraction.denominator);
        Some(Self {
            name,
            index,
            action,
            origin,
            table,
            rank,
            claim: rule.claim.clone(),
            hosts,
            path,
            methods,
            headers,
            query,
            fraction,
            path_form: reading.path,
            rewrite,
        })
    }

    /// Whether method, headers, query and fraction match.
    pub(crate) fn conditions_hold(&self, probe: &mut RuleMatchContext<'_>) -> bool {
        self.serves_method(probe.method)
            && self.fraction.is_none_or(|fraction| fraction.takes(probe.random))
            && self.headers.iter().all(|condition| condition.holds(probe))
            && self.query.iter().all(|condition| condition.holds(probe))
    }

    /// Returns the first failed condition except the host, in the order path, method, headers, query, fraction.
    pub(crate) fn first_failure(&self, probe: &mut RuleMatchContext<'_>) -> Option<RuleMismatch<'_>> {
        if !self.path.matches(probe.path, probe.pattern) {
            return Some(RuleMismatch::Path);
        }
        if !self.serves_method(probe.method) {
            return Some(RuleMismatch::Method);
        }
        let mut values = self.headers.iter().chain(&self.query);
        if let Some(failed) = values.find(|condition| !condition.holds(probe)) {
            return Some(RuleMismatch::Value(failed));
        }
        self.fraction.filter(|fraction| !fraction.takes(probe.random)).map(RuleMismatch::Fraction)
    }

    /// Whether the rule has no condition except host and path.
    pub(crate) fn is_unconditional(&self) -> bool {
        self.methods.is_empty() && self.headers.is_empty() && self.query.is_empty() && self.fraction.is_none()
    }

    /// Returns all conditions on values: those on headers, then those on the query.
    pub(crate) fn values(&self) -> impl Iterator<Item = &CompiledCondition> {
        self.headers.iter().chain(&self.query)
    }

    /// Whether the query must be decoded for the rule.
    pub(crate) fn has_query_condition(&self) -> bool {
        self.query.iter().any(|condition| condition.source == ConditionSource::Query)
    }

    /// Writes the path for the upstream; returns `false` if the rule does not change it.
    pub(crate) fn rewrite(
        &self,
        path: &[u8],
        scratch: &mut PatternScratch,
        out: &mut Vec<u8>,
    ) -> Result<bool, RewriteFault> {
        match &self.rewrite {
            Some(rewrite) => rewrite.write(&self.path, path, scratch, out),
            None => Ok(false),
        }
    }

    /// Whether the rule changes the path for the upstream.
    pub fn has_rewrite(&self) -> bool {
        self.rewrite.is_some()
    }

    fn serves_method(&self, method: &[u8]) -> bool {
        self.methods.is_empty() || self.methods.iter().any(|served| served.as_bytes() == method)
    }
}

impl fmt::Display for CompiledRule {
    /// Writes the requirements of the rule except the host, on one readable line.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.path)?;
        if !self.methods.is_empty() {
            write!(out, ", method {}", self.methods.join(" or "))?;
        }
        self.values().try_for_each(|condition| write!(out, ", {condition}"))?;
        self.fraction.map_or(Ok(()), |fraction| write!(out, ", {fraction} requests"))
    }
}

/// Collects all problems of a rule instead of stopping at the first.
struct Problems<'a> {
    rule: &'a Rule,
    errors: &'a mut Vec<RouteError>,
    is_sound: bool,
}

impl Problems<'_> {
    fn take<T>(&mut self, result: Result<T, RouteProblem>) -> Option<T> {
        result.map_err(|problem| self.push(problem)).ok()
    }

    fn push(&mut self, problem: RouteProblem) {
        self.is_sound = false;
        self.errors.push(RouteError::new(self.rule, problem));
    }

    fn check_counts(&mut self) {
        let rule = self.rule;
        let counts = [
            ("hosts", rule.hosts.len(), HOSTS_MAX),
            ("methods", rule.methods.len(), CONDITIONS_MAX),
            ("header matches", rule.headers.len(), CONDITIONS_MAX),
            ("query matches", rule.query.len(), CONDITIONS_MAX),
        ];
        for (what, count, max) in counts {
            if count > max {
                self.push(RouteProblem::TooMany { what, count, max });
            }
        }
    }
}

fn check_method(method: &str) -> Result<Box<str>, RouteProblem> {
    if is_token(method) { Ok(method.into()) } else { Err(RouteProblem::Method { method: method.to_owned() }) }
}

/// Maximum hosts of one rule.
const HOSTS_MAX: usize = 4096;

/// Maximum methods, header matches and query matches of one rule, each.
const CONDITIONS_MAX: usize = 64;
