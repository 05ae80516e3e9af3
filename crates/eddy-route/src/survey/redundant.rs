//! Detection of redundant rules: a later rule does the same with all their requests, and no rule in between does
//! anything else with one of them.

use crate::compile::{CompiledRule, PathMatcher, PatternScratch};
use crate::survey::cover::Covers;
use crate::survey::dead::contradicts;
use crate::survey::language::Languages;

/// Tells whether the actions of two rules are equivalent; both are the caller's.
pub(crate) type SameActions<'a> = &'a dyn Fn(&CompiledRule, &CompiledRule) -> bool;

/// Returns, for a rule of a host given by rank, the later rule that would win in its place and does the same.
pub(super) fn find_redundant(
    covers: &Covers<'_>,
    members: &[&CompiledRule],
    languages: &mut Languages<'_>,
    at: usize,
    alike: SameActions<'_>,
) -> Option<usize> {
    let own = members[at];
    if own.has_rewrite() {
        return None;
    }
    let does_the_same = |other: &CompiledRule| !other.has_rewrite() && alike(own, other);
    let heir = covers.find_later_cover(languages, at, &does_the_same)?;
    if heir - at > INTERVENING_RULES_MAX {
        return None;
    }
    let is_harmless = |between: usize, languages: &mut Languages<'_>| {
        does_the_same(members[between]) || are_disjoint(members, at, between, languages)
    };
    (at + 1..heir).all(|between| is_harmless(between, languages)).then_some(heir)
}

/// Whether certainly no request matches both.
fn are_disjoint(members: &[&CompiledRule], a: usize, b: usize, languages: &mut Languages<'_>) -> bool {
    let (one, other) = (members[a], members[b]);
    let is_other_method = !one.methods.is_empty()
        && !other.methods.is_empty()
        && one.methods.iter().all(|method| !other.methods.contains(method));
    is_other_method
        || one.values().any(|first| other.values().any(|second| contradicts(first, second)))
        || match (&one.path, &other.path) {
            (PathMatcher::Exact(path), matcher) | (matcher, PathMatcher::Exact(path)) => {
                !matcher.matches(path.as_bytes(), &mut PatternScratch::default())
            }
            _ => languages.overlap(a, b) == Some(false),
        }
}

/// Maximum rules in between that are checked.
const INTERVENING_RULES_MAX: usize = 1000;
