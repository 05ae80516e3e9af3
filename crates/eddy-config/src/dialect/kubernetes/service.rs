//! Services: names for endpoints.

use std::sync::Arc;

use super::object::Object;
use super::value::{ApiText, PortOrName};
use crate::problem::{ProblemReport, SourceSpan};
use crate::read::Spanned;
use crate::value::Number;

object! {
    /// The spec of a Service, as far as it says where requests go.
    ServiceSpec as "the spec of a Service" {
        /// `ClusterIP`, `NodePort`, `LoadBalancer` or `ExternalName`.
        optional kind "type": ApiText;
        /// Its ports.
        optional ports "ports": Vec<Spanned<ServicePortSpec>>;
        /// The name that an `ExternalName` stands for.
        optional external_name "externalName": ApiText;
        /// Its address in the cluster; `None` for a Service that is a list of endpoints and no more.
        optional cluster_ip "clusterIP": ApiText;
        passed "allocateLoadBalancerNodePorts" "clusterIPs" "externalIPs" "externalTrafficPolicy"
            "healthCheckNodePort" "internalTrafficPolicy" "ipFamilies" "ipFamilyPolicy" "loadBalancerClass" "loadBalancerIP"
            "loadBalancerSourceRanges" "publishNotReadyAddresses" "selector" "sessionAffinity" "sessionAffinityConfig"
            "trafficDistribution";
    }
}

object! {
    /// A port of a Service.
    ServicePortSpec as "a port of a Service" {
        /// Its name.
        optional name "name": ApiText;
        /// Its number.
        required port "port": Number<1, 65_535>;
        /// The port of the endpoints.
        optional target_port "targetPort": PortOrName;
        /// `TCP`, `UDP` or `SCTP`.
        optional protocol "protocol": ApiText;
        /// What is spoken there.
        optional app_protocol "appProtocol": ApiText;
        passed "nodePort";
    }
}

/// A Service, made ready.
#[derive(Clone, Debug)]
pub(crate) struct KubernetesService {
    /// Its ports, TCP ones alone.
    pub(crate) ports: Vec<ServicePort>,
    /// The name it stands for, if it is an `ExternalName`.
    pub(crate) external_name: Option<Arc<str>>,
    /// Whether it has no address of its own.
    pub(crate) is_headless: bool,
    /// Where it is written.
    pub(crate) place: SourceSpan,
}

/// A port of a Service.
#[derive(Clone, Debug)]
pub(crate) struct ServicePort {
    /// Its name; empty where it has none.
    pub(crate) name: Arc<str>,
    /// Its number.
    pub(crate) number: u16,
    /// The port of the endpoints.
    pub(crate) target: PortOrName,
    /// What is spoken there, where that is said.
    pub(crate) app_protocol: Option<Arc<str>>,
}

impl KubernetesService {
    /// Reads a Service; what is wrong with it goes to `report`.
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
            let name: Arc<str> = port.name.map_or_else(|| "".into(), |name| name.value.0);
            if ports.iter().any(|other| other.name == name) {
                report.error(place, "a Service with several ports gives each a name of its own");
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
