//! Total order of the rules of all tables, with one entry for each host of each rule.
//!
//! **Order.** Of all entries that match a request, the first wins. Entries are ordered by host, the most specific first
//! across all tables (an exact host, then longer suffixes, then any); then by table, in the order in which the listener
//! names them; then by the dialect of the table.
//!
//! Consequently a rule for a less specific host, or for any host, still gets the requests that no rule of a more
//! specific host matches: a `/healthz` without a host is served on every host. To close a host, give it a rule for any
//! path.
//!
//! **Closed tables** differ: in such a table only the rules of the most specific matching host count. A table may also
//! name hosts at which its search ends. Other tables are searched independently.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;

use crate::compile::{CompiledRule, HostKey};
use crate::order::{PrecedenceStep, dialect};
use crate::request::RouteRequest;
use crate::rule::{Dialect, HostForm, PathForm, RouteTable, TableMatchOptions};

/// One host of one rule; its position among the entries is its rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RouteEntry {
    /// Host, as an index into [`RouteEntries::scopes`].
    pub(crate) scope: u32,
    /// Rule, by its index.
    pub(crate) rule: u32,
}

/// All entries in order.
#[derive(Debug)]
pub(crate) struct RouteEntries {
    /// Entries by rank.
    pub(crate) list: Vec<RouteEntry>,
    /// Distinct hosts, most specific first.
    pub(crate) scopes: Vec<HostEntries>,
    /// Name and dialect of each table.
    pub(crate) tables: Vec<(String, Dialect)>,
}

/// A host and its entries: from one closed table, or from adjacent open tables with the same match options.
#[derive(Debug)]
pub(crate) struct HostEntries {
    pub(crate) host: HostKey,
    pub(crate) ground: ScopeOptions,
    /// Whether the search in its table ends here.
    pub(crate) is_end: bool,
    /// Ranks of its entries.
    pub(crate) ranks: Range<u32>,
}

/// Common properties of the tables whose entries for a host are kept together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ScopeOptions {
    /// First of the tables.
    table: u32,
    pub(crate) form: HostForm,
    /// Whether paths are compared without parameters.
    pub(crate) strips_parameters: bool,
    /// Whether it consists of one table, in which a search may end before the least specific host.
    has_single_table: bool,
}

impl HostEntries {
    /// Returns the table whose search may end before its least specific host, if this is such a table.
    pub(crate) fn closing_table(&self) -> Option<u32> {
        self.ground.has_single_table.then_some(self.ground.table)
    }
}

impl RouteEntries {
    /// Puts compiled rules, given in table and file order, into the total order.
    pub(crate) fn build(rules: &[CompiledRule], tables: &[&RouteTable]) -> Self {
        let mut order: Vec<&CompiledRule> = rules.iter().collect();
        // Invariant: tables are compared before dialects, so a dialect only compares rules of its own.
        order.sort_by(|a, b| {
            let dialect = |table: u32| tables[table as usize].dialect;
            a.table.cmp(&b.table).then_with(|| dialect::compare(dialect(a.table), a, b).0)
        });
        let grounds = grounds(tables);
        let ends = ends(tables);
        let mut by_host: HashMap<(&HostKey, ScopeOptions), Vec<u32>> = HashMap::new();
        for rule in order {
            for host in &rule.hosts {
                by_host.entry((host, grounds[rule.table as usize])).or_default().push(rule.index);
            }
        }
        for (table, host) in &ends {
            by_host.entry((host, grounds[*table])).or_default();
        }
        let mut hosts: Vec<_> = by_host.into_iter().collect();
        // Equally specific hosts are ordered by table, and by text if they have no host in common.
        hosts.sort_by(|((a, first), _), ((b, second), _)| {
            a.compare(b).then(first.table.cmp(&second.table)).then_with(|| a.text().cmp(b.text()))
        });
        let mut list = Vec::with_capacity(hosts.iter().map(|(_, rules)| rules.len()).sum());
        let mut scopes = Vec::with_capacity(hosts.len());
        for (scope, ((host, ground), rules)) in (0..).zip(hosts) {
            let start = rank_of_len(list.len());
            list.extend(rules.into_iter().map(|rule| RouteEntry { scope, rule }));
            let is_end = tables[ground.table as usize].reading.is_closed
                || ends.iter().any(|(table, end)| grounds[*table] == ground && end == host);
            scopes.push(HostEntries {
                host: host.clone(),
                ground,
                is_end,
                ranks: start..rank_of_len(list.len()),
            });
        }
        let tables = tables.iter().map(|table| (table.name.to_string(), table.dialect)).collect();
        Self { list, scopes, tables }
    }

