//! `eddy routes --diff` and `--witness`: requests that show the effect of rules.

use std::collections::HashSet;
use std::fmt::Write;

use anyhow::anyhow;
use eddy_config::{GatewayConfig, ListenerConfig};
use eddy_route::{RouteScratch, Router, Witness};
use serde::Serialize;

use super::arguments::RoutesArgs;
use super::error::CommandError;
use super::load::{load, router_of};
use crate::explain::action_text;
use crate::terminal::{print, print_json};

/// Request that reaches a rule.
#[derive(Serialize)]
struct MatchedRequest {
    listener: String,
    rule: String,
    /// `None` if none of the tried requests reaches the rule.
    request: Option<Witness>,
    /// Why no request reaches it, if known.
    dead: Option<String>,
}

/// Request that two configurations handle differently.
#[derive(Serialize)]
struct Changed {
    listener: String,
    request: Witness,
    before: RouteDecision,
    after: RouteDecision,
}

/// Decision for a request: the winning rule and its action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct RouteDecision {
    rule: Option<String>,
    action: Option<String>,
}

/// Prints, for each rule of this name, a short request that it wins.
///
/// # Errors
/// When the configuration has errors, or there is no such rule.
pub(super) fn witness(arguments: &RoutesArgs, name: &str) -> Result<(), CommandError> {
    let config = load(&arguments.files.configs, arguments.dialect.leniency())?;
    let mut reached = Vec::new();
    for listener in &config.listeners {
        let Some(router) = router_of(&config, listener)? else { continue };
        for rule in router.rules().iter().filter(|rule| *rule.name == *name) {
            let request = router.witness(rule.index);
            let ranked = if request.is_none() { router.ordered() } else { Vec::new() };
            let dead = ranked.into_iter().find(|ranked| ranked.rule.index == rule.index);
            reached.push(MatchedRequest {
                listener: listener.name.to_string(),
                rule: format!("{} ({})", rule.name, rule.origin),
                request,
                dead: dead.and_then(|ranked| ranked.dead),
            });
        }
    }
    if reached.is_empty() {
        return Err(anyhow!("there is no rule \"{name}\"; `eddy routes` lists them").into());
    }
    let mut text = String::new();
    for MatchedRequest { listener, rule, request, dead } in &reached {
        // Writing to a string never fails.
        let _ = match (request, dead) {
            (Some(request), _) => writeln!(text, "{listener}: {rule} is reached by {request}"),
            (None, Some(dead)) => writeln!(text, "{listener}: {rule} is never reached: {dead}"),
            (None, None) => writeln!(text, "{listener}: no request was found that reaches {rule}"),
        };
    }
    show(&reached, &text, arguments)
}

/// Prints requests that another rule wins, or that are handled differently, than under the older configuration.
///
/// # Errors
/// When one of the configurations has errors.
pub(super) fn diff(arguments: &RoutesArgs) -> Result<(), CommandError> {
    let (old, new) = (
        load(&arguments.diff, arguments.dialect.leniency())?,
        load(&arguments.files.configs, arguments.dialect.leniency())?,
    );
    let mut changed = Vec::new();
    let mut asked = 0;
    let mut text = String::new();
    for listener in &new.listeners {
        let before = old.listeners.iter().find(|other| other.name == listener.name);
        let before = before.map(|before| RoutedListener::new(&old, before)).transpose()?.flatten();
        let after = RoutedListener::new(&new, listener)?;
        let (Some(before), Some(after)) = (before, after) else { continue };
        let mut seen = HashSet::new();
        for request in witnesses(&before.router).chain(witnesses(&after.router)) {
            if !seen.insert(request.to_string()) {
                continue;
            }
            asked += 1;
            let (before, after) = (before.decide(&request), after.decide(&request));
            if before != after {
                let _ = writeln!(text, "{}: {request}\n  before  {before}\n  after   {after}", listener.name);
                changed.push(Changed { listener: listener.name.to_string(), request, before, after });
            }
        }
    }
    let _ =
        writeln!(text, "{} of {asked} requests, one for each rule, are handled differently", changed.len());
    show(&changed, &text, arguments)
}

/// Returns one request per rule, if one is found.
fn witnesses(router: &Router) -> impl Iterator<Item = Witness> {
    router.rules().iter().take(RULES_MAX).filter_map(|rule| router.witness(rule.index))
}

/// A listener that serves routes, with its router.
struct RoutedListener<'c> {
    config: &'c GatewayConfig,
    listener: &'c ListenerConfig,
    router: Router,
}

impl<'c> RoutedListener<'c> {
    fn new(config: &'c GatewayConfig, listener: &'c ListenerConfig) -> anyhow::Result<Option<Self>> {
        let router = router_of(config, listener)?;
        Ok(router.map(|router| Self { config, listener, router }))
    }

    fn decide(&self, request: &Witness) -> RouteDecision {
        let mut scratch = RouteScratch::new();
        request.with(|request| {
            let found = self.router.lookup(request, &mut scratch);
            let action = found.map(|found| self.config.action_of(self.listener, found.rule));
            RouteDecision {
                rule: found.map(|found| found.rule.name.to_string()),
                action: action.map(|action| action_text(self.config, action)),
            }
        })
    }
}

impl std::fmt::Display for RouteDecision {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.rule, &self.action) {
            (Some(rule), Some(action)) => write!(out, "{rule}: {action}"),
            (Some(rule), None) => write!(out, "{rule}"),
            (None, _) => write!(out, "no rule"),
        }
    }
}

fn show(value: &impl Serialize, text: &str, arguments: &RoutesArgs) -> Result<(), CommandError> {
    if arguments.json {
        print_json(value)?;
    } else {
        print(text)?;
    }
    Ok(())
}

/// Maximum rules per listener for which requests are generated.
const RULES_MAX: usize = 10_000;
