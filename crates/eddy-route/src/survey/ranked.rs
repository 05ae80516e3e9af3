//! Ordered rules, each with the reason for its position and its marks.

use std::collections::HashMap;

use serde::Serialize;

use crate::compile::{ComparisonBudget, CompiledRule};
use crate::explain::RuleRef;
use crate::order::{HostEntries, PrecedenceStep, RouteEntries};
use crate::survey::cover::Covers;
use crate::survey::dead::contradiction;
use crate::survey::example::Examples;
use crate::survey::fragile::find_fragile;
use crate::survey::imply::Proof;
use crate::survey::joint::find_joint_cover;
use crate::survey::language::Languages;
use crate::survey::redundant::{SameActions, find_redundant};
use crate::witness::Witness;

/// A rule under one of its hosts, at its position in the total order. Displays as one line of text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RankedRule {
    /// Rule.
    #[serde(flatten)]
    pub rule: RuleRef,
    /// Step that puts it after the previous rule; `None` for the first.
    pub step: Option<PrecedenceStep>,
    /// Reason why it comes after the previous rule, in readable form.
    pub reason: Option<String>,
    /// Whether an earlier rule takes all its requests, under this host.
    pub shadow: Shadow,
    /// Earlier rule from which only the file order separates it, although one request may match both.
    pub fragile: Option<String>,
    /// Later rule that would do the same with all its requests if this rule was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redundant: Option<String>,
    /// Reason why it can win under no host.
    pub dead: Option<String>,
    /// A short example request for the mark: for a shadowed rule one that another takes, for a fragile or redundant
    /// rule one that matches both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<Witness>,
}

/// Whether an earlier rule takes all requests of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Shadow {
    /// No rule does, as far as is known.
    None,
    /// These rules together do, but none of them alone.
    Jointly {
        /// Names of the rules, in order.
        rules: Vec<String>,
    },
    /// This rule does.
    By {
        /// Table of the earlier rule.
        table: String,
        /// Name of the earlier rule.
        rule: String,
        /// Configuration file.
        file: String,
        /// First line of the rule.
        line: u32,
    },
    /// This rule may, which is not proven because a regular expression is involved.
    NotProven {
        /// Table of the earlier rule.
        table: String,
        /// Name of the earlier rule.
        rule: String,
        /// Configuration file.
        file: String,
        /// First line of the rule.
        line: u32,
    },
}

/// Returns all rules in order.
pub(crate) fn survey(
    rules: &[CompiledRule],
    entries: &RouteEntries,
    alike: SameActions<'_>,
) -> Vec<RankedRule> {
    let mut ranked = Vec::with_capacity(entries.list.len());
    let mut budget = ComparisonBudget::new();
    let mut examples = Examples::new(rules);
    for scope in &entries.scopes {
        budget = survey_scope(rules, entries, scope, alike, (budget, &mut examples), &mut ranked);
    }
    mark_shadowed(&mut ranked);
    ranked
}

/// Appends the rules of a host; returns the remaining budget.
fn survey_scope(
    rules: &[CompiledRule],
    entries: &RouteEntries,
    scope: &HostEntries,
    alike: SameActions<'_>,
    (budget, examples): (ComparisonBudget, &mut Examples),
    ranked: &mut Vec<RankedRule>,
) -> ComparisonBudget {
    let first = scope.ranks.start as usize;
    let members: Vec<&CompiledRule> = entries.list[first..scope.ranks.end as usize]
        .iter()
        .map(|entry| &rules[entry.rule as usize])
        .collect();
    let covers = Covers::build(&members);
    let mut languages = Languages::new(&members, budget);
    let fragile = find_fragile(rules, entries, first, &members, &mut languages);
    for (at, fragile) in fragile.into_iter().enumerate() {
        let rank = first + at;
        let entry = entries.list[rank];
        let (step, reason) = match rank.checked_sub(1).map(|before| entries.list[before]) {
            Some(before) => Some(entries.reason(rules, before, entry)).unzip(),
            None => (None, None),
        };
        let shadow = match covers.find(&mut languages, at) {
            Some((cover, is_proven)) => {
                Shadow::new(members[cover], entries.table_name(members[cover]), is_proven)
            }
            None => find_joint_cover(&covers, &mut languages, at).map_or(Shadow::None, |together| {
                Shadow::Jointly {
                    rules: together.into_iter().map(|member| members[member].name.to_string()).collect(),
                }
            }),
        };
        let dead = contradiction(members[at])
            .or_else(|| languages.is_empty(at).then(|| "no valid request path matches it".to_owned()));
        let is_living = dead.is_none() && matches!(shadow, Shadow::None);
        let redundant =
            if is_living { find_redundant(&covers, &members, &mut languages, at, alike) } else { None };
        let example = match (&shadow, fragile.or(redundant)) {
            (Shadow::By { .. } | Shadow::Jointly { .. }, _) => examples.find(scope, &[members[at]]),
            (_, Some(other)) => examples.find(scope, &[members[at], members[other]]),
            (Shadow::None | Shadow::NotProven { .. }, None) => None,
        };
        let fragile = fragile.map(|other| members[other].name.to_string());
        let redundant = redundant.map(|other| members[other].name.to_string());
        let rule = RuleRef::new(rules, entries, rank, entry);
        ranked.push(RankedRule { rule, step, reason, shadow, fragile, redundant, dead, example });
    }
    languages.into_budget()
}

/// Marks the rules that are shadowed under each of their hosts.
fn mark_shadowed(ranked: &mut [RankedRule]) {
    let mut open: HashMap<u32, bool> = HashMap::new();
    for rule in ranked.iter() {
        let is_open = !matches!(rule.shadow, Shadow::By { .. } | Shadow::Jointly { .. });
        *open.entry(rule.rule.index).or_default() |= is_open;
    }
    for ranked in ranked.iter_mut().filter(|ranked| open.get(&ranked.rule.index) == Some(&false)) {
        let takers = match &ranked.shadow {
            Shadow::By { rule, file, line, .. } => format!("{rule} ({file}:{line}) matches all its requests"),
            Shadow::Jointly { rules } => format!("{} together match all its requests", rules.join(" and ")),
            Shadow::None | Shadow::NotProven { .. } => continue,
        };
        let example = ranked.example_text();
        ranked.dead.get_or_insert_with(|| takers + &example);
    }
}

impl RankedRule {
    /// Returns the example request for a mark of the rule.
    pub(super) fn example_text(&self) -> String {
        self.example.as_ref().map(|example| format!(", such as {example}")).unwrap_or_default()
    }
}

impl Shadow {
    fn new(cover: &CompiledRule, table: &str, is_proven: Proof) -> Self {
        let (table, rule) = (table.to_owned(), cover.name.to_string());
        let (file, line) = (cover.origin.file.to_string(), cover.origin.line);
        match is_proven {
            Proof::Certain => Self::By { table, rule, file, line },
            Proof::Open => Self::NotProven { table, rule, file, line },
        }
    }
}
