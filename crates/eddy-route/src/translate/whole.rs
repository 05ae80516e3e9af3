//! Translation of tables to another dialect, with the rules that cannot be translated.

use eddy_ids::Shared;

use super::OtherDialect;
use super::rule::translated_rule;
use crate::rule::{PathPattern, RouteTable, Rule, SourceLocation};

/// Translated rules.
#[derive(Clone, Debug)]
pub struct Translation {
    /// One table with the translatable rules, in the order in which they are written.
    pub table: RouteTable,
    /// Rules that cannot be translated, in order.
    pub unsaid: Vec<Untranslatable>,
}

/// A rule that cannot be translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untranslatable {
    /// Rule.
    pub rule: Shared<str>,
    /// Location of the rule in the configuration.
    pub origin: SourceLocation,
    /// Unsupported feature.
    pub reason: &'static str,
}

/// Translates the rules of a listener's tables to one table of another dialect.
///
/// Actions are not translated but kept. A rule keeps its name and location.
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
                    rule: Shared::clone(&rule.name),
                    origin: rule.origin.clone(),
                    reason,
                });
            }
        }
    }
    if other == OtherDialect::Istio {
        // Istio puts rules for every request of a host after all others.
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
