//! Detection of rules that only the file order separates although one request may match both.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::compile::{CompiledCondition, CompiledPathTemplate, CompiledRule, PathMatcher, TemplateSegment};
use crate::order::RouteEntries;
use crate::survey::dead::contradicts;
use crate::survey::language::Languages;

/// Returns, for each rule of a host, given by rank from `first`, an earlier one from which only the file order
/// separates it.
pub(super) fn find_fragile(
    rules: &[CompiledRule],
    entries: &RouteEntries,
    first: usize,
    members: &[&CompiledRule],
    languages: &mut Languages<'_>,
) -> Vec<Option<usize>> {
    let mut search =
        OverlapSearch { members, languages, pairs_left: PAIRS_MAX, found: vec![None; members.len()] };
    let mut start = 0;
    while start < members.len() {
        let is_alike = |at: &usize| {
            let (before, after) = (entries.list[first + at - 1], entries.list[first + at]);
            entries.step(rules, before, after).is_fragile()
        };
        let end = (start + 1..members.len()).find(|at| !is_alike(at)).unwrap_or(members.len());
        search.try_run(start..end);
        start = end;
    }
    search.found
}

/// Comparison of the rules of a host with those before them.
struct OverlapSearch<'s, 'r, 'l> {
    members: &'s [&'r CompiledRule],
    languages: &'s mut Languages<'l>,
    pairs_left: usize,
    found: Vec<Option<usize>>,
}

/// Rules by a name of which they require an exact value, and by that value.
type ByExact<'r> = BTreeMap<(&'static str, &'r str), BTreeMap<&'r str, Vec<usize>>>;

impl<'r> OverlapSearch<'_, 'r, '_> {
    /// Compares each rule of a run, in which only the file order decides, with those before it.
    fn try_run(&mut self, run: Range<usize>) {
        let mut without: Vec<usize> = Vec::new();
        let mut by_exact: ByExact<'r> = BTreeMap::new();
        for at in run {
            let rule = self.members[at];
            self.found[at] = self.first_overlap(&without, at);
            for ((kind, name), by_value) in &by_exact {
                if self.found[at].is_some() {
                    break;
                }
                // Rules that require another value of the same name cannot overlap with this one.
                self.found[at] = match exact_value(rule, kind, name) {
                    Some(value) => by_value.get(value).and_then(|others| self.first_overlap(others, at)),
                    None => by_value.values().find_map(|others| self.first_overlap(others, at)),
                };
            }
            match rule.values().find_map(|condition| Some((condition, condition.exact_value()?))) {
                None => without.push(at),
                Some((condition, value)) => {
                    let by_value = by_exact.entry((condition.kind(), &condition.name)).or_default();
                    by_value.entry(value).or_default().push(at);
                }
            }
        }
    }

    fn first_overlap(&mut self, others: &[usize], at: usize) -> Option<usize> {
        others.iter().copied().find(|other| {
            self.pairs_left = self.pairs_left.saturating_sub(1);
            self.pairs_left > 0
                && conditions_overlap(self.members[*other], self.members[at])
                && self.paths_overlap(*other, at)
        })
    }

    /// Whether one path may match two members with the same rank.
    fn paths_overlap(&mut self, a: usize, b: usize) -> bool {
        match (&self.members[a].path, &self.members[b].path) {
            (PathMatcher::Template(a), PathMatcher::Template(b)) => templates_overlap(a, b),
            (PathMatcher::Regex(first), PathMatcher::Regex(second)) => {
                let (prefixes, suffixes) =
                    ((first.prefix(), second.prefix()), (first.pattern.suffix(), second.pattern.suffix()));
                let may_overlap = (prefixes.0.starts_with(prefixes.1) || prefixes.1.starts_with(prefixes.0))
                    && (suffixes.0.ends_with(suffixes.1) || suffixes.1.ends_with(suffixes.0));
                // Undecided pairs are not marked: `explain` decides them for a given request.
                may_overlap && self.languages.overlap(a, b) == Some(true)
            }
            // Exact paths and prefixes with the same rank are equal.
            _ => true,
        }
    }
}

/// Whether one request may pass the conditions of both rules.
///
/// Two exact values of one header are treated as disjoint, although a request may send the header twice.
fn conditions_overlap(a: &CompiledRule, b: &CompiledRule) -> bool {
    let methods_meet = a.methods.is_empty()
        || b.methods.is_empty()
        || a.methods.iter().any(|method| b.methods.contains(method));
    let is_apart = |first: &CompiledCondition, second: &CompiledCondition| {
        let is_one_name = first.source == second.source && first.name == second.name;
        let values = first.exact_value().zip(second.exact_value());
        is_one_name && (values.is_some_and(|(a, b)| a != b) || contradicts(first, second))
    };
    methods_meet && !a.values().any(|first| b.values().any(|second| is_apart(first, second)))
}

fn templates_overlap(a: &CompiledPathTemplate, b: &CompiledPathTemplate) -> bool {
    let is_short = |one: &CompiledPathTemplate, other: &CompiledPathTemplate| {
        one.rest.is_none() && one.segments.len() < other.segments.len()
    };
    let segments_meet = a.segments.iter().zip(&b.segments).all(|pair| match pair {
        (TemplateSegment::Fixed(a), TemplateSegment::Fixed(b)) => a == b,
        (TemplateSegment::Fixed(text), TemplateSegment::Capture(_))
        | (TemplateSegment::Capture(_), TemplateSegment::Fixed(text)) => !text.is_empty(),
        (TemplateSegment::Capture(_), TemplateSegment::Capture(_)) => true,
    });
    segments_meet && !is_short(a, b) && !is_short(b, a)
}

fn exact_value<'r>(rule: &'r CompiledRule, kind: &str, name: &str) -> Option<&'r str> {
    let mut values = rule.values().filter(|condition| condition.kind() == kind && *condition.name == *name);
    values.find_map(CompiledCondition::exact_value)
}

/// Maximum pairs compared for one host; further pairs are not marked. Takes a few seconds in the worst case.
const PAIRS_MAX: usize = 100_000_000;
