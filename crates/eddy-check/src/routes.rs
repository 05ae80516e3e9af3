//! Compiles the route tables as a listener will, so that their problems are reported by the check.

use std::collections::{BTreeMap, HashSet};

use eddy_config::{ListenerConfig, Serve, TableConfig, TableSlots};
use eddy_ids::TableId;
use eddy_route::{CompiledRule, PathPattern, RouteError, RouteProblem, RouteTable, Router, Rule, ValueTest};
use eddy_spec::problem::{ProblemReport, SourceSpan};

use super::table_draft::{RulePositions, TablePositions};

/// Builds a router for the tables of each listener, and for each table that no listener serves.
pub(crate) fn check_routes(
    listeners: &[ListenerConfig],
    (tables, places): (&TableSlots, &TablePositions),
    report: &mut ProblemReport,
) {
    let mut served: Vec<Vec<TableId>> = Vec::new();
    for listener in listeners {
        let Serve::Routes(ids) = &listener.serve else { continue };
        if !served.contains(ids) {
            served.push(ids.clone());
        }
    }
    for (id, _) in tables.iter() {
        if !served.iter().any(|ids| ids.contains(&id)) {
            served.push(vec![id]);
        }
    }
    // After errors, a rule may lack the parts that were invalid.
    let is_sound = !report.has_errors();
    let mut outlook = RuleReachability::default();
    for ids in served {
        let chosen: Vec<&TableConfig> = ids.iter().map(|id| &*tables[*id]).collect();
        let routes: Vec<&RouteTable> = chosen.iter().map(|table| &table.routes).collect();
        match Router::build(&routes) {
            Ok(router) => {
                // The router numbers rules in the order of the tables and of the rules in them.
                let places = ids.iter().filter_map(|id| places.get(*id)).flatten().map(|places| places.rule);
                outlook.take(&router, &chosen, &places.collect::<Vec<_>>());
            }
            Err(errors) => {
                let told = errors.iter().filter(|error| is_sound || !may_follow(&error.problem));
                told.for_each(|error| note(error, (tables, places), report));
            }
        }
    }
    if is_sound {
        outlook.note(report);
    }
}

/// Whether a problem may be a mere consequence of a path that was refused before.
fn may_follow(problem: &RouteProblem) -> bool {
    matches!(problem, RouteProblem::RewriteCapture { .. } | RouteProblem::RewriteWithoutPrefix)
}

/// Collects which rules can win, over all routers.
#[derive(Default)]
struct RuleReachability {
    /// Positions of rules that can win in some listener.
    winnable: HashSet<SourceSpan>,
    /// Rules that can never win in some listener, with the reason.
    dead: BTreeMap<SourceSpan, Dead>,
    /// Rules that are redundant in some listener, with the reason.
    redundant: BTreeMap<SourceSpan, Redundant>,
    /// Rules that are not redundant in some listener, or for some host.
    needed: HashSet<SourceSpan>,
}

struct Redundant {
    rule: String,
    /// The rule that would do the same.
    other: String,
    /// A request that demonstrates it.
    example: Option<String>,
}

struct Dead {
    rule: String,
    reason: String,
}

impl RuleReachability {
    /// Adds the results for the router of these tables, whose rules are at `places`.
    fn take(&mut self, router: &Router, tables: &[&TableConfig], places: &[SourceSpan]) {
        let action = |rule: &CompiledRule| tables[rule.table as usize].action(rule.action);
        let alike = |a: &CompiledRule, b: &CompiledRule| action(a) == action(b);
        for ranked in router.ordered_by(&alike) {
            let Some(&place) = places.get(ranked.rule.index as usize) else { continue };
            match ranked.dead {
                Some(reason) => drop(self.dead.insert(place, Dead { rule: ranked.rule.rule, reason })),
                None => {
                    self.winnable.insert(place);
                    match ranked.redundant {
                        Some(other) => {
                            let example = ranked.example.map(|example| example.to_string());
                            let redundant = Redundant { rule: ranked.rule.rule, other, example };
                            self.redundant.entry(place).or_insert(redundant);
                        }
                        None => drop(self.needed.insert(place)),
                    }
                }
            }
        }
    }

