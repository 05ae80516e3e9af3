//! The order of dialects in which the rule that is written first wins: nothing that the rules say decides.

use std::cmp::Ordering;

use crate::compile::CompiledRule;
use crate::order::PrecedenceStep;

/// Compares two rules of a table.
pub(super) fn compare(a: &CompiledRule, b: &CompiledRule) -> (Ordering, PrecedenceStep) {
    (a.index.cmp(&b.index), PrecedenceStep::Written)
}

/// Why the first rule comes before the second, for people.
pub(super) fn reason(first: &CompiledRule, second: &CompiledRule) -> String {
    format!("the first that matches wins: {} comes before {}", first.origin, second.origin)
}
