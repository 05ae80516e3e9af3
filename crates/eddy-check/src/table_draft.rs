//! Route tables under construction.

use eddy_config::{Action, TableConfig, TableSlots};
use eddy_ids::{ActionId, BySlot, Shared, SlotsDraft, TableId};
use eddy_route::{Dialect, Rule};
use eddy_spec::problem::SourceSpan;
use eddy_spec::read::Spanned;
use eddy_spec::value::ConfigName;

use super::condition::ConditionPositions;
use super::names::{NameRegistry, free_name};

/// Tables under construction.
#[derive(Debug)]
pub struct TablesDraft<'l> {
    slots: SlotsDraft<'l, TableId, Shared<str>, TableConfig>,
    places: TablePositions,
    /// Names of the tables of eddy's own configuration.
    pub names: NameRegistry<TableId>,
}

/// Positions of the rules of each table.
pub(crate) type TablePositions = BySlot<TableId, Vec<RulePositions>>;

impl<'l> TablesDraft<'l> {
    /// Creates a draft without tables; those with a name of the last configuration get the same identifier.
    pub fn new(last: &'l TableSlots) -> Self {
        let names = NameRegistry::new("route table");
        Self { slots: last.draft(), places: BySlot::default(), names }
    }

    /// Declares a table of eddy's own configuration, which [`Self::add`] follows.
    pub fn declare(&mut self, name: &Spanned<ConfigName>) -> TableId {
        let id = self.slots.reserve(Shared::clone(&name.value.0));
        self.names.define(name, id);
        id
    }

    /// Adds a table under its name, with a number behind it if another table has the name.
    pub fn add(&mut self, table: TableDraft) -> TableId {
        let TableDraft { config, places } = table;
        let name = free_name(&config.routes.name, |name| self.slots.has_value(name));
        let id = self.slots.define(name, config).expect("the name is not taken");
        self.places.insert(id, places);
        id
    }

    /// Returns the tables, the positions of their rules, and the names of those of eddy's own configuration.
    pub fn finish(self) -> (TableSlots, TablePositions, NameRegistry<TableId>) {
        (self.slots.finish(), self.places, self.names)
    }
}

/// A table under construction.
#[derive(Debug)]
pub struct TableDraft {
    /// Rules so far, and their actions.
    pub config: TableConfig,
    /// Positions of each rule.
    pub places: Vec<RulePositions>,
}

impl TableDraft {
    /// Creates a table without rules.
    pub fn new(name: &str, dialect: Dialect) -> Self {
        Self { config: TableConfig::new(name, dialect), places: Vec::new() }
    }

    /// Adds an action, for rules of this table.
    pub fn action(&mut self, action: Action) -> ActionId {
        self.config.add(action)
    }

    /// Adds a rule and its positions.
    pub fn push(&mut self, rule: Rule, places: RulePositions) {
        self.config.routes.rules.push(rule);
        self.places.push(places);
    }
}

/// Positions of a rule and its parts.
#[derive(Clone, Debug)]
pub struct RulePositions {
    /// The rule.
    pub rule: SourceSpan,
    /// The conditions of the rule.
    pub conditions: ConditionPositions,
    /// The path rewrite, if the rule has one.
    pub rewrite: Option<SourceSpan>,
}

impl RulePositions {
    /// Returns the positions of a rule whose parts have none of their own.
    pub fn of(rule: SourceSpan) -> Self {
        Self { rule, conditions: ConditionPositions::default(), rewrite: None }
    }
}
