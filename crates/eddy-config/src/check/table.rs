//! Checks route tables: each rule becomes a rule of the router and an action.

use std::collections::HashMap;
use std::sync::Arc;

use eddy_route::{Dialect, RouteTable, Rule, SourceLocation};

use super::action::{CheckedAction, check_action};
use super::condition::{ConditionPlaces, check_conditions};
use super::embed::{EmbeddedTableSpec, Embedder};
use super::filter::CheckedFilters;
use super::names::NameRegistry;
use crate::config::Action;
use crate::problem::{ProblemReport, SourceSpan, SourceText};
use crate::read::{Boxed, Either, NamedMap, Spanned};
use crate::spec::{RuleSpec, TableSpec};
use crate::value::{ConfigName, DialectName};

/// Checked tables, the actions of their rules, and the positions of the rules.
#[derive(Debug, Default)]
pub(super) struct CheckedTables {
    pub(super) tables: Vec<RouteTable>,
    pub(super) actions: Vec<Action>,
    /// Positions for each rule of each table.
    pub(super) places: Vec<Vec<RulePlaces>>,
    /// Indexes of the tables of each name.
    pub(super) by_name: Vec<Vec<usize>>,
}

/// Positions of a rule and its parts.
#[derive(Clone, Debug)]
pub(crate) struct RulePlaces {
    pub(crate) rule: SourceSpan,
    pub(crate) conditions: ConditionPlaces,
    pub(crate) rewrite: Option<SourceSpan>,
}

type TableForm = Either<Vec<Spanned<RuleSpec>>, TableSpec>;

/// Checks the route tables and registers their names; the clusters that rules name count as used.
pub(super) fn check_tables(
    specs: Option<Spanned<NamedMap<ConfigName, TableForm>>>,
    embedder: &mut Embedder<'_>,
    names: &mut NameRegistry,
    clusters: &mut NameRegistry,
    filters: &mut CheckedFilters,
    report: &mut ProblemReport,
) -> CheckedTables {
    let mut tables = CheckedTables::default();
    for (entry, number) in specs.into_iter().flat_map(|specs| specs.value.0).zip(0..) {
        names.define(&entry.name);
        tables.by_name.push(Vec::new());
        let Some(Spanned { value: form, place }) = entry.value else { continue };
        let (rules, place) = match form {
            Either::One(rules) => (rules, place),
            Either::Other(TableSpec { dialect, rules: Some(rules), address, .. }) => {
                note_foreign(dialect, address.map(|address| address.place), report);
                (rules.value, rules.place)
            }
            Either::Other(TableSpec { dialect, file: Some(file), address, .. }) => {
                let before = tables.tables.len();
                let (name, address) = (&entry.name.value.0, address.as_ref());
                let wanted = EmbeddedTableSpec { name, dialect, file: &file, address };
                embedder.embed(&wanted, &mut tables, clusters, report);
                let own = (before..tables.tables.len()).collect();
                tables.by_name.pop();
                tables.by_name.push(own);
                continue;
            }
            // The reader has reported that the rules are missing or wrong.
            Either::Other(TableSpec { rules: None, .. }) => continue,
        };
        if rules.is_empty() {
            let message = format!("the route table `{}` has no rules", entry.name.value.0);
            report.warning(place, message).hint("every request to it is answered 404");
        }
        tables.actions.reserve(rules.len());
        let mut checker = TableChecker {
            table: RouteTable {
                rules: Vec::with_capacity(rules.len()),
                ..RouteTable::new(&entry.name.value.0, Dialect::Eddy)
            },
            places: Vec::with_capacity(rules.len()),
            names: HashMap::with_capacity(rules.len()),
            sources: embedder.sources,
            actions: &mut tables.actions,
            clusters,
            filters,
            number,
            report,
        };
        for rule in rules {
            checker.add(rule);
        }
        let TableChecker { table, places, .. } = checker;
        if let Some(own) = tables.by_name.last_mut() {
            own.push(tables.tables.len());
        }
        tables.tables.push(table);
        tables.places.push(places);
    }
    tables
}

/// Reports keys that need a `file`.
fn note_foreign(
    dialect: Option<Spanned<DialectName>>,
    address: Option<SourceSpan>,
    report: &mut ProblemReport,
) {
    if let Some(Spanned { value: DialectName::Nginx, place }) = dialect {
        report
            .error(place, "inline rules are in eddy's own dialect")
            .hint("set `file` to the file of the other program, as in `file: legacy.conf`");
    }
    if let Some(place) = address {
        report.error(place, "`address` needs a `file`").hint("leave it out");
    }
}

/// Checks the rules of one table.
struct TableChecker<'c> {
    table: RouteTable,
    places: Vec<RulePlaces>,
    /// Names of the rules so far.
    names: HashMap<Arc<str>, SourceSpan>,
    sources: &'c [SourceText],
    actions: &'c mut Vec<Action>,
    clusters: &'c mut NameRegistry,
    filters: &'c mut CheckedFilters,
    /// Index of the table's name.
    number: usize,
    report: &'c mut ProblemReport,
}

impl TableChecker<'_> {
    fn add(&mut self, spec: Spanned<RuleSpec>) {
        let Spanned { value: mut spec, place } = spec;
        let name = self.name(spec.name.as_ref());
        let conditions = check_conditions(spec.conditions.take(), self.report);
        let rank = spec.rank.map(|rank| rank.value.0);
        // A rule with an invalid action is added all the same, so that its conditions are checked.
        let filters = spec
            .filters
            .take()
            .map(|Spanned { value: Boxed(filters), place }| Spanned { value: *filters, place });
        let filters = self.filters.check_rule(filters, self.number, self.report);
        let done = check_action(spec, filters, self.clusters, self.report);
        let number = u32::try_from(self.actions.len()).unwrap_or(u32::MAX);
        let (rewrite, rewrite_place) = match done {
            Some(CheckedAction { action, rewrite, rewrite_place }) => {
                self.actions.push(action);
                (rewrite, rewrite_place)
            }
            None => (None, None),
        };
        self.places.push(RulePlaces { rule: place, conditions: conditions.places, rewrite: rewrite_place });
        let file = self.sources.get(place.source as usize).map(|source| source.path.clone());
        self.table.rules.push(Rule {
            name,
            origin: SourceLocation { file: file.unwrap_or_else(|| "".into()), line: place.line },
            hosts: conditions.hosts,
            path: conditions.path,
            methods: conditions.methods,
            headers: conditions.headers,
            query: conditions.query,
            fraction: None,
            rank,
            claim: None,
            action: number,
            rewrite,
        });
    }

    fn name(&mut self, written: Option<&Spanned<ConfigName>>) -> Arc<str> {
        let Some(Spanned { value: ConfigName(name), place }) = written else {
            return format!("{}/{}", self.table.name, self.table.rules.len() + 1).into();
        };
        if let Some(first) = self.names.insert(Arc::clone(name), *place) {
            let message =
                format!("another rule of this table already has the name `{name}`, in line {}", first.line);
            self.report.error(*place, message);
        }
        Arc::clone(name)
    }
}
