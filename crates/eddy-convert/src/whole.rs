//! Entry point of the conversion: its input as plain rules, and its result.

use eddy_config::{Action, ActionKind, GatewayConfig, Serve, TableConfig};
use eddy_route::{Dialect, TableMatchOptions};

use super::plain::{Loss, PlainConfig, PlainListener, PlainRule, PlainTable};

/// Language to convert to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConversionTarget {
    /// eddy.yaml.
    Eddy,
    /// Gateway API manifests.
    GatewayApi,
}

/// Routes in another language, the result of a conversion.
#[derive(Clone, Debug)]
pub struct Converted {
    /// Converted text.
    pub text: String,
    /// Settings that the text does not express, or not exactly, in the order of the files.
    pub losses: Vec<Loss>,
}

/// Converts the routes of a configuration to another language.
pub fn convert(config: &GatewayConfig, target: ConversionTarget) -> Converted {
    let mut losses = Vec::new();
    let plain = PlainConfig::of(config, &mut losses);
    let text = match target {
        ConversionTarget::Eddy => super::eddy::write(&plain, &mut losses),
        ConversionTarget::GatewayApi => super::gateway_api::write(&plain, &mut losses),
    };
    losses.sort_by(|a, b| {
        (&a.origin.file, a.origin.line, &a.reason).cmp(&(&b.origin.file, b.origin.line, &b.reason))
    });
    losses.dedup();
    Converted { text, losses }
}

impl<'c> PlainConfig<'c> {
    fn of(config: &'c GatewayConfig, losses: &mut Vec<Loss>) -> Self {
        let mut listeners = Vec::new();
        for listener in &config.listeners {
            let tables = match &listener.serve {
                Serve::Demo => continue,
                Serve::Forward(forwarding) => {
                    let reason = "a listener that forwards connections has no routes; it is left out";
                    losses.push(Loss { origin: forwarding.origin.clone(), reason: reason.to_owned() });
                    continue;
                }
                Serve::Sites(at) => {
                    let name = format!("nginx-{}", listeners.len() + 1);
                    vec![PlainTable { name, rules: super::sites::rules(config, *at, losses) }]
                }
                Serve::Routes(ids) => {
                    let is_alone = ids.len() == 1;
                    config
                        .tables_of(listener)
                        .into_iter()
                        .map(|table| plain_table(table, is_alone, losses))
                        .collect()
                }
            };
            if listener.strips_port
                && let Some(first) = tables.iter().find_map(|table: &PlainTable| table.rules.first())
            {
                let reason = "the port of a request host is kept, for endpoints and in redirects";
                losses.push(Loss { origin: first.rule.origin.clone(), reason: reason.to_owned() });
            }
            let plain = PlainListener {
                name: listener.name.to_string(),
                address: listener.address.clone(),
                tls: listener.tls.as_ref(),
                http2: listener.http2,
                tables,
            };
            let mut files = plain.tls.iter().flat_map(|tls| tls.files());
            if files
                .any(|file| config.acme.as_ref().is_some_and(|acme| acme.ordered_in(&file.path).is_some()))
            {
                plain.add_tls_losses(
                    "certificates ordered by `acme` are written as the files in which they are stored",
                    losses,
                );
            }
            listeners.push(plain);
        }
        Self { listeners, clusters: &config.clusters }
    }
}

/// Returns the rules of a table in eddy's own dialect; `is_alone` is whether no other table serves the same listener.
fn plain_table(config: &TableConfig, is_alone: bool, losses: &mut Vec<Loss>) -> PlainTable {
    let table = &config.routes;
    let is_own = table.dialect == Dialect::Eddy
        && table.reading == TableMatchOptions::default()
        && table.ends.is_empty();
    let name = if table.name.is_empty() { "routes".to_owned() } else { table.name.to_string() };
    if !is_own {
        return PlainTable { name, rules: super::foreign::rules(config, is_alone, losses) };
    }
    let mut rules = Vec::new();
    for rule in &table.rules {
        let action = config.action(rule.action);
        if let ActionKind::Sites(_) = action.kind {
            losses.push(super::foreign::mixed_sites_loss(rule));
            continue;
        }
        rules.push(PlainRule { rule: rule.clone(), action: Action::clone(action) });
    }
    PlainTable { name, rules }
}
