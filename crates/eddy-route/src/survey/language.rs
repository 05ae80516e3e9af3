//! Comparison of the paths of two rules as regular languages.

use std::collections::HashMap;

use crate::compile::{
    self, Caseless, ComparisonBudget, CompiledRule, PathExtent, PathMatcher, Pattern, RegexMatchMode,
    TemplateSegment,
};

/// Rules of a host as languages of paths, built on their first comparison.
pub(super) struct Languages<'r> {
    members: &'r [&'r CompiledRule],
    /// Expressions for the paths of other matchers, by member.
    made: HashMap<usize, Option<Pattern>>,
    /// Expression for all paths.
    all: Option<Option<Pattern>>,
    budget: ComparisonBudget,
}

impl<'r> Languages<'r> {
    /// Creates the languages of a host's rules, given by rank, with the remaining budget for comparisons.
    pub(super) fn new(members: &'r [&'r CompiledRule], budget: ComparisonBudget) -> Self {
        Self { members, made: HashMap::new(), all: None, budget }
    }

    /// Whether a member matches every path of another; `None` if unknown.
    pub(super) fn covers(&mut self, wide: usize, narrow: usize) -> Option<bool> {
        self.make(wide)?;
        self.make(narrow)?;
        let (members, made) = (self.members, &self.made);
        compile::covers(pattern(members, made, wide)?, pattern(members, made, narrow)?, &mut self.budget)
    }

    /// Whether some members together match every path of another; `None` if unknown.
    pub(super) fn covers_together(&mut self, wide: &[usize], narrow: usize) -> Option<bool> {
        self.budget.spend(BUILD_STEPS * wide.len())?;
        let members = self.members;
        let expressions: Option<Vec<String>> =
            wide.iter().map(|at| own_expression(&members[*at].path)).collect();
        let together = Pattern::build_plain(&expressions?.join("|"))?;
        self.make(narrow)?;
        compile::covers(&together, pattern(members, &self.made, narrow)?, &mut self.budget)
    }

    /// Whether two members match a common path; `None` if unknown.
    pub(super) fn overlap(&mut self, a: usize, b: usize) -> Option<bool> {
        self.make(a)?;
        self.make(b)?;
        let (members, made) = (self.members, &self.made);
        compile::overlap(pattern(members, made, a)?, pattern(members, made, b)?, &mut self.budget)
    }

    /// Whether a regular expression member matches no possible request path.
    pub(super) fn is_empty(&mut self, at: usize) -> bool {
        let PathMatcher::Regex(expression) = &self.members[at].path else { return false };
        let all = self.all.get_or_insert_with(|| Pattern::build_plain(ALL_PATHS));
        let overlap =
            all.as_ref().and_then(|all| compile::overlap(&expression.pattern, all, &mut self.budget));
        overlap == Some(false)
    }

    /// Returns the remaining budget.
    pub(super) fn into_budget(self) -> ComparisonBudget {
        self.budget
    }

    /// Builds the expression of a member that is not a regular expression; `None` if that would take too long.
    fn make(&mut self, at: usize) -> Option<()> {
        if self.made.contains_key(&at) || matches!(self.members[at].path, PathMatcher::Regex(_)) {
            return Some(());
        }
        self.budget.spend(BUILD_STEPS)?;
        self.made.insert(at, Pattern::build_plain(&expression(&self.members[at].path)));
        Some(())
    }
}

fn pattern<'a>(
    members: &[&'a CompiledRule],
    made: &'a HashMap<usize, Option<Pattern>>,
    at: usize,
) -> Option<&'a Pattern> {
    match &members[at].path {
        PathMatcher::Regex(expression) => expression.whole(),
        PathMatcher::Any
        | PathMatcher::Exact(_)
        | PathMatcher::Prefix(_)
        | PathMatcher::BytePrefix(_)
        | PathMatcher::Caseless(_)
        | PathMatcher::Template(_) => made.get(&at)?.as_ref(),
    }
}

/// Returns an expression for use in an alternation; `None` for an unanchored expression.
fn own_expression(path: &PathMatcher) -> Option<String> {
    let is_searched =
        matches!(path, PathMatcher::Regex(expression) if expression.pattern.form() != RegexMatchMode::Whole);
    (!is_searched).then(|| format!("(?:{})", expression(path)))
}

/// Returns an expression for the paths of a matcher.
fn expression(path: &PathMatcher) -> String {
    match path {
        PathMatcher::Any => ".*".to_owned(),
        PathMatcher::Exact(path) => regex_syntax::escape(path),
        PathMatcher::Prefix(prefix) => regex_syntax::escape(prefix) + REST,
        PathMatcher::BytePrefix(prefix) => regex_syntax::escape(prefix) + ".*",
        PathMatcher::Caseless(Caseless { text, reach }) => {
            let rest = match reach {
                PathExtent::Exact => "",
                PathExtent::Prefix => REST,
                PathExtent::Below => ".*",
            };
            format!("(?i:{}){rest}", regex_syntax::escape(text))
        }
        PathMatcher::Regex(expression) => expression.pattern.text().to_owned(),
        PathMatcher::Template(template) => {
            let segments = template.segments.iter().map(|segment| match segment {
                TemplateSegment::Fixed(text) => format!("/{}", regex_syntax::escape(text)),
                TemplateSegment::Capture(_) => "/[^/]+".to_owned(),
            });
            segments.collect::<String>() + if template.rest.is_some() { REST } else { "" }
        }
    }
}

/// Matches nothing, or `/` and anything.
const REST: &str = "(?:/.*)?";

/// Matches every path.
const ALL_PATHS: &str = r"/.*|\*";

/// Cost of building an expression, in steps.
const BUILD_STEPS: usize = 20_000;
