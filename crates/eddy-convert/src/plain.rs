//! Input of the conversion as plain rules, and what a conversion loses.

use eddy_config::{Action, ClusterSlots, Http2Config, ListenAddress, ListenerTlsConfig};
use eddy_route::{HostPattern, PathPattern, Rule, SourceLocation};

/// A setting that the target language cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Position of the setting.
    pub origin: SourceLocation,
    /// Description of the setting and of the difference.
    pub reason: String,
}

impl Loss {
    /// Returns the loss of a part of a rule.
    pub(super) fn of_rule(rule: &Rule, reason: &str) -> Self {
        Self { origin: rule.origin.clone(), reason: format!("rule `{}`: {reason}", rule.name) }
    }
}

/// A configuration reduced to plain rules.
pub(super) struct PlainConfig<'c> {
    pub(super) listeners: Vec<PlainListener<'c>>,
    pub(super) clusters: &'c ClusterSlots,
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

/// Returns the hosts of a rule; any host if it names none.
pub(super) fn hosts_of(rule: &Rule) -> Vec<HostPattern> {
    if rule.hosts.is_empty() { vec![HostPattern::Any] } else { rule.hosts.clone() }
}

/// Returns a host as eddy.yaml and the Gateway API write it; `None` for any host, and for patterns that they lack.
pub(super) fn host_text(host: &HostPattern) -> Option<String> {
    match host {
        HostPattern::Exact(host) => Some(host.clone()),
        HostPattern::Suffix(host) => Some(format!("*.{}", host.trim_start_matches("*."))),
        HostPattern::Any
        | HostPattern::OneLabel(_)
        | HostPattern::ByteSuffix(_)
        | HostPattern::BytePrefix(_) => None,
    }
}

/// Whether neither eddy.yaml nor the Gateway API can express the hosts of a rule, or its share of the requests.
pub(super) fn has_unsupported_hosts(rule: &Rule) -> bool {
    let is_unsupported = |host: &HostPattern| host_text(host).is_none() && *host != HostPattern::Any;
    rule.fraction.is_some() || rule.hosts.iter().any(is_unsupported)
}

/// Returns the settings of an action that neither eddy.yaml nor the Gateway API can express.
pub(super) fn unsupported_action_settings(action: &Action) -> impl Iterator<Item = &'static str> {
    let reasons = [
        (!action.filters.is_empty(), "its filter settings are left out"),
        (!action.mirrors.is_empty(), "its request mirroring is left out"),
        (action.attempt_timeout.is_some(), "its timeout per attempt is left out"),
    ];
    reasons.into_iter().filter(|(is_there, _)| *is_there).map(|(_, reason)| reason)
}

/// Whether a rule matches all requests for a host, so that none of them reaches rules of less specific hosts.
pub(super) fn matches_all_requests(rule: &Rule, host: &HostPattern) -> bool {
    let is_any_prefix = matches!(&rule.path, PathPattern::Prefix(prefix) if prefix == "/");
    let is_for_all = is_any_prefix || rule.path == PathPattern::Any;
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
    fn a_rule_matches_all_requests_for_a_host_only_without_conditions() {
        let host = HostPattern::Exact("a.test".to_owned());
        let all = Rule {
            hosts: vec![host.clone()],
            path: PathPattern::Prefix("/".to_owned()),
            ..Rule::new("all", SourceLocation { file: "".into(), line: 1 })
        };
        assert!(matches_all_requests(&all, &host));
        assert!(matches_all_requests(&Rule { path: PathPattern::Any, ..all.clone() }, &host));
        assert!(!matches_all_requests(&all, &HostPattern::Any));
        assert!(matches_all_requests(&Rule { hosts: Vec::new(), ..all.clone() }, &HostPattern::Any));
        let half = Fraction { numerator: 1, denominator: 2 };
        for rule in [
            Rule { fraction: Some(half), ..all.clone() },
            Rule { methods: vec!["GET".to_owned()], ..all.clone() },
            Rule { path: PathPattern::Prefix("/a".to_owned()), ..all.clone() },
            Rule { hosts: Vec::new(), ..all },
        ] {
            assert!(!matches_all_requests(&rule, &host), "{rule:?}");
        }
    }
}
