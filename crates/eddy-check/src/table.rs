//! Checks route tables: each rule becomes a rule of the router and an action.

use std::collections::HashMap;

use eddy_config::{Action, ActionKind};
use eddy_ids::{Shared, TableId};
use eddy_route::{Dialect, Rule};
use eddy_spec::problem::{ProblemReport, SourceSpan};
use eddy_spec::read::Spanned;
use eddy_spec::spec::RuleSpec;
use eddy_spec::value::ConfigName;

use super::action::{CheckedAction, check_action};
use super::condition::check_conditions;
use super::draft::Draft;
use super::table_draft::{RulePositions, TableDraft};

/// Checks the rules of a table. The clusters that they name count as used.
pub fn check_rules(
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
        let filters = self.draft.filters.check_rule(spec.filters.take(), self.id, self.report);
        let done = check_action(spec, filters, &mut self.draft.clusters, self.report);
        let (action, rewrite, rewrite_place) = match done {
            Some(CheckedAction { action, rewrite, rewrite_place }) => {
                (self.table.action(action), rewrite, rewrite_place)
            }
            // A placeholder: after an error the configuration is not used.
            None => (self.table.action(Action::new(ActionKind::Weighted(Vec::new()))), None, None),
        };
        let places = RulePositions { rule: place, conditions: conditions.places, rewrite: rewrite_place };
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
