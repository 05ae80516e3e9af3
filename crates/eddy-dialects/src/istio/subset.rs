//! DestinationRules: balancing, TLS, and subsets of endpoints by label.

use std::collections::HashMap;

use eddy_ids::Shared;
use eddy_model::{Balance, BalanceKey, ClusterConfig, ClusterTlsConfig, MAGLEV_TABLE_SIZE};
use eddy_spec::problem::{ProblemReport, SourceSpan, SourceText, shown};
use eddy_spec::read::Spanned;

use super::credentials::Credentials;
use super::host::full_name;
use super::label::{LabelPair, pairs};
use super::spec::{DestinationRuleSpec, HashSpec, PolicySpec, SubsetSpec};
use crate::kubernetes::{ISTIO_NETWORKING, Manifests, Object};

/// DestinationRules by host.
#[derive(Debug, Default)]
pub(super) struct DestinationRules(HashMap<String, DestinationRule>);

/// Joined contents of all DestinationRules of a host.
#[derive(Debug, Default)]
struct DestinationRule {
    policy: TrafficPolicy,
    subsets: Vec<Subset>,
}

/// Settings for endpoints; `None` where a policy does not define them.
#[derive(Clone, Debug, Default)]
pub(super) struct TrafficPolicy {
    balance: Option<Choice>,
    tls: Option<ClusterTlsConfig>,
}

/// Balancing algorithm and its hash key.
#[derive(Clone, Debug)]
struct Choice {
    balance: Balance,
    key: Option<BalanceKey>,
}

/// Subset of the endpoints of a host.
#[derive(Debug)]
pub(super) struct Subset {
    pub(super) name: Shared<str>,
    pub(super) labels: Vec<LabelPair>,
    policy: TrafficPolicy,
}

impl DestinationRules {
    /// Applies the rules for a host, or a subset of it, to a cluster; settings of the subset take precedence.
    pub(super) fn apply(&self, host: &str, subset: Option<&Subset>, cluster: &mut ClusterConfig) {
        let policies =
            || subset.map(|subset| &subset.policy).into_iter().chain(self.of(host).map(|rule| &rule.policy));
        let choice = policies().find_map(|policy| policy.balance.clone());
        cluster.balance = choice.as_ref().map_or(DEFAULT_BALANCE, |choice| choice.balance);
        cluster.key = choice.and_then(|choice| choice.key);
        cluster.tls = policies().find_map(|policy| policy.tls.clone());
    }

    /// Returns a subset of a host.
    pub(super) fn subset(&self, host: &str, name: &str) -> Option<&Subset> {
        self.of(host)?.subsets.iter().find(|subset| *subset.name == *name)
    }

    /// Returns the rule for a host: its own, or that of the longest wildcard.
    fn of(&self, host: &str) -> Option<&DestinationRule> {
        let wildcards = host.char_indices().filter(|(_, letter)| *letter == '.');
        let mut wildcards = wildcards.filter_map(|(at, _)| self.0.get(&format!("*{}", host.get(at..)?)));
        self.0.get(host).or_else(|| wildcards.next()).or_else(|| self.0.get("*"))
    }
}

/// Reads all DestinationRules; those of one host are joined, and of two values for a setting the first counts.
pub(super) fn read_rules(
    manifests: &Manifests<'_, '_>,
    sources: &[SourceText],
    report: &mut ProblemReport,
) -> DestinationRules {
    let mut rules = DestinationRules::default();
    for object in manifests.objects.of(ISTIO_NETWORKING, "DestinationRule") {
        let credentials =
            Credentials { secrets: &manifests.secrets, sources, namespace: &object.metadata.namespace };
        read_rule(object, credentials, &mut rules, report);
    }
    rules
}

fn read_rule(
    object: &Object<'_>,
    credentials: Credentials<'_>,
    rules: &mut DestinationRules,
    report: &mut ProblemReport,
) {
    let Some(spec) = object.needed_part::<DestinationRuleSpec>("spec", report) else { return };
    let DestinationRuleSpec { host, policy, subsets } = spec.value;
    let Some(host) = host else { return };
    let host = full_name(&host.value.0, &object.metadata.namespace);
    let own =
        policy.as_ref().map(|policy| read_policy(policy, &host, credentials, report)).unwrap_or_default();
    let rule = rules.0.entry(host.clone()).or_default();
    rule.policy.balance = rule.policy.balance.take().or(own.balance);
    rule.policy.tls = rule.policy.tls.take().or(own.tls);
    for Spanned { value: SubsetSpec { name, labels, policy }, place } in
        subsets.into_iter().flat_map(|list| list.value)
    {
        let Some(name) = name else { continue };
        if let Some(before) = rule.subsets.iter().find(|other| other.name == name.value.0) {
            report_duplicate_name(&before.name, place, report);
            continue;
        }
        let policy =
            policy.as_ref().map(|policy| read_policy(policy, &host, credentials, report)).unwrap_or_default();
        rule.subsets.push(Subset { name: name.value.0, labels: pairs(labels.as_ref()), policy });
    }
}

