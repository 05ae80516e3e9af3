//! Rule order of the Gateway API: the most specific match wins, in whatever route it is; then age and name decide.
//!
//! Within a host and a table there are these steps, each deciding only between rules that are equal in the steps
//! before:
//!
//! 1. **path**: exact paths; then prefixes, the longer as written first, so that `/foo/` comes before `/foo`. The API
//!    does not specify the position of regular expressions: [`RegexRank`] does; of two, the longer text comes first.
//! 2. **method**: rules with a method before rules for any method.
//! 3. **headers**: more header matches first.
//! 4. **query**: more query matches first.
//! 5. **age**: the rule of the older object; one without a creation time counts as younger than all others.
//! 6. **name**: the object whose `namespace/name` comes first in text order.
//! 7. **file order**: the first rule in its object.
//!
//! For gRPC the first two steps are the length of the service name and that of the method name.

use std::cmp::Ordering;

use crate::compile::{CompiledRule, PathMatcher};
use crate::order::{PrecedenceStep, eddy};
use crate::rule::{KubernetesPrecedence, RegexRank};

/// Compares two rules of a table; also returns the deciding step.
pub(super) fn compare(rank: RegexRank, a: &CompiledRule, b: &CompiledRule) -> (Ordering, PrecedenceStep) {
    let steps = [
        (PrecedenceStep::Rank, a.rank.cmp(&b.rank)),
        (PrecedenceStep::Path, class(rank, a).cmp(&class(rank, b)).then_with(|| length(b).cmp(&length(a)))),
        (PrecedenceStep::Disjoint, compare_texts(&a.path, &b.path)),
        (
            PrecedenceStep::Method,
            a.methods.is_empty().cmp(&b.methods.is_empty()).then_with(|| method(b).cmp(&method(a))),
        ),
        (PrecedenceStep::Headers, b.headers.len().cmp(&a.headers.len())),
        (PrecedenceStep::Query, b.query.len().cmp(&a.query.len())),
        (PrecedenceStep::Age, created(a).cmp(&created(b))),
        (PrecedenceStep::Name, object(a).cmp(object(b))),
    ];
    let decided = steps.into_iter().find(|(_, order)| order.is_ne());
    decided.map_or_else(|| (a.index.cmp(&b.index), PrecedenceStep::FileOrder), |(step, order)| (order, step))
}

/// Returns why the first rule precedes the second by this step of [`compare`], in readable form.
pub(super) fn reason(
    rank: RegexRank,
    step: PrecedenceStep,
    first: &CompiledRule,
    second: &CompiledRule,
) -> String {
    match step {
        PrecedenceStep::Rank => "rules that end a listener's search come last".to_owned(),
        PrecedenceStep::Path if class(rank, first) != class(rank, second) => {
            format!("{} comes before {}", kind_name(first), kind_name(second))
        }
        PrecedenceStep::Path => {
            format!(
                "{} characters ({}) against {} ({})",
                length(first),
                first.path,
                length(second),
                second.path
            )
        }
        PrecedenceStep::Method if method(first) != method(second) => {
            format!("the method is longer: {} characters against {}", method(first), method(second))
        }
        PrecedenceStep::Method => "a rule for one method comes before one for all methods".to_owned(),
        PrecedenceStep::Headers | PrecedenceStep::Query | PrecedenceStep::Disjoint => {
            eddy::reason(step, first, second)
        }
        PrecedenceStep::Age => {
            let young = if created(second) == i64::MAX { ", which has no creation time" } else { "" };
            format!("only age decides: {} is older than {}{young}", object(first), object(second))
        }
        PrecedenceStep::Name => {
            format!("only the name decides: \"{}\" comes before \"{}\"", object(first), object(second))
        }
        PrecedenceStep::FileOrder
        | PrecedenceStep::Written
        | PrecedenceStep::Host
        | PrecedenceStep::Table => {
            format!(
                "only the order in {} decides: {} comes before {}",
                object(first),
                first.origin,
                second.origin
            )
        }
    }
}

/// Rules for gRPC have no classes; they do not share a host with other rules.
fn class(rank: RegexRank, rule: &CompiledRule) -> (bool, u8) {
    let is_grpc = rule.claim.as_ref().is_some_and(|claim| claim.is_grpc);
    let class = match (&rule.path, rank) {
        _ if is_grpc => 0,
        (PathMatcher::Exact(_), _) => 0,
        (PathMatcher::Regex(_), RegexRank::BeforePrefix) => 1,
        (PathMatcher::Prefix(prefix), RegexRank::BeforeCatchAll) if prefix.is_empty() => 4,
        (PathMatcher::Prefix(_), _) => 2,
        (PathMatcher::Regex(_), RegexRank::Last | RegexRank::BeforeCatchAll) => 3,
        _ => 5,
    };
    (is_grpc, class)
}

fn kind_name(rule: &CompiledRule) -> String {
    match &rule.path {
        PathMatcher::Exact(_) => "an exact path".to_owned(),
        PathMatcher::Prefix(prefix) if prefix.is_empty() => "the prefix /".to_owned(),
        PathMatcher::Prefix(_) => "a prefix".to_owned(),
        PathMatcher::Regex(_) => "a regex".to_owned(),
        PathMatcher::Any
        | PathMatcher::BytePrefix(_)
        | PathMatcher::Caseless(_)
        | PathMatcher::Template(_) => rule.path.to_string(),
    }
}

/// Keeps rules with the same path together; two exact paths, or two prefixes of one length, have no path in common.
fn compare_texts(a: &PathMatcher, b: &PathMatcher) -> Ordering {
    match (a, b) {
        (PathMatcher::Exact(a), PathMatcher::Exact(b)) | (PathMatcher::Prefix(a), PathMatcher::Prefix(b)) => {
            a.cmp(b)
        }
        _ => Ordering::Equal,
    }
}

/// Returns the length as written; between exact paths it does not decide.
fn length(rule: &CompiledRule) -> u32 {
    match (&rule.path, &rule.claim) {
        (_, Some(KubernetesPrecedence { is_grpc: true, path_len, .. })) => *path_len,
        (PathMatcher::Exact(_), _) | (_, None) => 0,
        (_, Some(claim)) => claim.path_len,
    }
}

fn method(rule: &CompiledRule) -> u32 {
    rule.claim.as_ref().map_or(0, |claim| claim.method_len)
}

fn created(rule: &CompiledRule) -> i64 {
    rule.claim.as_ref().and_then(|claim| claim.created).unwrap_or(i64::MAX)
}

fn object(rule: &CompiledRule) -> &str {
    rule.claim.as_ref().map_or("", |claim| &claim.object)
}
