//! Checks route tables: each rule becomes a rule of the router and an action.

use std::collections::HashMap;

use eddy_ids::Shared;
use eddy_route::{Dialect, RouteTable, Rule, SourceLocation};

use super::action::{CheckedAction, check_action};
use super::condition::{ConditionPlaces, check_conditions};
use super::filter::CheckedFilters;
use super::names::NameRegistry;
use crate::config::Action;
use crate::problem::{ProblemReport, SourceSpan, SourceText};
use crate::read::{Boxed, Spanned};
use crate::spec::RuleSpec;
use crate::value::ConfigName;

/// Checked tables, the actions of their rules, and the positions of the rules.
#[derive(Debug, Default)]
pub(crate) struct CheckedTables {
    pub(crate) tables: Vec<RouteTable>,
    pub(crate) actions: Vec<Action>,
    /// Positions for each rule of each table.
    pub(crate) places: Vec<Vec<RulePlaces>>,
    /// Indexes of the tables of each name.
    pub(crate) by_name: Vec<Vec<usize>>,
}

/// Positions of a rule and its parts.
#[derive(Clone, Debug)]
pub(crate) struct RulePlaces {
    pub(crate) rule: SourceSpan,
    pub(crate) conditions: ConditionPlaces,
    pub(crate) rewrite: Option<SourceSpan>,
}

impl CheckedTables {
    /// Checks the rules of a table and adds them; `number` is the index of the table's name. The clusters that the rules
    /// name count as used.
    pub(crate) fn add_rules(
        &mut self,
        name: &Shared<str>,
        rules: Spanned<Vec<Spanned<RuleSpec>>>,
        number: usize,
        names: TableNames<'_>,
        report: &mut ProblemReport,
    ) {
        let Spanned { value: rules, place } = rules;
        if rules.is_empty() {
            let message = format!("the route table `{name}` has no rules");
            report.warning(place, message).hint("every request to it is answered 404");
        }
        self.actions.reserve(rules.len());
        let mut checker = TableChecker {
            table: RouteTable {
                rules: Vec::with_capacity(rules.len()),
                ..RouteTable::new(name, Dialect::Eddy)
            },
            places: Vec::with_capacity(rules.len()),
            names: HashMap::with_capacity(rules.len()),
            sources: names.sources,
            actions: &mut self.actions,
            clusters: names.clusters,
            filters: names.filters,
            number,
            report,
        };
        for rule in rules {
            checker.add(rule);
        }
        let TableChecker { table, places, .. } = checker;
        if let Some(own) = self.by_name.last_mut() {
            own.push(self.tables.len());
        }
        self.tables.push(table);
        self.places.push(places);
    }
}

/// Clusters and filters that rules name, and the sources that they are written in.
pub(crate) struct TableNames<'c> {
    pub(crate) sources: &'c [SourceText],
    pub(crate) clusters: &'c mut NameRegistry,
    pub(crate) filters: &'c mut CheckedFilters,
}

/// Checks the rules of one table.
struct TableChecker<'c> {
    table: RouteTable,
    places: Vec<RulePlaces>,
    /// Names of the rules so far.
    names: HashMap<Shared<str>, SourceSpan>,
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

    fn name(&mut self, written: Option<&Spanned<ConfigName>>) -> Shared<str> {
        let Some(Spanned { value: ConfigName(name), place }) = written else {
            return format!("{}/{}", self.table.name, self.table.rules.len() + 1).into();
        };
        if let Some(first) = self.names.insert(Shared::clone(name), *place) {
            let message =
                format!("another rule of this table already has the name `{name}`, in line {}", first.line);
            self.report.error(*place, message);
        }
        Shared::clone(name)
    }
}
