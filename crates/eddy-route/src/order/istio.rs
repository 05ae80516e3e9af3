//! Rule order of Istio: the VirtualServices of a host are merged, then the first match in the merged list wins.
//!
//! Within a host and a table there are these steps, each deciding only between rules that are equal in the steps
//! before:
//!
//! 1. **rank**: redirects of a whole server, then rules, then those for every request of the host ([`CATCH_ALL_RANK`]).
//! 2. The **Gateway** that comes first.
//! 3. **rank** again: VirtualServices that are private to the namespace, those exported to it, those for all.
//! 4. **age**: the older VirtualService; one without a creation time counts as older than all others.
//! 5. **name**: the VirtualService that comes first by name, then by namespace.
//! 6. **written**: the first match as written.
//!
//! The builder of the table puts its rules into this order, because the merged sources are no longer visible in them;
//! this module only determines the deciding step.

use std::cmp::Ordering;

use crate::compile::CompiledRule;
use crate::order::PrecedenceStep;

/// Lowest rank of rules in Istio tables that match every request of their hosts.
pub const CATCH_ALL_RANK: i32 = 10;

/// Compares two rules of a table; also returns the deciding step.
pub(super) fn compare(a: &CompiledRule, b: &CompiledRule) -> (Ordering, PrecedenceStep) {
    let order = a.index.cmp(&b.index);
    let step = if order.is_le() { step(a, b) } else { step(b, a) };
    (order, step)
}

/// Returns the step by which the first of two rules precedes the second.
fn step(first: &CompiledRule, second: &CompiledRule) -> PrecedenceStep {
    if object(first) == object(second) && class(first) == class(second) {
        return PrecedenceStep::Written;
    }
    if class(first) != class(second) {
        return PrecedenceStep::Path;
    }
    let steps = [
        (PrecedenceStep::Rank, first.rank.cmp(&second.rank)),
        (PrecedenceStep::Age, created(first).cmp(&created(second))),
        (PrecedenceStep::Name, name(first).cmp(&name(second))),
    ];
    match steps.into_iter().find(|(_, order)| order.is_ne()) {
        Some((step, Ordering::Less)) => step,
        // The deciding step is an earlier one: the Gateway.
        Some(_) | None => PrecedenceStep::FileOrder,
    }
}

/// Returns why the first rule precedes the second by this step of [`compare`], in readable form.
pub(super) fn reason(step: PrecedenceStep, first: &CompiledRule, second: &CompiledRule) -> String {
    let (a, b) = (object(first), object(second));
    match step {
        PrecedenceStep::Path if class(second) == Class::CatchAll => {
            "a match of every request of the host comes last".to_owned()
        }
        PrecedenceStep::Path => "a redirect of the whole server comes first".to_owned(),
        PrecedenceStep::Rank => {
            format!("by `exportTo`, {a} is {}, {b} is {}", seen_by(first), seen_by(second))
        }
        PrecedenceStep::Age => {
            let old = if created(first) == i64::MIN { ", which has no creation time," } else { "" };
            format!("only age decides: {a}{old} is older than {b}")
        }
        PrecedenceStep::Name => format!("only the name decides: \"{a}\" comes before \"{b}\""),
        PrecedenceStep::Written => {
            format!("the first that matches wins: {} comes before {}", first.origin, second.origin)
        }
        PrecedenceStep::FileOrder => {
            format!("only their Gateways decide: that of {a} comes before that of {b}")
        }
        PrecedenceStep::Disjoint => "no request matches both".to_owned(),
        PrecedenceStep::Method
        | PrecedenceStep::Headers
        | PrecedenceStep::Query
        | PrecedenceStep::Host
        | PrecedenceStep::Table => {
            format!("{} comes before {}", first.origin, second.origin)
        }
    }
}

/// Class of a rule by its rank, independent of its VirtualService.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Redirect,
    Rule,
    CatchAll,
}

fn class(rule: &CompiledRule) -> Class {
    match rule.rank {
        ..0 => Class::Redirect,
        0..CATCH_ALL_RANK => Class::Rule,
        CATCH_ALL_RANK.. => Class::CatchAll,
    }
}

fn seen_by(rule: &CompiledRule) -> &'static str {
    match rule.rank % CATCH_ALL_RANK {
        0 => "private to the namespace",
        1 => "exported to the namespace",
        _ => "exported to all namespaces",
    }
}

fn created(rule: &CompiledRule) -> i64 {
    rule.claim.as_ref().and_then(|claim| claim.created).unwrap_or(i64::MIN)
}

/// Returns the VirtualService, as `namespace/name`.
fn object(rule: &CompiledRule) -> &str {
    rule.claim.as_ref().map_or("", |claim| &claim.object)
}

/// Returns name and namespace of the VirtualService.
fn name(rule: &CompiledRule) -> (&str, &str) {
    let object = object(rule);
    let (namespace, name) = object.split_once('/').unwrap_or(("", object));
    (name, namespace)
}