    fn note(&self, report: &mut ProblemReport) {
        for (place, Dead { rule, reason }) in &self.dead {
            let is_written = *place != SourceSpan::default();
            if is_written && !self.winnable.contains(place) {
                report
                    .warning(*place, format!("the rule `{rule}` can never win: {reason}"))
                    .hint("`eddy routes` shows the order of all rules");
            }
        }
        for (place, Redundant { rule, other, example }) in &self.redundant {
            // If both rules were reported, people would remove both.
            if self.dead.values().any(|dead| dead.rule == *other) {
                continue;
            }
            // A rule that is compiled to several, as with several hosts, may be needed for one of them.
            if *place != SourceSpan::default() && !self.needed.contains(place) {
                let example =
                    example.as_ref().map_or_else(String::new, |example| format!(", such as {example}"));
                report
                    .warning(*place, format!("the rule `{rule}` is redundant: without it `{other}` does the same with its requests{example}"))
                    .hint("remove it, unless its name is needed");
            }
        }
    }
}

/// Reports a problem that the router found in a rule, at the key in question.
fn note(error: &RouteError, tables: (&TableSlots, &TablePositions), report: &mut ProblemReport) {
    let place = match rule_of(error, tables) {
        Some((rule, places)) => place_of(&error.problem, rule, places).unwrap_or(places.rule),
        None => SourceSpan::default(),
    };
    report.error(place, error.problem.to_string()).hint(error.hint());
}

/// Returns the position of the key in question, if it is more specific than the rule.
fn place_of(problem: &RouteProblem, rule: &Rule, places: &RulePositions) -> Option<SourceSpan> {
    let RulePositions { conditions, rewrite, .. } = places;
    match problem {
        RouteProblem::Host { .. } => conditions.host,
        RouteProblem::Path { .. } | RouteProblem::Template { .. } => conditions.path,
        RouteProblem::Method { .. } => conditions.method,
        RouteProblem::HeaderName { .. } => conditions.headers.first().copied(),
        RouteProblem::QueryName => conditions.query.first().copied(),
        RouteProblem::Rewrite { .. }
        | RouteProblem::RewriteCapture { .. }
        | RouteProblem::RewriteWithoutPrefix => *rewrite,
        RouteProblem::Regex { pattern, .. } | RouteProblem::RegexTooLarge { pattern } => {
            let of_values = [(&rule.headers, &conditions.headers), (&rule.query, &conditions.query)];
            let mut values = of_values.into_iter().flat_map(|(values, places)| values.iter().zip(places));
            match &rule.path {
                PathPattern::Regex(regex) if regex == pattern => conditions.path,
                PathPattern::Search(search) if search.expression == *pattern => conditions.path,
                PathPattern::Any
                | PathPattern::Exact(_)
                | PathPattern::Prefix(_)
                | PathPattern::BytePrefix(_)
                | PathPattern::Caseless(_)
                | PathPattern::Regex(_)
                | PathPattern::Search(_)
                | PathPattern::Template(_) => {
                    values.find(|(value, _)| is_regex(&value.test, pattern)).map(|(_, place)| *place)
                }
            }
        }
        RouteProblem::TooMany { .. } | RouteProblem::TablesTooLarge { .. } => None,
    }
}

fn is_regex(test: &ValueTest, pattern: &str) -> bool {
    matches!(test, ValueTest::Regex(regex) if regex == pattern)
}

/// Returns the rule of `error`, and its positions.
fn rule_of<'t>(
    error: &RouteError,
    (tables, places): (&'t TableSlots, &'t TablePositions),
) -> Option<(&'t Rule, &'t RulePositions)> {
    let tables = tables.iter().filter_map(|(id, table)| Some((table, places.get(id)?)));
    let mut rules = tables.flat_map(|(table, places)| table.routes.rules.iter().zip(places));
    rules.find(|(rule, _)| rule.origin == error.origin && rule.name == error.rule)
}
