//! Compares the paths of two rules as languages, where regular expressions are involved.

use std::collections::HashMap;

use crate::compile::{
    self, Caseless, ComparisonBudget, CompiledRule, PathMatcher, Pattern, Reach, RegexMatchMode,
    TemplateSegment,
};

/// The rules of a host as languages of paths, made ready when they are first compared.
pub(super) struct Languages<'r> {
    members: &'r [&'r CompiledRule],
    /// Expressions for the paths that are none, by member.
    made: HashMap<usize, Option<Pattern>>,
    /// An expression for all paths.
    all: Option<Option<Pattern>>,
    budget: ComparisonBudget,
}

impl<'r> Languages<'r> {
    /// Takes the rules of a host by rank, and what comparing those of all hosts may still take.
    pub(super) fn new(members: &'r [&'r CompiledRule], budget: ComparisonBudget) -> Self {
        Self { members, made: HashMap::new(), all: None, budget }
    }

    /// Whether a member serves every path that another does; `None` if that is not known.
    pub(super) fn covers(&mut self, wide: usize, narrow: usize) -> Option<bool> {
        self.make(wide)?;
        self.make(narrow)?;
        let (members, made) = (self.members, &self.made);
        compile::covers(pattern(members, made, wide)?, pattern(members, made, narrow)?, &mut self.budget)
    }

    /// Whether some members together serve every path that another does; `None` if that is not known.
    pub(super) fn covers_together(&mut self, wide: &[usize], narrow: usize) -> Option<bool> {
        self.budget.spend(BUILD_STEPS * wide.len())?;
        let members = self.members;
        let expressions: Option<Vec<String>> =
            wide.iter().map(|at| own_expression(&members[*at].path)).collect();
        let together = Pattern::build_plain(&expressions?.join("|"))?;
        self.make(narrow)?;
        compile::covers(&together, pattern(members, &self.made, narrow)?, &mut self.budget)
    }

    /// Whether some path is for two members; `None` if that is not known.
    pub(super) fn overlap(&mut self, a: usize, b: usize) -> Option<bool> {
        self.make(a)?;
        self.make(b)?;
        let (members, made) = (self.members, &self.made);
        compile::overlap(pattern(members, made, a)?, pattern(members, made, b)?, &mut self.budget)
    }

    /// Whether a member that is a regular expression matches no path at all that a request may have.
    pub(super) fn is_empty(&mut self, at: usize) -> bool {
        let PathMatcher::Regex(expression) = &self.members[at].path else { return false };
        let all = self.all.get_or_insert_with(|| Pattern::build_plain(ALL_PATHS));
        let overlap =
            all.as_ref().and_then(|all| compile::overlap(&expression.pattern, all, &mut self.budget));
        overlap == Some(false)
    }

    /// What is left of the budget.
    pub(super) fn into_budget(self) -> ComparisonBudget {
        self.budget
    }

    /// Makes the expression of a member that has none of its own; `None` if that would take too long.
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

/// An expression that may stand beside others; `None` for one that is searched for.
fn own_expression(path: &PathMatcher) -> Option<String> {
    let is_searched =
        matches!(path, PathMatcher::Regex(expression) if expression.pattern.form() != RegexMatchMode::Whole);
    (!is_searched).then(|| format!("(?:{})", expression(path)))
}

/// An expression for the paths of a matcher.
fn expression(path: &PathMatcher) -> String {
    match path {
        PathMatcher::Any => ".*".to_owned(),
        PathMatcher::Exact(path) => regex_syntax::escape(path),
        PathMatcher::Prefix(prefix) => regex_syntax::escape(prefix) + REST,
        PathMatcher::BytePrefix(prefix) => regex_syntax::escape(prefix) + ".*",
        PathMatcher::Caseless(Caseless { text, reach }) => {
            let rest = match reach {
                Reach::Exact => "",
                Reach::Prefix => REST,
                Reach::Below => ".*",
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

/// Nothing, or a `/` and anything.
const REST: &str = "(?:/.*)?";

/// What every path is.
const ALL_PATHS: &str = r"/.*|\*";

/// What making an expression counts for.
const BUILD_STEPS: usize = 20_000;
