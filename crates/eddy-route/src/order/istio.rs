//! The order of Istio: VirtualServices of a host are joined, and then the match written first wins.
//!
//! Within a host and a table, the steps are, each deciding only between rules that are alike in those before:
//!
//! 1. **rank**: redirects of a whole server, then rules, then those for every request of the host ([`CATCH_ALL_RANK`]).
//! 2. The **Gateway** that comes first.
//! 3. **rank** again: VirtualServices that are private to the namespace, those exported to it, those for all.
//! 4. **age**: the older VirtualService; one without a time of creation is older than all that have one.
//! 5. **name**: the VirtualService that comes first by name, then by namespace.
//! 6. **written**: the match written first.
//!
//! Whoever makes the table puts its rules in this order, since what it joins is no longer to be seen in them; here the step is
//! found that decided.

use std::cmp::Ordering;

use crate::compile::CompiledRule;
use crate::order::PrecedenceStep;

/// The rank from which on rules of Istio's tables are for every request of their hosts.
pub const CATCH_ALL_RANK: i32 = 10;

/// Compares two rules of a table; the step tells what decided.
pub(super) fn compare(a: &CompiledRule, b: &CompiledRule) -> (Ordering, PrecedenceStep) {
    let order = a.index.cmp(&b.index);
    let step = if order.is_le() { step(a, b) } else { step(b, a) };
    (order, step)
}

/// The step by which the first of two rules comes before the second.
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
        // What decided stands before these: the Gateway.
        Some(_) | None => PrecedenceStep::FileOrder,
    }
}

/// Why the first rule comes before the second by this step of [`compare`], for people.
pub(super) fn reason(step: PrecedenceStep, first: &CompiledRule, second: &CompiledRule) -> String {
    let (a, b) = (object(first), object(second));
    match step {
        PrecedenceStep::Path if class(second) == Class::CatchAll => {
            "a match for every request of the host comes last".to_owned()
        }
        PrecedenceStep::Path => "the redirect of a whole server comes first".to_owned(),
        PrecedenceStep::Rank => {
            format!("by `exportTo` {a} is {}, {b} {}", seen_by(first), seen_by(second))
        }
        PrecedenceStep::Age => {
            let old = if created(first) == i64::MIN { ", which has no time of creation," } else { "" };
            format!("only age decides: {a}{old} is older than {b}")
        }
        PrecedenceStep::Name => format!("only the name decides: \"{a}\" comes before \"{b}\""),
        PrecedenceStep::Written => {
            format!("the first that matches wins: {} comes before {}", first.origin, second.origin)
        }
        PrecedenceStep::FileOrder => {
            format!("only their Gateways decide: that of {a} comes before that of {b}")
        }
        PrecedenceStep::Apart => "no request is for both".to_owned(),
        PrecedenceStep::Method
        | PrecedenceStep::Headers
        | PrecedenceStep::Query
        | PrecedenceStep::Host
        | PrecedenceStep::Table => {
            format!("{} comes before {}", first.origin, second.origin)
        }
    }
}

/// Where the rank of a rule puts it, whatever VirtualService it is of.
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
        1 => "exported to it",
        _ => "for all",
    }
}

fn created(rule: &CompiledRule) -> i64 {
    rule.claim.as_ref().and_then(|claim| claim.created).unwrap_or(i64::MIN)
}

/// The VirtualService, as `namespace/name`.
fn object(rule: &CompiledRule) -> &str {
    rule.claim.as_ref().map_or("", |claim| &claim.object)
}

/// Its name before its namespace.
fn name(rule: &CompiledRule) -> (&str, &str) {
    let object = object(rule);
    let (namespace, name) = object.split_once('/').unwrap_or(("", object));
    (name, namespace)
}
