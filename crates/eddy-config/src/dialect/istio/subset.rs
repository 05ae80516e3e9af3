//! DestinationRules: which endpoint is asked, and parts of endpoints by their labels.

use std::collections::HashMap;
use std::sync::Arc;

use eddy_upstream::Balance;

use super::destination::{DEFAULT_BALANCE, full_name};
use super::gateway::GROUP;
use super::spec::{DestinationRuleSpec, Labels, PolicySpec, SubsetSpec};
use crate::dialect::kubernetes::{Object, Objects};
use crate::problem::{Place, Report, shown};
use crate::read::At;

/// A label and its value.
pub(super) type LabelPair = (Arc<str>, Arc<str>);

/// DestinationRules by host.
#[derive(Debug, Default)]
pub(super) struct DestinationRules(HashMap<String, DestinationRule>);

/// What all DestinationRules of a host say.
#[derive(Debug, Default)]
struct DestinationRule {
    balance: Option<Balance>,
    subsets: Vec<Subset>,
}

/// A part of the endpoints of a host.
#[derive(Debug)]
pub(super) struct Subset {
    pub(super) name: Arc<str>,
    pub(super) labels: Vec<LabelPair>,
    pub(super) balance: Option<Balance>,
}

impl DestinationRules {
    /// Which endpoint of a host is asked.
    pub(super) fn balance(&self, host: &str) -> Balance {
        self.of(host).and_then(|rule| rule.balance).unwrap_or(DEFAULT_BALANCE)
    }

    /// A subset of a host.
    pub(super) fn subset(&self, host: &str, name: &str) -> Option<&Subset> {
        self.of(host)?.subsets.iter().find(|subset| *subset.name == *name)
    }

    /// The rule for a host: its own, or that of the longest wildcard.
    fn of(&self, host: &str) -> Option<&DestinationRule> {
        let wildcards = host.char_indices().filter(|(_, letter)| *letter == '.');
        let mut wildcards = wildcards.filter_map(|(at, _)| self.0.get(&format!("*{}", host.get(at..)?)));
        self.0.get(host).or_else(|| wildcards.next()).or_else(|| self.0.get("*"))
    }
}

/// Reads all DestinationRules; those of one host are joined, and of what two say the first counts.
pub(super) fn read_rules(objects: &Objects<'_>, report: &mut Report) -> DestinationRules {
    let mut rules = DestinationRules::default();
    for object in objects.of(GROUP, "DestinationRule") {
        read_rule(object, &mut rules, report);
    }
    rules
}

fn read_rule(object: &Object<'_>, rules: &mut DestinationRules, report: &mut Report) {
    let Some(spec) = object.needed_part::<DestinationRuleSpec>("spec", report) else { return };
    let DestinationRuleSpec { host, policy, subsets } = spec.value;
    let Some(host) = host else { return };
    let rule = rules.0.entry(full_name(&host.value.0, &object.metadata.namespace)).or_default();
    let balance = policy.as_ref().and_then(|policy| balance_of(policy, report));
    rule.balance = rule.balance.or(balance);
    for At { value: SubsetSpec { name, labels, policy }, place } in
        subsets.into_iter().flat_map(|list| list.value)
    {
        let Some(name) = name else { continue };
        if let Some(before) = rule.subsets.iter().find(|other| other.name == name.value.0) {
            note_twice(&before.name, place, report);
            continue;
        }
        let balance = policy.as_ref().and_then(|policy| balance_of(policy, report));
        rule.subsets.push(Subset { name: name.value.0, labels: pairs(labels.as_ref()), balance });
    }
}

fn note_twice(name: &str, place: Place, report: &mut Report) {
    report
        .warning(place, format!("the subset `{}` is there already: this one does nothing", shown(name)))
        .hint("give it a name of its own");
}

/// The pairs of a mapping of labels.
pub(super) fn pairs(labels: Option<&At<Labels>>) -> Vec<LabelPair> {
    let entries = labels.into_iter().flat_map(|labels| &labels.value.0);
    entries
        .filter_map(|entry| Some((entry.name.value.0.clone(), entry.value.as_ref()?.value.0.clone())))
        .collect()
}

/// Whether all wanted labels are among those that are there.
pub(super) fn has_labels(there: &[LabelPair], wanted: &[LabelPair]) -> bool {
    wanted.iter().all(|label| there.contains(label))
}

/// Which endpoint is asked by a policy, if it says so; what eddy does otherwise goes to `report`.
fn balance_of(policy: &At<PolicySpec>, report: &mut Report) -> Option<Balance> {
    let PolicySpec { balancer, tls, pool, ejection } = &policy.value;
    let mode = tls.as_ref().and_then(|tls| tls.value.mode.as_ref());
    if let Some(mode) = mode.filter(|mode| !matches!(&*mode.value.0, "DISABLE" | "ISTIO_MUTUAL")) {
        report.objection(mode.place, "eddy takes no TLS towards endpoints from manifests").hint(
            "write the cluster with its `tls` into eddy.yaml; with `--lenient` eddy speaks without TLS",
        );
    }
    if let Some(mode) = mode.filter(|mode| &*mode.value.0 == "ISTIO_MUTUAL") {
        report.warning(mode.place, "eddy is not in the mesh: it speaks to these endpoints without TLS");
    }
    let others =
        [("connectionPool", "pool"), ("outlierDetection", "ejection")].into_iter().zip([pool, ejection]);
    for ((key, own), place) in others.filter_map(|(names, part)| Some((names, part.as_ref()?.place))) {
        report
            .warning(place, format!("eddy has limits of its own, and takes no `{key}` from manifests"))
            .hint(format!("write the cluster with its `{own}` into eddy.yaml"));
    }
    let simple = balancer.as_ref()?.value.simple.as_ref()?;
    match &*simple.value.0 {
        "UNSPECIFIED" => None,
        "LEAST_REQUEST" | "LEAST_CONN" => Some(Balance::LeastRequest),
        "ROUND_ROBIN" => Some(Balance::RoundRobin),
        "RANDOM" => Some(Balance::Random),
        other => {
            report
                .objection(simple.place, format!("eddy has no balancer `{}`", shown(other)))
                .hint("write `LEAST_REQUEST`, `ROUND_ROBIN` or `RANDOM`");
            None
        }
    }
}
