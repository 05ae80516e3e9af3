//! The rules of all tables in their total order, an entry for each host of each rule.
//!
//! **The order.** Of all entries that match a request, the first wins. Entries are ordered by host, the most specific
//! first across all tables (an exact host, then longer suffixes, then any); then by table, in the order the listener
//! names them; then by the table's own dialect.
//!
//! So a rule for a less specific host, or for any, still serves what no rule of a more specific host matches: a
//! `/healthz` written without a host answers on every host. To close a host, give it a rule for any path.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;

use crate::compile::{CompiledRule, HostKey};
use crate::order::{Step, eddy};
use crate::rule::{Dialect, RouteTable};

/// One host of one rule; its place among the entries is its rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The host, by place in [`Entries::scopes`].
    pub(crate) scope: u32,
    /// The rule, by its index.
    pub(crate) rule: u32,
}

/// All entries in order.
#[derive(Debug)]
pub(crate) struct Entries {
    /// The entries by rank.
    pub(crate) list: Vec<Entry>,
    /// The distinct hosts, most specific first.
    pub(crate) scopes: Vec<Scope>,
    /// Name and dialect of each table.
    pub(crate) tables: Vec<(String, Dialect)>,
}

/// A host and the entries for it.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) host: HostKey,
    /// The ranks of its entries.
    pub(crate) ranks: Range<u32>,
}

impl Entries {
    /// Puts compiled rules, given in table and file order, into the total order.
    pub(crate) fn build(rules: &[CompiledRule], tables: &[RouteTable]) -> Self {
        let mut order: Vec<&CompiledRule> = rules.iter().collect();
        // Invariant: tables are compared before dialects, so only rules of one dialect meet in its comparison.
        order.sort_by(|a, b| {
            a.table.cmp(&b.table).then_with(|| match dialect_of(tables, a.table) {
                Dialect::Eddy => eddy::compare(a, b).0,
            })
        });
        let mut by_host: HashMap<&HostKey, Vec<u32>> = HashMap::new();
        for rule in order {
            for host in &rule.hosts {
                by_host.entry(host).or_default().push(rule.index);
            }
        }
        let mut hosts: Vec<_> = by_host.into_iter().collect();
        hosts.sort_by(|a, b| a.0.compare(b.0));
        let mut list = Vec::with_capacity(hosts.iter().map(|(_, rules)| rules.len()).sum());
        let mut scopes = Vec::with_capacity(hosts.len());
        for (scope, (host, rules)) in (0..).zip(hosts) {
            let start = rank_of_len(list.len());
            list.extend(rules.into_iter().map(|rule| Entry { scope, rule }));
            scopes.push(Scope { host: host.clone(), ranks: start..rank_of_len(list.len()) });
        }
        let tables = tables.iter().map(|table| (table.name.to_string(), table.dialect)).collect();
        Self { list, scopes, tables }
    }

    /// The step in which an entry comes before a later one.
    pub(crate) fn step(&self, rules: &[CompiledRule], first: Entry, second: Entry) -> Step {
        if first.scope != second.scope {
            let (a, b) = (&self.scope(first).host, &self.scope(second).host);
            return if are_apart(a, b) { Step::Apart } else { Step::Host };
        }
        let (a, b) = (&rules[first.rule as usize], &rules[second.rule as usize]);
        if a.table != b.table {
            return Step::Table;
        }
        let (order, step) = match self.tables[a.table as usize].1 {
            Dialect::Eddy => eddy::compare(a, b),
        };
        debug_assert_eq!(order, Ordering::Less, "entries are in order");
        step
    }

    /// The step in which an entry comes before a later one, and why, for people.
    pub(crate) fn reason(&self, rules: &[CompiledRule], first: Entry, second: Entry) -> (Step, String) {
        let step = self.step(rules, first, second);
        let (a, b) = (&rules[first.rule as usize], &rules[second.rule as usize]);
        let reason = match step {
            Step::Host => {
                format!("host {} is more specific than {}", self.scope(first).host, self.scope(second).host)
            }
            Step::Table => format!(
                "table \"{}\" comes before table \"{}\"",
                self.tables[a.table as usize].0, self.tables[b.table as usize].0
            ),
            Step::Rank
            | Step::Path
            | Step::Method
            | Step::Headers
            | Step::Query
            | Step::FileOrder
            | Step::Apart => match self.tables[a.table as usize].1 {
                Dialect::Eddy => eddy::reason(step, a, b),
            },
        };
        (step, reason)
    }

    pub(crate) fn scope(&self, entry: Entry) -> &Scope {
        &self.scopes[entry.scope as usize]
    }

    pub(crate) fn table_name(&self, rule: &CompiledRule) -> &str {
        &self.tables[rule.table as usize].0
    }
}

/// Whether no host is in both of two different patterns.
fn are_apart(a: &HostKey, b: &HostKey) -> bool {
    match (a, b) {
        (HostKey::Any, _) | (_, HostKey::Any) => false,
        (HostKey::Exact(a), b) => !b.matches(a.as_bytes()),
        (a, HostKey::Exact(b)) => !a.matches(b.as_bytes()),
        (HostKey::Suffix(a), HostKey::Suffix(b)) => !a.ends_with(b.as_ref()) && !b.ends_with(a.as_ref()),
    }
}

fn dialect_of(tables: &[RouteTable], table: u32) -> Dialect {
    tables[table as usize].dialect
}

/// A rank; the router refuses tables with more entries than ranks.
fn rank_of_len(len: usize) -> u32 {
    u32::try_from(len).expect("the router refuses tables with more entries than ranks")
}
