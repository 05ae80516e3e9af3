//! Entry point of the conversion: its input as plain rules, and its result.

use eddy_route::{Dialect, HostPattern, PathPattern, Rule, SourceLocation, TableMatchOptions};
use eddy_upstream::ClusterConfig;

use crate::config::{Action, ActionKind, GatewayConfig, Http2Config, ListenAddress, Serve};
use crate::tls::ListenerTlsConfig;

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

/// A setting that the target language cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Position of the setting.
    pub origin: SourceLocation,
    /// Description of the setting and of the difference.
    pub reason: String,
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

/// A configuration reduced to plain rules.
pub(super) struct PlainConfig<'c> {
    pub(super) listeners: Vec<PlainListener<'c>>,
    pub(super) clusters: &'c [ClusterConfig],
}

/// A listener and its tables, in order.
pub(super) struct PlainListener<'c> {
    pub(super) name: String,
    pub(super) address: ListenAddress,
    pub(super) tls: Option<&'c ListenerTlsConfig>,
    pub(super) http2: Http2Config,
    pub(super) tables: Vec<PlainTable>,
}

impl PlainListener<'_> {
    /// Reports that its TLS settings are not expressed, or not exactly.
    pub(super) fn add_tls_losses(&self, reason: &str, losses: &mut Vec<Loss>) {
        let Some(first) = self.tls.and_then(|tls| tls.files().next()) else { return };
        let origin = SourceLocation { file: first.place.file.clone(), line: first.place.line };
        losses.push(Loss { origin, reason: format!("TLS of the listener `{}`: {reason}", self.name) });
    }
}

/// A table with rules of eddy's own dialect.
pub(super) struct PlainTable {
    pub(super) name: String,
    pub(super) rules: Vec<PlainRule>,
}

/// A rule and its action.
pub(super) struct PlainRule {
    pub(super) rule: Rule,
    pub(super) action: Action,
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
                Serve::Routes(indexes) => {
                    let tables = indexes.iter().filter_map(|index| config.tables.get(*index));
                    let is_alone = indexes.len() == 1;
                    tables.map(|table| plain_table(config, table, is_alone, losses)).collect()
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
fn plain_table(
    config: &GatewayConfig,
    table: &eddy_route::RouteTable,
    is_alone: bool,
    losses: &mut Vec<Loss>,
) -> PlainTable {
    let is_own = table.dialect == Dialect::Eddy
        && table.reading == TableMatchOptions::default()
        && table.ends.is_empty();
    let name = if table.name.is_empty() { "routes".to_owned() } else { table.name.to_string() };
    if !is_own {
        return PlainTable { name, rules: super::foreign::rules(config, table, is_alone, losses) };
    }
    let mut rules = Vec::new();
    for rule in &table.rules {
        let Some(action) = config.actions.get(rule.action as usize) else { continue };
        if let ActionKind::Sites(_) = action.kind {
            losses.push(super::foreign::mixed_sites_loss(rule));
            continue;
        }
        rules.push(PlainRule { rule: rule.clone(), action: action.clone() });
    }
    PlainTable { name, rules }
}

/// Returns the hosts of a rule; any host if it names none.
pub(super) fn hosts_of(rule: &Rule) -> Vec<HostPattern> {
    if rule.hosts.is_empty() { vec![HostPattern::Any] } else { rule.hosts.clone() }
}

/// Whether a rule matches all requests for a host, so that none of them reaches rules of less specific hosts.
pub(super) fn takes_all(rule: &Rule, host: &HostPattern) -> bool {
    let is_for_all = match &rule.path {
        PathPattern::Any => true,
        PathPattern::Prefix(prefix) => prefix == "/",
        PathPattern::Exact(_)
        | PathPattern::BytePrefix(_)
        | PathPattern::Caseless(_)
        | PathPattern::Regex(_)
        | PathPattern::Search(_)
        | PathPattern::Template(_) => false,
    };
    is_for_all
        && rule.methods.is_empty()
        && rule.headers.is_empty()
        && rule.query.is_empty()
        && rule.fraction.is_none()
        && hosts_of(rule).contains(host)
}

#[cfg(test)]
mod tests {
    use eddy_route::Fraction;

    use super::*;

    #[test]
    fn a_rule_takes_all_requests_for_a_host_only_without_any_condition() {
        let host = HostPattern::Exact("a.test".to_owned());
        let all = Rule {
            hosts: vec![host.clone()],
            path: PathPattern::Prefix("/".to_owned()),
            ..Rule::new("all", SourceLocation { file: "".into(), line: 1 })
        };
        assert!(takes_all(&all, &host));
        assert!(takes_all(&Rule { path: PathPattern::Any, ..all.clone() }, &host));
        assert!(!takes_all(&all, &HostPattern::Any));
        assert!(takes_all(&Rule { hosts: Vec::new(), ..all.clone() }, &HostPattern::Any));
        let half = Fraction { numerator: 1, denominator: 2 };
        for rule in [
            Rule { fraction: Some(half), ..all.clone() },
            Rule { methods: vec!["GET".to_owned()], ..all.clone() },
            Rule { path: PathPattern::Prefix("/a".to_owned()), ..all.clone() },
            Rule { hosts: Vec::new(), ..all },
        ] {
            assert!(!takes_all(&rule, &host), "{rule:?}");
        }
    }
}
