//! Implication between the conditions of two rules.

use crate::compile::{CompiledCondition, CompiledRule, CompiledTest, PatternScratch};
use crate::rule::Missing;

/// Returns whether every request that passes the conditions of `narrow` passes those of `wide`; `None` if not.
pub(super) fn implies(narrow: &CompiledRule, wide: &CompiledRule) -> Option<Proof> {
    let has_methods = wide.methods.is_empty()
        || (!narrow.methods.is_empty() && narrow.methods.iter().all(|method| wide.methods.contains(method)));
    // With the same random number, the smaller fraction is contained in the larger.
    let has_fraction = match (wide.fraction, narrow.fraction) {
        (None, _) => true,
        (Some(wide), Some(narrow)) => {
            wide.denominator == narrow.denominator && wide.numerator >= narrow.numerator
        }
        (Some(_), None) => false,
    };
    if !has_methods || !has_fraction {
        return None;
    }
    let mut proof = Proof::Certain;
    for wanted in wide.values() {
        proof = proof.min(implied(narrow, wanted)?);
    }
    Some(proof)
}

/// Returns whether every request that passes the conditions of `narrow` passes `wanted`; `None` if not.
pub(super) fn implied(narrow: &CompiledRule, wanted: &CompiledCondition) -> Option<Proof> {
    let grounds = narrow.values().filter(|given| given.source == wanted.source && given.name == wanted.name);
    grounds.filter_map(|given| value_implies(given, wanted)).max()
}

/// Returns whether a value that passes one test passes another; for repeated headers, the line that passes.
fn value_implies(given: &CompiledCondition, wanted: &CompiledCondition) -> Option<Proof> {
    if !given.is_plain() || !wanted.is_plain() {
        return specially_implies(given, wanted).then_some(Proof::Certain);
    }
    let is_implied = match (&given.test, &wanted.test) {
        (CompiledTest::Absent, wanted) => matches!(wanted, CompiledTest::Absent),
        (_, CompiledTest::Absent) => false,
        (_, CompiledTest::Present) => true,
        (_, CompiledTest::Prefix(text) | CompiledTest::Suffix(text) | CompiledTest::Contains(text))
            if text.is_empty() =>
        {
            true
        }
        (CompiledTest::Exact(value), wanted) => {
            wanted.passes(value.as_bytes(), &mut PatternScratch::default())
        }
        (CompiledTest::Prefix(given), CompiledTest::Prefix(wanted)) => given.starts_with(wanted.as_ref()),
        (CompiledTest::Suffix(given), CompiledTest::Suffix(wanted)) => given.ends_with(wanted.as_ref()),
        (
            CompiledTest::Prefix(given) | CompiledTest::Suffix(given) | CompiledTest::Contains(given),
            CompiledTest::Contains(wanted),
        ) => given.contains(wanted.as_ref()),
        (CompiledTest::Regex(given), CompiledTest::Regex(wanted)) if given.text() == wanted.text() => true,
        (CompiledTest::Regex(_), _) | (_, CompiledTest::Regex(_)) => return Some(Proof::Open),
        (CompiledTest::Caseless(_) | CompiledTest::Range(..), _) => given.test == wanted.test,
        (
            CompiledTest::Present
            | CompiledTest::Prefix(_)
            | CompiledTest::Suffix(_)
            | CompiledTest::Contains(_),
            _,
        ) => false,
    };
    is_implied.then_some(Proof::Certain)
}

/// Whether one condition implies another where one of them is inverted or holds for a missing value.
fn specially_implies(given: &CompiledCondition, wanted: &CompiledCondition) -> bool {
    let is_same = given.test == wanted.test && given.is_inverted == wanted.is_inverted;
    let mut scratch = PatternScratch::default();
    match (&given.test, &wanted.test) {
        _ if is_same && (given.missing == wanted.missing || given.missing == Missing::Fails) => true,
        (CompiledTest::Absent, _) => wanted.holds_without(&mut scratch),
        // Other lines of a header may have any value, which matters only to inverted conditions.
        (CompiledTest::Exact(value), _) if given.is_plain() && (given.is_single() || !wanted.is_inverted) => {
            wanted.holds_for(value.as_bytes(), &mut scratch)
        }
        // Both fail without a value.
        (_, CompiledTest::Present) => given.missing == Missing::Fails && !wanted.is_inverted,
        _ => false,
    }
}

/// Whether a fact is proven, or only not disproven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Proof {
    Open,
    Certain,
}
