//! Finds rules that only the order in the file keeps apart, though one request may be for both.

use std::collections::HashMap;

use crate::compile::{CompiledRule, Condition, PathMatcher, Segment, Source, Template, Test};
use crate::index::path_key;
use crate::order::{Entries, Step};

/// For each rule of a host, given by rank, an earlier one from which only the file order keeps it apart.
pub(super) fn find_fragile(
    rules: &[CompiledRule],
    entries: &Entries,
    first: usize,
    members: &[&CompiledRule],
) -> Vec<Option<usize>> {
    let mut found = vec![None; members.len()];
    let mut budget = COMPARED_MAX;
    let mut start = 0;
    while start < members.len() {
        let is_alike = |at: &usize| {
            let (before, after) = (entries.list[first + at - 1], entries.list[first + at]);
            entries.step(rules, before, after) == Step::FileOrder
        };
        let end = (start + 1..members.len()).find(|at| !is_alike(at)).unwrap_or(members.len());
        find_in_run(members, start..end, &mut found, &mut budget);
        start = end;
    }
    found
}

/// Exact values of a name, each with the rules that ask for it.
type ByValue<'r> = HashMap<&'r str, Vec<usize>>;

/// Compares each rule of a run, in which only the file order decides, with those before it.
fn find_in_run(
    members: &[&CompiledRule],
    run: std::ops::Range<usize>,
    found: &mut [Option<usize>],
    budget: &mut usize,
) {
    let mut without: Vec<usize> = Vec::new();
    let mut by_name: HashMap<(Source, &str), ByValue<'_>> = HashMap::new();
    for at in run {
        let rule = members[at];
        let mut meets = |other: &&usize| {
            *budget = budget.saturating_sub(1);
            *budget > 0 && overlap(members[**other], rule)
        };
        found[at] = without.iter().find(&mut meets).copied();
        for ((source, name), by_value) in &by_name {
            if found[at].is_some() {
                break;
            }
            // Rules that ask for other values of a name that this one asks for are apart from it.
            found[at] = match exact_value(rule, *source, name) {
                Some(value) => by_value.get(value).and_then(|list| list.iter().find(&mut meets)).copied(),
                None => by_value.values().flatten().find(&mut meets).copied(),
            };
        }
        match rule.values().find_map(|condition| Some((condition, condition.exact_value()?))) {
            None => without.push(at),
            Some((condition, value)) => {
                let by_value = by_name.entry((condition.source, &condition.name)).or_default();
                by_value.entry(value).or_default().push(at);
            }
        }
    }
}

/// Whether one request may be for both rules of a host.
///
/// Two exact values of one header are taken as apart, though a request may send the header twice.
fn overlap(a: &CompiledRule, b: &CompiledRule) -> bool {
    let methods_meet = a.methods.is_empty()
        || b.methods.is_empty()
        || a.methods.iter().any(|method| b.methods.contains(method));
    let values_meet = a.values().all(|first| {
        b.values().filter(|second| second.source == first.source && second.name == first.name).all(|second| {
            match (&first.test, &second.test) {
                (Test::Exact(a), Test::Exact(b)) => a == b,
                (Test::Absent, other) | (other, Test::Absent) => matches!(other, Test::Absent),
                _ => true,
            }
        })
    });
    methods_meet && values_meet && paths_overlap(&a.path, &b.path)
}

/// Whether one path may be for both of two matchers that rank alike.
fn paths_overlap(a: &PathMatcher, b: &PathMatcher) -> bool {
    match (a, b) {
        (PathMatcher::Template(a), PathMatcher::Template(b)) => templates_overlap(a, b),
        (PathMatcher::Regex(_), PathMatcher::Regex(_)) => {
            let (a, b) = (path_key(a), path_key(b));
            a.starts_with(&b) || b.starts_with(&a)
        }
        // Exact paths and prefixes that rank alike are the same.
        _ => true,
    }
}

fn templates_overlap(a: &Template, b: &Template) -> bool {
    let is_short =
        |one: &Template, other: &Template| one.rest.is_none() && one.segments.len() < other.segments.len();
    let segments_meet = a.segments.iter().zip(&b.segments).all(|pair| match pair {
        (Segment::Fixed(a), Segment::Fixed(b)) => a == b,
        (Segment::Fixed(text), Segment::Capture(_)) | (Segment::Capture(_), Segment::Fixed(text)) => {
            !text.is_empty()
        }
        (Segment::Capture(_), Segment::Capture(_)) => true,
    });
    segments_meet && !is_short(a, b) && !is_short(b, a)
}

fn exact_value<'r>(rule: &'r CompiledRule, source: Source, name: &str) -> Option<&'r str> {
    let mut values = rule.values().filter(|condition| condition.source == source && *condition.name == *name);
    values.find_map(Condition::exact_value)
}

/// Most pairs compared for one host; pairs beyond are left unmarked. Takes a few seconds at worst.
const COMPARED_MAX: usize = 100_000_000;
