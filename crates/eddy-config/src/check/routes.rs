//! Compiles the route tables as a listener will, so that what is wrong with them shows here.

use eddy_route::{PathPattern, RouteError, RouteProblem, RouteTable, Router, Rule, ValueMatch, ValueTest};

use super::condition::ConditionPlaces;
use super::table::{RulePlaces, Tables};
use crate::config::{ListenerConfig, Serve};
use crate::problem::{Place, Report};

/// Builds a router of the tables of each listener, and of each table that no listener serves.
pub(super) fn check_routes(listeners: &[ListenerConfig], tables: &Tables, report: &mut Report) {
    let mut served: Vec<Vec<usize>> = Vec::new();
    for listener in listeners {
        let Serve::Routes(indexes) = &listener.serve else { continue };
        if !served.contains(indexes) {
            served.push(indexes.clone());
        }
    }
    for index in 0..tables.tables.len() {
        if !served.iter().any(|indexes| indexes.contains(&index)) {
            served.push(vec![index]);
        }
    }
    for indexes in served {
        let chosen: Vec<RouteTable> =
            indexes.iter().filter_map(|&index| tables.tables.get(index).cloned()).collect();
        match Router::build(&chosen) {
            Ok(_router) => {}
            Err(errors) => errors.iter().for_each(|error| note(error, tables, report)),
        }
    }
}

/// Notes what the router says of a rule, at the key it speaks of.
fn note(error: &RouteError, tables: &Tables, report: &mut Report) {
    let Some(places) = places_of(error, tables) else {
        report.error(Place::default(), error.problem.to_string()).hint(error.hint());
        return;
    };
    let conditions = places.conditions;
    let key = match &error.problem {
        RouteProblem::Host { .. } => conditions.host,
        RouteProblem::Path { .. } | RouteProblem::Template { .. } => conditions.path,
        RouteProblem::Method { .. } => conditions.method,
        RouteProblem::HeaderName { .. } => conditions.headers,
        RouteProblem::QueryName => conditions.query,
        RouteProblem::Rewrite { .. }
        | RouteProblem::RewriteCapture { .. }
        | RouteProblem::RewriteWithoutPrefix => places.rewrite,
        RouteProblem::Regex { pattern, .. } | RouteProblem::RegexTooLarge { pattern } => {
            regex_place(pattern, error, tables, conditions)
        }
        RouteProblem::TooMany { .. } | RouteProblem::TablesTooLarge { .. } => None,
    };
    report.error(key.unwrap_or(places.rule), error.problem.to_string()).hint(error.hint());
}

/// Where a regular expression is written: the path, or else the first group of conditions that has it.
fn regex_place(
    pattern: &str,
    error: &RouteError,
    tables: &Tables,
    conditions: ConditionPlaces,
) -> Option<Place> {
    let rule = tables.tables.iter().flat_map(|table| &table.rules).find(|rule| is_meant(rule, error))?;
    let has_pattern = |matches: &[ValueMatch]| {
        matches.iter().any(|one| matches!(&one.test, ValueTest::Regex(regex) if regex == pattern))
    };
    match &rule.path {
        PathPattern::Regex(regex) if regex == pattern => conditions.path,
        _ if has_pattern(&rule.headers) => conditions.headers,
        _ if has_pattern(&rule.query) => conditions.query,
        _ => None,
    }
}

/// Where the rule that `error` speaks of is written.
fn places_of<'t>(error: &RouteError, tables: &'t Tables) -> Option<&'t RulePlaces> {
    let mut rules =
        tables.tables.iter().zip(&tables.places).flat_map(|(table, places)| table.rules.iter().zip(places));
    rules.find(|(rule, _)| is_meant(rule, error)).map(|(_, places)| places)
}

fn is_meant(rule: &Rule, error: &RouteError) -> bool {
    rule.origin == error.origin && rule.name == error.rule
}