fn report_duplicate_name(name: &str, place: SourceSpan, report: &mut ProblemReport) {
    report
        .warning(place, format!("the subset `{}` is already defined: this one has no effect", shown(name)))
        .hint("give it its own name");
}

/// Reads a traffic policy; where eddy behaves differently, that goes to `report`.
fn read_policy(
    policy: &Spanned<PolicySpec>,
    host: &str,
    credentials: Credentials<'_>,
    report: &mut ProblemReport,
) -> TrafficPolicy {
    let PolicySpec { balancer, tls, pool, ejection } = &policy.value;
    let others =
        [("connectionPool", "pool"), ("outlierDetection", "ejection")].into_iter().zip([pool, ejection]);
    for ((key, own), place) in others.filter_map(|(names, part)| Some((names, part.as_ref()?.place))) {
        report
            .warning(place, format!("eddy ignores `{key}` of manifests and uses its own limits"))
            .hint(format!("write the cluster with `{own}` in eddy.yaml"));
    }
    let tls = tls.as_ref().and_then(|tls| credentials.upstream_tls(tls, host, report));
    let Some(Spanned { value: balancer, .. }) = balancer else { return TrafficPolicy { balance: None, tls } };
    let keyed = balancer.hash.as_ref().and_then(|hash| {
        let balance = keyed_balance(&hash.value, report);
        key_of(hash, report).map(|key| Choice { balance, key: Some(key) })
    });
    let simple = balancer.simple.as_ref().and_then(|simple| match &*simple.value.0 {
        "UNSPECIFIED" => None,
        "LEAST_REQUEST" | "LEAST_CONN" => Some(Balance::LeastRequest),
        "ROUND_ROBIN" => Some(Balance::RoundRobin),
        "RANDOM" => Some(Balance::Random),
        other => {
            report
                .objection(simple.place, format!("the balancer `{}` is not supported", shown(other)))
                .hint("write `LEAST_REQUEST`, `ROUND_ROBIN` or `RANDOM`");
            None
        }
    });
    let balance = keyed.or_else(|| simple.map(|balance| Choice { balance, key: None }));
    TrafficPolicy { balance, tls }
}

/// Returns the balancing of a consistent hash: ring or Maglev.
fn keyed_balance(hash: &HashSpec, report: &mut ProblemReport) -> Balance {
    let Some(maglev) = &hash.maglev else { return Balance::Ring };
    let places = maglev.value.places.as_ref().filter(|places| places.value.0 != MAGLEV_TABLE_SIZE as u64);
    if let Some(places) = places {
        report
            .objection(
                places.place,
                format!(
                    "eddy's Maglev table always has {MAGLEV_TABLE_SIZE} entries, which is Envoy's default"
                ),
            )
            .hint("leave `tableSize` out");
    }
    Balance::Maglev
}

/// Returns the key of a consistent hash; unsupported keys go to `report`.
fn key_of(hash: &Spanned<HashSpec>, report: &mut ProblemReport) -> Option<BalanceKey> {
    let HashSpec { header, cookie, address, maglev: _ } = &hash.value;
    let header = header.as_ref().map(|header| BalanceKey::Header(header.value.0.to_ascii_lowercase().into()));
    let cookie = cookie.as_ref().and_then(|cookie| {
        if let Some(ttl) = &cookie.value.ttl {
            report
                .objection(ttl.place, "eddy does not generate cookies for balancing")
                .hint("eddy uses the endpoint's own cookie; with `--lenient`, requests without a cookie go to the endpoints in turn");
        }
        cookie.value.name.as_ref().map(|name| BalanceKey::Cookie(name.value.0.clone()))
    });
    let address = address.as_ref().filter(|address| address.value).map(|_| BalanceKey::Address);
    let mut keys = [header, cookie, address].into_iter().flatten();
    let (first, second) = (keys.next(), keys.next());
    if first.is_none() || second.is_some() {
        report
            .error(hash.place, "a consistent hash needs exactly one key")
            .hint("write one of `httpHeaderName`, `httpCookie` and `useSourceIp: true`");
    }
    first
}

/// Istio's default balancing.
const DEFAULT_BALANCE: Balance = Balance::LeastRequest;
