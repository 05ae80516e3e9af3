//! Objects of the kinds that eddy reads.

use std::fmt;

use eddy_spec::problem::{ProblemReport, SourceSpan};
use eddy_spec::read::{FromNode, Spanned};
use eddy_spec::yaml::{YamlNode, YamlNodeKind};

use super::metadata::ObjectMetadata;

/// Kind of object that eddy reads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ObjectKind {
    /// API group; empty for the core group.
    pub(crate) group: &'static str,
    pub(crate) name: &'static str,
    /// API versions that eddy reads.
    pub(crate) versions: &'static [&'static str],
    /// Whether its objects belong to namespaces.
    pub(crate) is_namespaced: bool,
    /// Outermost keys besides `apiVersion`, `kind`, `metadata` and `status`.
    pub(crate) keys: &'static [&'static str],
}

/// API group of the Gateway API.
pub(crate) const GATEWAY_API: &str = "gateway.networking.k8s.io";
/// API group of Istio's traffic objects.
pub(crate) const ISTIO_NETWORKING: &str = "networking.istio.io";
/// API group of Istio's access policies.
pub(crate) const ISTIO_SECURITY: &str = "security.istio.io";

/// All kinds that eddy reads.
pub(crate) const KINDS: &[ObjectKind] = &[
    kind("", "Service", &["v1"]),
    kind("", "Pod", &["v1"]),
    ObjectKind { is_namespaced: false, ..kind("", "Namespace", &["v1"]) },
    ObjectKind { keys: &["type", "data", "stringData", "immutable"], ..kind("", "Secret", &["v1"]) },
    ObjectKind { keys: &["data", "binaryData", "immutable"], ..kind("", "ConfigMap", &["v1"]) },
    ObjectKind {
        keys: &["addressType", "endpoints", "ports"],
        ..kind("discovery.k8s.io", "EndpointSlice", &["v1"])
    },
    kind("networking.k8s.io", "Ingress", &["v1"]),
    ObjectKind { is_namespaced: false, ..kind("networking.k8s.io", "IngressClass", &["v1"]) },
    ObjectKind { is_namespaced: false, ..kind(GATEWAY_API, "GatewayClass", &["v1", "v1beta1"]) },
    kind(GATEWAY_API, "Gateway", &["v1", "v1beta1"]),
    kind(GATEWAY_API, "HTTPRoute", &["v1", "v1beta1"]),
    kind(GATEWAY_API, "GRPCRoute", &["v1"]),
    kind(GATEWAY_API, "ReferenceGrant", &["v1", "v1beta1"]),
    kind(GATEWAY_API, "BackendTLSPolicy", &["v1", "v1alpha3"]),
    kind(ISTIO_NETWORKING, "Gateway", &["v1", "v1beta1", "v1alpha3"]),
    kind(ISTIO_NETWORKING, "VirtualService", &["v1", "v1beta1", "v1alpha3"]),
    kind(ISTIO_NETWORKING, "DestinationRule", &["v1", "v1beta1", "v1alpha3"]),
    kind(ISTIO_NETWORKING, "ServiceEntry", &["v1", "v1beta1", "v1alpha3"]),
    kind(ISTIO_SECURITY, "AuthorizationPolicy", &["v1", "v1beta1"]),
    kind(ISTIO_SECURITY, "RequestAuthentication", &["v1", "v1beta1"]),
];

/// Returns a kind of namespaced objects with a `spec`.
const fn kind(group: &'static str, name: &'static str, versions: &'static [&'static str]) -> ObjectKind {
    ObjectKind { group, name, versions, is_namespaced: true, keys: &["spec"] }
}

/// Object of a kind that eddy reads.
#[derive(Clone, Debug)]
pub(crate) struct Object<'t> {
    pub(crate) kind: &'static ObjectKind,
    /// Name, namespace, labels and annotations.
    pub(crate) metadata: ObjectMetadata,
    /// The whole object.
    pub(crate) node: YamlNode<'t>,
    /// Source position of its start.
    pub(crate) place: SourceSpan,
}

/// Objects of all texts, in order.
#[derive(Debug, Default)]
pub(crate) struct Objects<'t> {
    /// The objects, without duplicates.
    pub(crate) list: Vec<Object<'t>>,
}

impl<'t> Objects<'t> {
    /// Returns the objects of a kind in an API group, in the order of the texts.
    pub(crate) fn of<'o>(&'o self, group: &str, kind: &str) -> impl Iterator<Item = &'o Object<'t>> {
        self.list.iter().filter(move |object| object.kind.group == group && object.kind.name == kind)
    }

    /// Returns the value of a label of a namespace. Callers handle `kubernetes.io/metadata.name`, the name as a label,
    /// themselves.
    pub(crate) fn namespace_label(&self, name: &str, label: &str) -> Option<&str> {
        let namespace = self.of("", "Namespace").find(|object| *object.metadata.name == *name)?;
        namespace.metadata.label(label)
    }
}

impl Object<'_> {
    /// Reads the value of `key`. Returns `None` when there is none, or when it is invalid; that is reported.
    pub(crate) fn part<T: FromNode>(&self, key: &str, report: &mut ProblemReport) -> Option<Spanned<T>> {
        let entry = self.node.entry(key)?;
        if entry.value.is_nothing() { None } else { Spanned::read(&entry.value, report) }
    }

    /// Reads the value of `key` like [`Self::part`]; a missing key is an error.
    pub(crate) fn needed_part<T: FromNode>(
        &self,
        key: &str,
        report: &mut ProblemReport,
    ) -> Option<Spanned<T>> {
        let is_there = self.node.entry(key).is_some_and(|entry| !entry.value.is_nothing());
        let is_whole = matches!(self.node.form, YamlNodeKind::Mapping { is_whole: true, .. });
        if !is_there && is_whole {
            report.error(self.place, format!("{} needs the key `{key}`", self.kind.article()));
        }
        self.part(key, report)
    }
}

impl fmt::Display for Object<'_> {
    /// Writes kind, namespace and name: `HTTPRoute default/users`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ObjectMetadata { name, namespace, .. } = &self.metadata;
        match &**namespace {
            "" => write!(out, "{} {name}", self.kind.name),
            namespace => write!(out, "{} {namespace}/{name}", self.kind.name),
        }
    }
}

impl ObjectKind {
    /// Returns the kind with its article: `a Service`.
    pub(crate) fn article(&self) -> String {
        let article = if self.name.starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" };
        format!("{article} {}", self.name)
    }
}
