//! Rule order of eddy's dialect: of all matching rules the most specific wins, wherever it is in the file.
//!
//! Within a host and a table there are these steps, each deciding only between rules that are equal in the steps
//! before:
//!
//! 1. **rank**: the lower rank comes first; 0 if not given.
//! 2. **path**: exact paths; then prefixes and templates, longer ones first. The length of a template is that of the
//!    text before its first capture (a final `/` of either does not count). Of the same length, templates come before
//!    prefixes, because they are more specific; of templates, those without `{rest...}` come first, then those with
//!    more fixed bytes. Then regular expressions, which have no length; last, rules for any path.
//! 3. **method**: rules with methods before rules for any method.
//! 4. **headers**: more header matches first.
//! 5. **query**: more query matches first.
//! 6. **file order**: the first rule in the file.

use std::cmp::Ordering;

use crate::compile::{Caseless, CompiledPathTemplate, CompiledRule, PathExtent, PathMatcher};
use crate::order::PrecedenceStep;

/// Compares two rules of a table; also returns the deciding step.
pub(super) fn compare(a: &CompiledRule, b: &CompiledRule) -> (Ordering, PrecedenceStep) {
    let steps = [
        (PrecedenceStep::Rank, a.rank.cmp(&b.rank)),
        (PrecedenceStep::Path, compare_paths(&a.path, &b.path)),
        (PrecedenceStep::Disjoint, compare_texts(&a.path, &b.path)),
        (PrecedenceStep::Method, a.methods.is_empty().cmp(&b.methods.is_empty())),
        (PrecedenceStep::Headers, b.headers.len().cmp(&a.headers.len())),
        (PrecedenceStep::Query, b.query.len().cmp(&a.query.len())),
    ];
    let decided = steps.into_iter().find(|(_, order)| order.is_ne());
    decided.map_or_else(|| (a.index.cmp(&b.index), PrecedenceStep::FileOrder), |(step, order)| (order, step))
}

/// Returns why the first rule precedes the second by this step of [`compare`], in readable form.
pub(super) fn reason(step: PrecedenceStep, first: &CompiledRule, second: &CompiledRule) -> String {
    match step {
        PrecedenceStep::Rank => format!("rank {} comes before rank {}", first.rank, second.rank),
        PrecedenceStep::Path => path_reason(&first.path, &second.path),
        PrecedenceStep::Method => "a rule for some methods comes before one for all methods".to_owned(),
        PrecedenceStep::Headers => {
            format!("more header matches: {} against {}", first.headers.len(), second.headers.len())
        }
        PrecedenceStep::Query => {
            format!("more query matches: {} against {}", first.query.len(), second.query.len())
        }
        PrecedenceStep::Disjoint => "no request matches both".to_owned(),
        PrecedenceStep::Age
        | PrecedenceStep::Name
        | PrecedenceStep::FileOrder
        | PrecedenceStep::Host
        | PrecedenceStep::Table
        | PrecedenceStep::Written => {
            format!("only the file order decides: {} comes before {}", first.origin, second.origin)
        }
    }
}

fn compare_paths(a: &PathMatcher, b: &PathMatcher) -> Ordering {
    class(a).cmp(&class(b)).then_with(|| length(b).cmp(&length(a))).then_with(|| match (a, b) {
        (PathMatcher::Template(a), PathMatcher::Template(b)) => compare_templates(a, b),
        _ => kind(a).cmp(&kind(b)),
    })
}

fn compare_templates(a: &CompiledPathTemplate, b: &CompiledPathTemplate) -> Ordering {
    a.rest.is_some().cmp(&b.rest.is_some()).then_with(|| b.fixed_len.cmp(&a.fixed_len))
}

/// Keeps rules with the same path together; two exact paths, or two prefixes of one length, have no path in common.
fn compare_texts(a: &PathMatcher, b: &PathMatcher) -> Ordering {
    match (a, b) {
        (PathMatcher::Exact(a), PathMatcher::Exact(b))
        | (PathMatcher::Prefix(a), PathMatcher::Prefix(b))
        | (PathMatcher::BytePrefix(a), PathMatcher::BytePrefix(b)) => a.cmp(b),
        (PathMatcher::Caseless(a), PathMatcher::Caseless(b)) if a.reach == b.reach => a.text.cmp(&b.text),
        _ => Ordering::Equal,
    }
}

/// Order of the path kinds with the same length: the more specific first.
fn kind(path: &PathMatcher) -> u8 {
    match path {
        PathMatcher::Template(_) => 0,
        PathMatcher::BytePrefix(_) => 2,
        PathMatcher::Caseless(caseless) => match caseless.reach {
            PathExtent::Exact => 2,
            PathExtent::Prefix => 3,
            PathExtent::Below => 4,
        },
        PathMatcher::Any | PathMatcher::Exact(_) | PathMatcher::Prefix(_) | PathMatcher::Regex(_) => 1,
    }
}

fn class(path: &PathMatcher) -> u8 {
    match path {
        PathMatcher::Exact(_) | PathMatcher::Caseless(Caseless { reach: PathExtent::Exact, .. }) => 0,
        PathMatcher::Caseless(_) => 1,
        PathMatcher::Prefix(_) | PathMatcher::BytePrefix(_) | PathMatcher::Template(_) => 1,
        PathMatcher::Regex(_) => 2,
        PathMatcher::Any => 3,
    }
}

/// Returns the length by which a prefix or template is ordered; the other classes have none.
fn length(path: &PathMatcher) -> usize {
    match path {
        PathMatcher::Prefix(prefix) | PathMatcher::BytePrefix(prefix) => prefix.len(),
        PathMatcher::Caseless(caseless) if caseless.reach != PathExtent::Exact => caseless.text.len(),
        PathMatcher::Template(template) => template.prefix_len,
        PathMatcher::Exact(_) | PathMatcher::Caseless(_) | PathMatcher::Regex(_) | PathMatcher::Any => 0,
    }
}

fn path_reason(first: &PathMatcher, second: &PathMatcher) -> String {
    if class(first) != class(second) {
        return format!("{} comes before {}", class_name(first), class_name(second));
    }
    if length(first) != length(second) {
        return format!("{first} ({} bytes) is longer than {second} ({})", length(first), length(second));
    }
    match (first, second) {
        (PathMatcher::Template(a), PathMatcher::Template(b)) if a.rest.is_some() == b.rest.is_some() => {
            format!("{first} fixes more bytes ({}) than {second} ({})", a.fixed_len, b.fixed_len)
        }
        (PathMatcher::Template(_), PathMatcher::Template(_)) => {
            format!("{first} has a fixed number of segments, {second} matches the rest of the path")
        }
        _ => format!("{first} is more specific than {second} of the same length"),
    }
}

fn class_name(path: &PathMatcher) -> &'static str {
    match path {
        PathMatcher::Exact(_) | PathMatcher::Caseless(Caseless { reach: PathExtent::Exact, .. }) => {
            "an exact path"
        }
        PathMatcher::Caseless(_) => "a prefix",
        PathMatcher::Prefix(_) | PathMatcher::BytePrefix(_) => "a prefix",
        PathMatcher::Template(_) => "a template",
        PathMatcher::Regex(_) => "a regex",
        PathMatcher::Any => "any path",
    }
}
