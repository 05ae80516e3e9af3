//! Rule comparison by dialect.

use std::cmp::Ordering;

use crate::compile::CompiledRule;
use crate::order::{PrecedenceStep, eddy, gateway_api, istio};
use crate::rule::Dialect;

/// Compares two rules of a table with this dialect; also returns the deciding step.
pub(super) fn compare(dialect: Dialect, a: &CompiledRule, b: &CompiledRule) -> (Ordering, PrecedenceStep) {
    match dialect {
        Dialect::Eddy => eddy::compare(a, b),
        Dialect::Envoy => (a.index.cmp(&b.index), PrecedenceStep::Written),
        Dialect::Istio => istio::compare(a, b),
        Dialect::GatewayApi(rank) => gateway_api::compare(rank, a, b),
    }
}

/// Returns why the first of two rules of a table precedes the second by this step, in readable form.
pub(super) fn reason(
    dialect: Dialect,
    step: PrecedenceStep,
    first: &CompiledRule,
    second: &CompiledRule,
) -> String {
    match dialect {
        Dialect::Eddy => eddy::reason(step, first, second),
        Dialect::Envoy => {
            format!("the first that matches wins: {} comes before {}", first.origin, second.origin)
        }
        Dialect::Istio => istio::reason(step, first, second),
        Dialect::GatewayApi(rank) => gateway_api::reason(rank, step, first, second),
    }
}
