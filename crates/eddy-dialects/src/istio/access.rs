//! Policies that restrict who may send requests. eddy does not enforce them, so it must not serve what they protect.

use eddy_ids::Shared;
use eddy_spec::problem::ProblemReport;

use super::gateway::IstioGateway;
use super::label::{LabelPair, has_labels, pairs};
use super::spec::AccessPolicySpec;
use crate::kubernetes::{GATEWAY_API, ISTIO_SECURITY, Object, Objects};

/// Reports each policy: an error, also with `--lenient`, unless it is for other workloads than a gateway.
pub(super) fn judge_policies(objects: &Objects<'_>, gateways: &[IstioGateway], report: &mut ProblemReport) {
    let workloads = gateway_workloads(objects, gateways);
    for object in KINDS.into_iter().flat_map(|kind| objects.of(ISTIO_SECURITY, kind)) {
        let policy = AccessPolicy::read(object, report);
        let kind = object.kind.name;
        if policy.is_none_or(|policy| policy.applies_to_any(&workloads)) {
            report
                .error(object.place, format!("this {kind} restricts access to a gateway, and eddy does not support it"))
                .hint(
                    "protect the routes with filters in eddy.yaml, such as `basic_auth` and `ip_access`, then remove it",
                );
        } else {
            report.warning(object.place, format!("eddy does not read this {kind}: it is not for a gateway"));
        }
    }
}

/// Workloads that a policy restricts.
#[derive(Debug)]
struct AccessPolicy {
    namespace: Shared<str>,
    /// Labels of the workloads; none for all workloads of its namespace.
    labels: Vec<LabelPair>,
    /// Whether it names what it applies to, such as a Gateway, instead of labels.
    has_targets: bool,
}

impl AccessPolicy {
    /// Returns `None` for a policy whose spec is invalid, which goes to `report`.
    fn read(object: &Object<'_>, report: &mut ProblemReport) -> Option<Self> {
        let namespace = object.metadata.namespace.clone();
        let has_spec = object.node.entry("spec").is_some_and(|entry| !entry.value.is_nothing());
        if !has_spec {
            return Some(Self { namespace, labels: Vec::new(), has_targets: false });
        }
        let AccessPolicySpec { selector, target, targets } = object.part("spec", report)?.value;
        let labels = selector.as_ref().map(|selector| pairs(selector.value.labels.as_ref()));
        Some(Self {
            namespace,
            labels: labels.unwrap_or_default(),
            has_targets: target.is_some() || targets.is_some(),
        })
    }

    fn applies_to_any(&self, workloads: &[GatewayWorkload]) -> bool {
        self.has_targets || workloads.iter().any(|workload| self.applies_to(workload))
    }

    fn applies_to(&self, workload: &GatewayWorkload) -> bool {
        let is_in_reach = match &workload.namespace {
            Some(namespace) => *namespace == self.namespace || *self.namespace == *ROOT_NAMESPACE,
            None => !self.labels.is_empty(),
        };
        is_in_reach && has_labels(&workload.labels, &self.labels)
    }
}

/// The Pods that Istio would run a Gateway on.
#[derive(Debug)]
struct GatewayWorkload {
    /// Namespace; `None` for Pods in any namespace, which only a policy with labels is known to apply to.
    namespace: Option<Shared<str>>,
    labels: Vec<LabelPair>,
}

/// Returns the workloads of all Gateways, those of the Gateway API included.
fn gateway_workloads(objects: &Objects<'_>, gateways: &[IstioGateway]) -> Vec<GatewayWorkload> {
    // The selector of a Gateway is for Pods in all namespaces.
    let selected = gateways.iter().flat_map(|gateway| {
        [Some(gateway.name.namespace.clone()), None]
            .map(|namespace| GatewayWorkload { namespace, labels: gateway.selector.clone() })
    });
    // Istio creates the Pods of these Gateways, with labels that name the Gateway.
    let created = objects.of(GATEWAY_API, "Gateway").map(|gateway| GatewayWorkload {
        namespace: Some(gateway.metadata.namespace.clone()),
        labels: GATEWAY_NAME_LABELS.map(|label| (label.into(), gateway.metadata.name.clone())).to_vec(),
    });
    selected.chain(created).collect()
}