    /// Returns the step by which an entry precedes a later one.
    pub(crate) fn step(
        &self,
        rules: &[CompiledRule],
        first: RouteEntry,
        second: RouteEntry,
    ) -> PrecedenceStep {
        if first.scope != second.scope {
            let (a, b) = (self.scope(first), self.scope(second));
            let is_ended = a.is_end && a.ground == b.ground;
            return match (a.host == b.host, is_ended || are_disjoint(&a.host, &b.host)) {
                (true, _) => PrecedenceStep::Table,
                (false, true) => PrecedenceStep::Disjoint,
                (false, false) => PrecedenceStep::Host,
            };
        }
        let (a, b) = (&rules[first.rule as usize], &rules[second.rule as usize]);
        if a.table != b.table {
            return PrecedenceStep::Table;
        }
        let (order, step) = dialect::compare(self.tables[a.table as usize].1, a, b);
        debug_assert_eq!(order, Ordering::Less, "entries are in order");
        step
    }

    /// Returns the step by which an entry precedes a later one, and the reason in readable form.
    pub(crate) fn reason(
        &self,
        rules: &[CompiledRule],
        first: RouteEntry,
        second: RouteEntry,
    ) -> (PrecedenceStep, String) {
        let step = self.step(rules, first, second);
        let (a, b) = (&rules[first.rule as usize], &rules[second.rule as usize]);
        let reason = match step {
            PrecedenceStep::Host => {
                format!("host {} is more specific than {}", self.scope(first).host, self.scope(second).host)
            }
            PrecedenceStep::Table => format!(
                "table \"{}\" comes before table \"{}\"",
                self.tables[a.table as usize].0, self.tables[b.table as usize].0
            ),
            PrecedenceStep::Rank
            | PrecedenceStep::Path
            | PrecedenceStep::Method
            | PrecedenceStep::Headers
            | PrecedenceStep::Query
            | PrecedenceStep::Age
            | PrecedenceStep::Name
            | PrecedenceStep::FileOrder
            | PrecedenceStep::Written
            | PrecedenceStep::Disjoint => dialect::reason(self.tables[a.table as usize].1, step, a, b),
        };
        (step, reason)
    }

    /// Returns the scopes in which a request is looked up, in order: all that match its host, per table up to an end.
    pub(crate) fn serving(&self, request: &RouteRequest<'_>, folded: &mut Vec<u8>) -> Vec<u32> {
        let mut serving: Vec<u32> = Vec::new();
        for (number, scope) in (0..).zip(&self.scopes) {
            let is_closed_off = serving.iter().any(|other| {
                let other = &self.scopes[*other as usize];
                other.is_end && other.closing_table() == scope.closing_table()
            });
            if !is_closed_off && scope.host.matches(scope.ground.form.fold(request, folded)) {
                serving.push(number);
            }
        }
        serving
    }

    pub(crate) fn scope(&self, entry: RouteEntry) -> &HostEntries {
        &self.scopes[entry.scope as usize]
    }

    pub(crate) fn table_name(&self, rule: &CompiledRule) -> &str {
        &self.tables[rule.table as usize].0
    }
}

/// Whether two different patterns have no host in common.
fn are_disjoint(a: &HostKey, b: &HostKey) -> bool {
    match (a, b) {
        (HostKey::Any, _) | (_, HostKey::Any) => false,
        (HostKey::Exact(a), b) => !b.matches(a.as_bytes()),
        (a, HostKey::Exact(b)) => !a.matches(b.as_bytes()),
        (HostKey::Prefix(a), HostKey::Prefix(b)) => !a.starts_with(b.as_ref()) && !b.starts_with(a.as_ref()),
        (HostKey::Prefix(_), _) | (_, HostKey::Prefix(_)) => false,
        (HostKey::Suffix(a) | HostKey::OneLabel(a), HostKey::Suffix(b) | HostKey::OneLabel(b)) => {
            !a.ends_with(b.as_ref()) && !b.ends_with(a.as_ref())
        }
    }
}

/// Returns the hosts at which searches end, each with its table. Invalid hosts were rejected with the rules.
fn ends(tables: &[&RouteTable]) -> Vec<(usize, HostKey)> {
    let ends = tables.iter().enumerate().flat_map(|(number, table)| {
        let key = |end| HostKey::check(end, table.reading.host).ok();
        table.ends.iter().filter_map(key).map(move |key| (number, key))
    });
    ends.collect()
}

/// Returns the scope options of each table.
fn grounds(tables: &[&RouteTable]) -> Vec<ScopeOptions> {
    let mut grounds: Vec<ScopeOptions> = Vec::with_capacity(tables.len());
    for (number, table) in (0..).zip(tables) {
        let TableMatchOptions { host: form, is_closed, path, query: _ } = table.reading;
        let strips_parameters = path == PathForm::WithoutParameters;
        let has_single_table = is_closed || !table.ends.is_empty();
        let own = ScopeOptions { table: number, form, strips_parameters, has_single_table };
        let shared = grounds.last().filter(|before| **before == ScopeOptions { table: before.table, ..own });
        let shared = shared.filter(|_| !has_single_table);
        grounds.push(shared.copied().unwrap_or(own));
    }
    grounds
}

/// Converts to a rank; the router rejects tables with more entries than ranks.
fn rank_of_len(len: usize) -> u32 {
    u32::try_from(len).expect("the router refuses tables with more entries than ranks")
}
