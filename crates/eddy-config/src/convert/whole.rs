//! What is converted, and what comes of it.

use eddy_route::{Dialect, Origin, Reading, Rule};
use eddy_upstream::ClusterConfig;

use crate::config::{Action, ActionKind, Config, ListenAddress, Serve};

/// The language that routes are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// eddy.yaml.
    Eddy,
    /// Manifests of the Gateway API.
    GatewayApi,
}

/// Routes in another language.
#[derive(Clone, Debug)]
pub struct Converted {
    /// The text.
    pub text: String,
    /// What it does not say, or not exactly, in the order of the files.
    pub losses: Vec<Loss>,
}

/// Something that the other language cannot say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Where it is written.
    pub origin: Origin,
    /// What it is, and what became of it.
    pub reason: String,
}

/// Writes the routes of a configuration in another language.
pub fn convert(config: &Config, target: Target) -> Converted {
    let mut losses = Vec::new();
    let plain = Plain::of(config, &mut losses);
    let text = match target {
        Target::Eddy => super::eddy::write(&plain, &mut losses),
        Target::GatewayApi => super::gateway_api::write(&plain, &mut losses),
    };
    losses.sort_by(|a, b| {
        (&a.origin.file, a.origin.line, &a.reason).cmp(&(&b.origin.file, b.origin.line, &b.reason))
    });
    losses.dedup();
    Converted { text, losses }
}

/// A configuration as rules alone.
pub(super) struct Plain<'c> {
    pub(super) listeners: Vec<PlainListener>,
    pub(super) clusters: &'c [ClusterConfig],
}

/// A listener and its tables, the first first.
pub(super) struct PlainListener {
    pub(super) name: String,
    pub(super) address: ListenAddress,
    pub(super) tables: Vec<PlainTable>,
}

/// Rules of eddy's own dialect.
pub(super) struct PlainTable {
    pub(super) name: String,
    pub(super) rules: Vec<PlainRule>,
}

/// A rule and what it does.
pub(super) struct PlainRule {
    pub(super) rule: Rule,
    pub(super) action: Action,
}

impl<'c> Plain<'c> {
    fn of(config: &'c Config, losses: &mut Vec<Loss>) -> Self {
        let mut listeners = Vec::new();
        for listener in &config.listeners {
            let tables = match &listener.serve {
                Serve::Demo => continue,
                Serve::Forward(forwarding) => {
                    let reason = "connections that are passed on have no routes; the listener is left out";
                    losses.push(Loss { origin: forwarding.origin.clone(), reason: reason.to_owned() });
                    continue;
                }
                Serve::Sites(at) => {
                    let name = format!("nginx-{}", listeners.len() + 1);
                    vec![PlainTable { name, rules: super::sites::rules(config, *at, losses) }]
                }
                Serve::Routes(indexes) => {
                    let tables = indexes.iter().filter_map(|index| config.tables.get(*index));
                    let is_alone = indexes.len() == 1;
                    tables.map(|table| plain_table(config, table, is_alone, losses)).collect()
                }
            };
            listeners.push(PlainListener {
                name: listener.name.to_string(),
                address: listener.address.clone(),
                tables,
            });
        }
        Self { listeners, clusters: &config.clusters }
    }
}

/// The rules of a table in eddy's own dialect; `is_alone` where no other table serves the same listener.
fn plain_table(
    config: &Config,
    table: &eddy_route::RouteTable,
    is_alone: bool,
    losses: &mut Vec<Loss>,
) -> PlainTable {
    let is_own =
        table.dialect == Dialect::Eddy && table.reading == Reading::default() && table.ends.is_empty();
    let name = if table.name.is_empty() { "routes".to_owned() } else { table.name.to_string() };
    if !is_own {
        return PlainTable { name, rules: super::foreign::rules(config, table, is_alone, losses) };
    }
    let mut rules = Vec::new();
    for rule in &table.rules {
        let Some(action) = config.actions.get(rule.action as usize) else { continue };
        if let ActionKind::Sites(_) = action.kind {
            losses.push(super::foreign::sites_beside(rule));
            continue;
        }
        rules.push(PlainRule { rule: rule.clone(), action: action.clone() });
    }
    PlainTable { name, rules }
}
