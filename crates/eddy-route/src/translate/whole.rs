//! Tables in another dialect, and what of them it can't say.

use std::sync::Arc;

use super::OtherDialect;
use super::rule::translated_rule;
use crate::rule::{PathPattern, RouteTable, Rule, SourceLocation};

/// Rules as they would be in another dialect.
#[derive(Clone, Debug)]
pub struct Translation {
    /// One table with the rules that can be said, in the order in which they are written.
    pub table: RouteTable,
    /// The others, in their order.
    pub unsaid: Vec<Untranslatable>,
}

/// A rule that a dialect can't say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untranslatable {
    /// The rule.
    pub rule: Arc<str>,
    /// Where it is written.
    pub origin: SourceLocation,
    /// What there are no words for.
    pub reason: &'static str,
}

/// The rules of a listener's tables as one table of another dialect.
///
/// What rules do does not matter; the actions stay. A rule keeps its name and place.
pub fn translate<'t>(tables: impl IntoIterator<Item = &'t RouteTable>, other: OtherDialect) -> Translation {
    let mut table = RouteTable::new(other.name(), other.order());
    table.reading = other.reading();
    let mut unsaid = Vec::new();
    let rules = tables.into_iter().flat_map(|table| &table.rules);
    for (index, rule) in rules.enumerate() {
        match translated_rule(rule, index, other) {
            Ok(rule) => table.rules.push(rule),
            Err(reason) => {
                unsaid.push(Untranslatable {
                    rule: Arc::clone(&rule.name),
                    origin: rule.origin.clone(),
                    reason,
                });
            }
        }
    }
    if other == OtherDialect::Istio {
        // It puts what takes every request of a host behind all else.
        table.rules.sort_by_key(is_catch_all);
    }
    Translation { table, unsaid }
}

fn is_catch_all(rule: &Rule) -> bool {
    let takes_all_paths = match &rule.path {
        PathPattern::Any => true,
        PathPattern::Prefix(prefix) | PathPattern::BytePrefix(prefix) => prefix == "/",
        PathPattern::Regex(expression) => expression == ".*",
        PathPattern::Exact(_)
        | PathPattern::Caseless(_)
        | PathPattern::Search(_)
        | PathPattern::Template(_) => false,
    };
    takes_all_paths && rule.methods.is_empty() && rule.headers.is_empty() && rule.query.is_empty()
}
