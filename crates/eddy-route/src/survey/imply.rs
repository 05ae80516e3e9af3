//! Whether the conditions of one rule hold whenever those of another do.

use crate::compile::{CompiledRule, Condition, PatternScratch, Test};
use crate::rule::Missing;
use crate::survey::ranked::Proof;

/// Whether every request that passes the conditions of `narrow` passes those of `wide`; `None` if it is not so.
pub(super) fn implies(narrow: &CompiledRule, wide: &CompiledRule) -> Option<Proof> {
    let has_methods = wide.methods.is_empty()
        || (!narrow.methods.is_empty() && narrow.methods.iter().all(|method| wide.methods.contains(method)));
    // Of one random number, the smaller share is within the larger.
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

/// Whether every request that passes the conditions of `narrow` passes this one; `None` if it is not so.
pub(super) fn implied(narrow: &CompiledRule, wanted: &Condition) -> Option<Proof> {
    let grounds = narrow.values().filter(|given| given.source == wanted.source && given.name == wanted.name);
    grounds.filter_map(|given| value_implies(given, wanted)).max()
}

/// Whether a value that passes one test passes another; of repeated headers, the line that does.
fn value_implies(given: &Condition, wanted: &Condition) -> Option<Proof> {
    if !given.is_plain() || !wanted.is_plain() {
        return specially_implies(given, wanted).then_some(Proof::Certain);
    }
    let is_implied = match (&given.test, &wanted.test) {
        (Test::Absent, wanted) => matches!(wanted, Test::Absent),
        (_, Test::Absent) => false,
        (_, Test::Present) => true,
        (_, Test::Prefix(text) | Test::Suffix(text) | Test::Contains(text)) if text.is_empty() => true,
        (Test::Exact(value), wanted) => wanted.passes(value.as_bytes(), &mut PatternScratch::default()),
        (Test::Prefix(given), Test::Prefix(wanted)) => given.starts_with(wanted.as_ref()),
        (Test::Suffix(given), Test::Suffix(wanted)) => given.ends_with(wanted.as_ref()),
        (Test::Prefix(given) | Test::Suffix(given) | Test::Contains(given), Test::Contains(wanted)) => {
            given.contains(wanted.as_ref())
        }
        (Test::Regex(given), Test::Regex(wanted)) if given.text() == wanted.text() => true,
        (Test::Regex(_), _) | (_, Test::Regex(_)) => return Some(Proof::Open),
        (Test::Caseless(_) | Test::Range(..), _) => given.test == wanted.test,
        (Test::Present | Test::Prefix(_) | Test::Suffix(_) | Test::Contains(_), _) => false,
    };
    is_implied.then_some(Proof::Certain)
}

/// The same where one of them is inverted, or passes without a value.
fn specially_implies(given: &Condition, wanted: &Condition) -> bool {
    let is_same = given.test == wanted.test && given.is_inverted == wanted.is_inverted;
    let mut scratch = PatternScratch::default();
    match (&given.test, &wanted.test) {
        _ if is_same && (given.missing == wanted.missing || given.missing == Missing::Fails) => true,
        (Test::Absent, _) => wanted.holds_without(&mut scratch),
        // Other lines of a field may have any value, which matters only to what is inverted.
        (Test::Exact(value), _) if given.is_plain() && (given.is_single() || !wanted.is_inverted) => {
            wanted.holds_for(value.as_bytes(), &mut scratch)
        }
        // Neither passes without a value.
        (_, Test::Present) => given.missing == Missing::Fails && !wanted.is_inverted,
        _ => false,
    }
}
