//! Services: names for endpoints.

use eddy_ids::Shared;
use eddy_spec::problem::{ProblemReport, SourceSpan};
use eddy_spec::read::Spanned;
use eddy_spec::value::Number;

use super::object::Object;
use super::value::{ApiText, PortOrName};

object! {
    /// Spec of a Service: the part that concerns routing.
    ServiceSpec as "a Service spec" {
        /// `ClusterIP`, `NodePort`, `LoadBalancer` or `ExternalName`.
        optional kind "type": ApiText;
        optional ports "ports": Vec<Spanned<ServicePortSpec>>;
        /// DNS name that an `ExternalName` refers to.
        optional external_name "externalName": ApiText;
        /// Cluster IP; `None` for a headless Service, which is only a list of endpoints.
        optional cluster_ip "clusterIP": ApiText;
    }
    passed "allocateLoadBalancerNodePorts" "clusterIPs" "externalIPs" "externalTrafficPolicy"
        "healthCheckNodePort" "internalTrafficPolicy" "ipFamilies" "ipFamilyPolicy" "loadBalancerClass" "loadBalancerIP"
        "loadBalancerSourceRanges" "publishNotReadyAddresses" "selector" "sessionAffinity" "sessionAffinityConfig"
        "trafficDistribution";
}

object! {
    /// Port of a Service.
    ServicePortSpec as "a Service port" {
        optional name "name": ApiText;
        required port "port": Number<1, 65_535>;
        /// Port of the endpoints.
        optional target_port "targetPort": PortOrName;
        /// `TCP`, `UDP` or `SCTP`.
        optional protocol "protocol": ApiText;
        /// Application protocol.
        optional app_protocol "appProtocol": ApiText;
    }
    passed "nodePort";
}

/// Service, checked.
#[derive(Clone, Debug)]
pub(crate) struct KubernetesService {
    /// TCP ports.
    pub(crate) ports: Vec<ServicePort>,
    /// DNS name that an `ExternalName` refers to.
    pub(crate) external_name: Option<Shared<str>>,
    /// Whether it has no cluster IP.
    pub(crate) is_headless: bool,
    pub(crate) place: SourceSpan,
}

/// Port of a Service.
#[derive(Clone, Debug)]
pub(crate) struct ServicePort {
    /// Name of the port; empty when it has none.
    pub(crate) name: Shared<str>,
    pub(crate) number: u16,
    /// Port of the endpoints.
    pub(crate) target: PortOrName,
    /// Application protocol, if given.
    pub(crate) app_protocol: Option<Shared<str>>,
}

impl KubernetesService {
    pub(super) fn read(object: &Object<'_>, report: &mut ProblemReport) -> Self {
        let spec =
            object.part::<ServiceSpec>("spec", report).map_or_else(ServiceSpec::default, |spec| spec.value);
        let mut ports: Vec<ServicePort> = Vec::new();
        for Spanned { value: port, place } in spec.ports.into_iter().flat_map(|ports| ports.value) {
            let Some(number) = port.port else { continue };
            if port.protocol.is_some_and(|protocol| &*protocol.value.0 != "TCP") {
                continue;
            }
            let number = number.value.to_u16();
            let name: Shared<str> = port.name.map_or_else(|| "".into(), |name| name.value.0);
            if ports.iter().any(|other| other.name == name) {
                report.error(place, "each port of a Service with several ports needs its own name");
            }
            let target = port.target_port.map_or(PortOrName::Number(number), |target| target.value);
            let app_protocol = port.app_protocol.map(|protocol| protocol.value.0);
            ports.push(ServicePort { name, number, target, app_protocol });
        }
        let is_external = spec.kind.is_some_and(|kind| &*kind.value.0 == "ExternalName");
        let external_name = spec.external_name.filter(|_| is_external).map(|name| name.value.0);
        if is_external && external_name.is_none() {
            report.error(object.place, "an `ExternalName` needs the key `externalName`");
        }
        let is_headless = spec.cluster_ip.is_some_and(|address| &*address.value.0 == "None");
        Self { ports, external_name, is_headless, place: object.place }
    }
}
