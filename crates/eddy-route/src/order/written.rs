//! The order of dialects in which the rule that is written first wins: nothing that the rules say decides.

use std::cmp::Ordering;

use crate::compile::CompiledRule;
use crate::order::Step;

/// Compares two rules of a table.
pub(super) fn compare(a: &CompiledRule, b: &CompiledRule) -> (Ordering, Step) {
    (a.index.cmp(&b.index), Step::Written)
}

/// Why the first rule comes before the second, for people.
pub(super) fn reason(first: &CompiledRule, second: &CompiledRule) -> String {
    format!("the first that matches wins: {} comes before {}", first.origin, second.origin)
}
