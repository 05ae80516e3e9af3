//! Policies that restrict who may send requests, which eddy does not read: it must not serve what they protect.

use crate::problem::{ProblemReport, SourceSpan};
use crate::yaml::{YamlNode, YamlNodeKind};

use super::object::Objects;

/// An object that restricts access.
#[derive(Debug)]
pub(super) struct AccessPolicy {
    place: SourceSpan,
    kind: &'static str,
    namespace: String,
    /// Labels of the workloads that it applies to; none for all workloads of its namespace.
    labels: Vec<(String, String)>,
    /// Whether it names what it applies to, such as a Gateway, instead of labels.
    has_targets: bool,
}

impl AccessPolicy {
    /// Reads a policy, if an object of this group and kind is one.
    pub(super) fn read(group: &str, kind: &str, node: &YamlNode<'_>) -> Option<Self> {
        let (_, kind) = KINDS.into_iter().find(|known| *known == (group, kind))?;
        let spec = entry(node, "spec");
        let selector = spec.and_then(|spec| entry(spec, "selector"));
        let namespace =
            entry(node, "metadata").and_then(|metadata| entry(metadata, "namespace")).and_then(text);
        Some(Self {
            place: node.place,
            kind,
            namespace: namespace.unwrap_or("default").to_owned(),
            labels: selector
                .and_then(|selector| entry(selector, "matchLabels"))
                .map(labels)
                .unwrap_or_default(),
            has_targets: spec
                .is_some_and(|spec| ["targetRef", "targetRefs"].iter().any(|key| spec.entry(key).is_some())),
        })
    }

    /// Reports the policy: an error, also with `--lenient`, unless it is for other workloads than a gateway.
    pub(super) fn report(&self, gateways: &[GatewayWorkload], report: &mut ProblemReport) {
        let Self { place, kind, .. } = self;
        if self.has_targets || gateways.iter().any(|gateway| self.applies_to(gateway)) {
            report
                .error(*place, format!("this {kind} restricts access to a gateway, and eddy does not support it"))
                .hint(
                    "protect the routes with filters in eddy.yaml, such as `basic_auth` and `ip_access`, then remove it",
                );
        } else {
            report.warning(*place, format!("eddy does not read this {kind}: it is not for a gateway"));
        }
    }

    fn applies_to(&self, gateway: &GatewayWorkload) -> bool {
        let is_in_reach = self.namespace == gateway.namespace || self.namespace == ROOT_NAMESPACE;
        is_in_reach && self.labels.iter().all(|label| gateway.labels.contains(label))
    }
}

/// The Pods that Istio would run a Gateway on.
#[derive(Debug)]
pub(super) struct GatewayWorkload {
    namespace: String,
    labels: Vec<(String, String)>,
}

impl GatewayWorkload {
    /// Returns the workloads of all Gateways.
    pub(super) fn of(objects: &Objects<'_>) -> Vec<Self> {
        let gateways = objects.list.iter().filter(|object| object.kind.name == "Gateway");
        let workload = |spec: Option<&YamlNode<'_>>, namespace: &str| Self {
            namespace: namespace.to_owned(),
            labels: spec.and_then(|spec| entry(spec, "selector")).map(labels).unwrap_or_default(),
        };
        gateways.map(|gateway| workload(entry(&gateway.node, "spec"), &gateway.metadata.namespace)).collect()
    }
}

fn entry<'n, 't>(node: &'n YamlNode<'t>, key: &str) -> Option<&'n YamlNode<'t>> {
    node.entry(key).map(|entry| &entry.value)
}

fn text<'n>(node: &'n YamlNode<'_>) -> Option<&'n str> {
    match &node.form {
        YamlNodeKind::Text { text, .. } => Some(text),
        YamlNodeKind::List(_) | YamlNodeKind::Mapping { .. } | YamlNodeKind::Refused => None,
    }
}

fn labels(node: &YamlNode<'_>) -> Vec<(String, String)> {
    let YamlNodeKind::Mapping { entries, .. } = &node.form else { return Vec::new() };
    let label = |entry: &crate::yaml::YamlEntry<'_>| {
        Some((entry.key.text.clone().into_owned(), text(&entry.value)?.to_owned()))
    };
    entries.iter().filter_map(label).collect()
}

/// Policies of Istio that decide who may send a request.
const KINDS: [(&str, &str); 2] =
    [("security.istio.io", "AuthorizationPolicy"), ("security.istio.io", "RequestAuthentication")];
/// Namespace whose policies apply to the whole mesh, unless the mesh names another one.
const ROOT_NAMESPACE: &str = "istio-system";