/// Kinds of policies that decide who may send a request.
const KINDS: [&str; 2] = ["AuthorizationPolicy", "RequestAuthentication"];
/// Labels with the name of the Gateway.
const GATEWAY_NAME_LABELS: [&str; 2] = ["gateway.networking.k8s.io/gateway-name", "istio.io/gateway-name"];
/// Namespace whose policies apply to the whole mesh, unless the mesh names another one.
const ROOT_NAMESPACE: &str = "istio-system";

#[cfg(test)]
mod tests {
    use eddy_spec::Leniency;
    use eddy_spec::problem::{ProblemReport, SourceText};
    use eddy_spec::yaml::parse_documents;

    use super::judge_policies;
    use crate::istio::gateway::read_gateway;
    use crate::kubernetes::{ISTIO_NETWORKING, Secrets, read_objects};

    /// Returns the problems of a policy beside Gateways, and whether one is an error, with `--lenient`.
    fn judge(text: &str) -> (Vec<String>, bool) {
        let mut report = ProblemReport::new();
        report.with(Leniency::Lenient, |report| {
            let objects = read_objects(parse_documents(text, 0, report).roots, report);
            let secrets = Secrets::default();
            let gateways: Vec<_> = objects
                .of(ISTIO_NETWORKING, "Gateway")
                .filter_map(|gateway| read_gateway(gateway, &secrets, &[], report))
                .collect();
            judge_policies(&objects, &gateways, report);
        });
        let has_errors = report.has_errors();
        let problems = report.into_problems(&[SourceText::new("a.yaml", "")]);
        (problems.iter().map(ToString::to_string).collect(), has_errors)
    }

    #[test]
    fn a_policy_that_protects_a_gateway_is_never_ignored() {
        let gateway = "{apiVersion: networking.istio.io/v1, kind: Gateway, metadata: {name: g, namespace: edge}, \
                       spec: {servers: [], selector: {istio: ingressgateway, app: edge}}}\n---\n";
        for kind in ["AuthorizationPolicy", "RequestAuthentication"] {
            for (metadata, spec, is_error) in [
                ("{name: p, namespace: edge}", "{}", true),
                ("{name: p, namespace: istio-system}", "{}", true),
                ("{name: p, namespace: edge}", "{selector: {matchLabels: {app: edge}}}", true),
                ("{name: p}", "{targetRefs: [{kind: Gateway, name: g}]}", true),
                ("{name: p, namespace: other}", "{selector: {matchLabels: {app: edge}}}", true),
                ("{name: p}", "{}", false),
                ("{name: p, namespace: edge}", "{selector: {matchLabels: {app: web}}}", false),
                ("{name: p, namespace: istio-system}", "{selector: {matchLabels: {app: edge, x: z}}}", false),
            ] {
                let policy = format!(
                    "{{apiVersion: security.istio.io/v1, kind: {kind}, metadata: {metadata}, spec: {spec}}}"
                );
                // The order of the documents does not matter.
                for text in [format!("{gateway}{policy}"), format!("{policy}\n---\n{gateway}")] {
                    let (problems, has_errors) = judge(&text);
                    assert_eq!(has_errors, is_error, "{text}: {problems:#?}");
                    assert_eq!(problems.len(), 1, "{text}: {problems:#?}");
                }
            }
        }
    }

    #[test]
    fn a_policy_for_the_pods_of_a_kubernetes_gateway_is_an_error() {
        let gateway =
            "{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: g}, spec: {}}\n---\n";
        for (labels, is_error) in [
            ("gateway.networking.k8s.io/gateway-name: g", true),
            ("istio.io/gateway-name: g", true),
            ("istio.io/gateway-name: other", false),
        ] {
            let policy = format!(
                "{{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {{name: p}}, \
                 spec: {{selector: {{matchLabels: {{{labels}}}}}}}}}"
            );
            assert_eq!(judge(&format!("{gateway}{policy}")).1, is_error, "{labels}");
        }
    }

    #[test]
    fn a_policy_that_cannot_be_read_is_an_error() {
        let policy =
            "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p}, spec: no}";
        assert!(judge(policy).1);
        let version =
            "{apiVersion: security.istio.io/v1alpha1, kind: AuthorizationPolicy, metadata: {name: p}}";
        assert!(judge(version).1);
    }
}
