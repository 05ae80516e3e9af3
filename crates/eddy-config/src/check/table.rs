//! Checks route tables: each rule becomes a rule of the router and an action.

use std::collections::HashMap;

use eddy_ids::{ActionId, BySlot, Shared, SlotsDraft, TableId};
use eddy_route::{Dialect, Rule};

use super::action::{CheckedAction, check_action};
use super::condition::{ConditionPlaces, check_conditions};
use super::draft::Draft;
use super::names::NameRegistry;
use crate::config::{Action, ActionKind, TableSlots};
use crate::problem::{ProblemReport, SourceSpan};
use crate::read::{Boxed, Spanned};
use crate::spec::RuleSpec;
use crate::table::TableConfig;
use crate::value::ConfigName;

/// Tables under construction.
#[derive(Debug)]
pub(crate) struct TablesDraft<'l> {
    slots: SlotsDraft<'l, TableId, Shared<str>, TableConfig>,
    places: TablePlaces,
    /// Names of the tables of eddy's own configuration.
    pub(crate) names: NameRegistry<TableId>,
}

/// Positions of the rules of each table.
pub(crate) type TablePlaces = BySlot<TableId, Vec<RulePlaces>>;

impl<'l> TablesDraft<'l> {
    /// Creates a draft without tables; those with a name of the last configuration get the same identifier.
    pub(crate) fn new(last: &'l TableSlots) -> Self {
        let names = NameRegistry::new("route table");
        Self { slots: last.draft(), places: BySlot::default(), names }
    }

    /// Declares a table of eddy's own configuration, which [`Self::add`] follows.
    pub(crate) fn declare(&mut self, name: &Spanned<ConfigName>) -> TableId {
        let id = self.slots.reserve(Shared::clone(&name.value.0));
        self.names.define(name, id);
        id
    }

    /// Adds a table under its name, with a number behind it if another table has the name.
    pub(crate) fn add(&mut self, table: TableDraft) -> TableId {
        let TableDraft { config, places } = table;
        let own_name = Shared::clone(&config.routes.name);
        let is_taken =
            |name: &Shared<str>| self.slots.id_of(name).is_some_and(|id| self.slots.get(id).is_some());
        let numbered = (2..).map(|number| Shared::from(format!("{own_name}#{number}")));
        let name = std::iter::once(Shared::clone(&own_name)).chain(numbered).find(|name| !is_taken(name));
        let name = name.expect("there are more numbers than tables");
        let id = self.slots.define(name, config).expect("the name is not taken");
        self.places.insert(id, places);
        id
    }

    /// Returns the tables so far, with the positions of their rules.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&TableConfig, &[RulePlaces])> {
        self.slots.iter().filter_map(|(id, table)| Some((table, self.places.get(id)?.as_slice())))
    }

    /// Returns the tables, the positions of their rules, and the names of those of eddy's own configuration.
    pub(crate) fn finish(self) -> (TableSlots, TablePlaces, NameRegistry<TableId>) {
        (self.slots.finish(), self.places, self.names)
    }
}

/// A table under construction.
#[derive(Debug)]
pub(crate) struct TableDraft {
    /// Rules so far, and their actions.
    pub(crate) config: TableConfig,
    /// Positions of each rule.
    pub(crate) places: Vec<RulePlaces>,
}

impl TableDraft {
    /// Creates a table without rules.
    pub(crate) fn new(name: &str, dialect: Dialect) -> Self {
        Self { config: TableConfig::new(name, dialect), places: Vec::new() }
    }

    /// Adds an action, for rules of this table.
    pub(crate) fn action(&mut self, action: Action) -> ActionId {
        self.config.add(action)
    }

    /// Adds a rule and its positions.
    pub(crate) fn push(&mut self, rule: Rule, places: RulePlaces) {
        self.config.routes.rules.push(rule);
        self.places.push(places);
    }
}

/// Positions of a rule and its parts.
#[derive(Clone, Debug)]
pub(crate) struct RulePlaces {
    pub(crate) rule: SourceSpan,
    pub(crate) conditions: ConditionPlaces,
    pub(crate) rewrite: Option<SourceSpan>,
}

impl RulePlaces {
    /// Returns the positions of a rule whose parts have none of their own.
    pub(crate) fn of(rule: SourceSpan) -> Self {
        Self { rule, conditions: ConditionPlaces::default(), rewrite: None }
    }
}

/// Checks the rules of a table. The clusters that they name count as used.
pub(crate) fn check_rules(
    (id, name): (TableId, &Shared<str>),
    rules: Spanned<Vec<Spanned<RuleSpec>>>,
    draft: &mut Draft<'_>,
    report: &mut ProblemReport,
) -> TableDraft {
    let Spanned { value: rules, place } = rules;
    if rules.is_empty() {
        let message = format!("the route table `{name}` has no rules");
        report.warning(place, message).hint("every request to it is answered 404");
    }
    let mut checker = TableChecker {
        id,
        table: TableDraft::new(name, Dialect::Eddy),
        names: HashMap::with_capacity(rules.len()),
        draft,
        report,
    };
    for rule in rules {
        checker.add(rule);
    }
    checker.table
}

/// Checks the rules of one table.
struct TableChecker<'c, 's> {
    id: TableId,
    table: TableDraft,
    /// Names of the rules so far.
    names: HashMap<Shared<str>, SourceSpan>,
    draft: &'c mut Draft<'s>,
    report: &'c mut ProblemReport,
}

impl TableChecker<'_, '_> {
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
        let filters = self.draft.filters.check_rule(filters, self.id, self.report);
        let done = check_action(spec, filters, &mut self.draft.clusters, self.report);
        let (action, rewrite, rewrite_place) = match done {
            Some(CheckedAction { action, rewrite, rewrite_place }) => {
                (self.table.action(action), rewrite, rewrite_place)
            }
            // A placeholder: after an error the configuration is not used.
            None => (self.table.action(Action::new(ActionKind::Weighted(Vec::new()))), None, None),
        };
        let places = RulePlaces { rule: place, conditions: conditions.places, rewrite: rewrite_place };
        let rule = Rule {
            name,
            origin: self.draft.origin(place),
            hosts: conditions.hosts,
            path: conditions.path,
            methods: conditions.methods,
            headers: conditions.headers,
            query: conditions.query,
            fraction: None,
            rank,
            claim: None,
            action,
            rewrite,
        };
        self.table.push(rule, places);
    }

    fn name(&mut self, written: Option<&Spanned<ConfigName>>) -> Shared<str> {
        let Some(Spanned { value: ConfigName(name), place }) = written else {
            let routes = &self.table.config.routes;
            return format!("{}/{}", routes.name, routes.rules.len() + 1).into();
        };
        if let Some(first) = self.names.insert(Shared::clone(name), *place) {
            let message =
                format!("another rule of this table already has the name `{name}`, in line {}", first.line);
            self.report.error(*place, message);
        }
        Shared::clone(name)
    }
}
