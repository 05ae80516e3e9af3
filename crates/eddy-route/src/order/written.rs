//! Rule order of dialects in which the first rule as written wins: the conditions of the rules do not decide.

use std::cmp::Ordering;

use crate::compile::CompiledRule;
use crate::order::PrecedenceStep;

/// Compares two rules of a table.
pub(super) fn compare(a: &CompiledRule, b: &CompiledRule) -> (Ordering, PrecedenceStep) {
    (a.index.cmp(&b.index), PrecedenceStep::Written)
}

/// Returns why the first rule precedes the second, in readable form.
pub(super) fn reason(first: &CompiledRule, second: &CompiledRule) -> String {
    format!("the first that matches wins: {} comes before {}", first.origin, second.origin)
}
