//! EndpointSlices: the addresses of a Service's endpoints.

use std::net::IpAddr;

use eddy_ids::Shared;
use eddy_model::EndpointAddress;
use eddy_spec::problem::{ProblemReport, shown};
use eddy_spec::read::{FromScalar, Spanned};
use eddy_spec::value::{EndpointAddressText, Number};

use super::object::Object;
use super::value::ApiText;

object! {
    /// Endpoint of a slice.
    EndpointSpec as "an endpoint" {
        /// Addresses, all of the same endpoint.
        required addresses "addresses": Vec<Spanned<ApiText>>;
        /// Readiness of the endpoint.
        optional conditions "conditions": ConditionsSpec;
        /// Object behind the endpoint.
        optional target "targetRef": TargetSpec;
    }
    passed "deprecatedTopology" "hints" "hostname" "nodeName" "zone";
}

object! {
    /// Readiness of an endpoint.
    ConditionsSpec as "the conditions of an endpoint" {
        /// Whether it accepts requests.
        optional ready "ready": bool;
        /// Whether it would accept requests if it were not terminating.
        optional serving "serving": bool;
        /// Whether it is terminating.
        optional terminating "terminating": bool;
    }
}

object! {
    /// Port of all endpoints of a slice.
    PortSpec as "an EndpointSlice port" {
        /// Name of the Service port.
        optional name "name": ApiText;
        optional port "port": Number<1, 65_535>;
        /// `TCP`, `UDP` or `SCTP`.
        optional protocol "protocol": ApiText;
    }
    passed "appProtocol";
}

object! {
    /// Object behind an endpoint.
    TargetSpec as "an object reference" {
        optional kind "kind": ApiText;
        optional name "name": ApiText;
    }
    passed "apiVersion" "fieldPath" "namespace" "resourceVersion" "uid";
}

/// Endpoints of a Service.
#[derive(Clone, Debug)]
pub(crate) struct Slice {
    pub(crate) endpoints: Vec<SliceEndpoint>,
    /// Names and numbers of the TCP ports that each endpoint has.
    pub(crate) ports: Vec<(Shared<str>, u16)>,
}

/// Endpoint of a slice.
#[derive(Clone, Debug)]
pub(crate) struct SliceEndpoint {
    /// IP address or DNS name.
    pub(crate) host: Shared<str>,
    /// Whether it accepts requests.
    pub(crate) is_ready: bool,
    /// Whether it accepts requests while terminating.
    pub(crate) is_last_resort: bool,
    /// Pod behind the endpoint, if given; in the namespace of the slice.
    pub(crate) pod: Option<Shared<str>>,
}

impl Slice {
    /// Returns the name of the Service that the slice belongs to.
    pub(super) fn service_of(object: &Object<'_>) -> Option<Shared<str>> {
        object.metadata.label(SERVICE_LABEL).map(Into::into)
    }

    pub(super) fn read(object: &Object<'_>, report: &mut ProblemReport) -> Self {
        let kind = object.needed_part::<ApiText>("addressType", report);
        let is_address = match kind.as_ref().map(|kind| &*kind.value.0) {
            Some("FQDN") => false,
            Some("IPv4" | "IPv6") | None => true,
            Some(other) => {
                let place = kind.as_ref().map_or(object.place, |kind| kind.place);
                let message = format!("expected `IPv4`, `IPv6` or `FQDN`, found `{}`", shown(other));
                report.error(place, message);
                true
            }
        };
        let mut endpoints = Vec::new();
        let specs = object.part::<Vec<Spanned<EndpointSpec>>>("endpoints", report);
        for spec in specs.into_iter().flat_map(|specs| specs.value) {
            let conditions = spec.value.conditions.map_or_else(ConditionsSpec::default, |spec| spec.value);
            let is = |condition: Option<Spanned<bool>>| condition.is_some_and(|condition| condition.value);
            let is_ready = conditions.ready.is_none_or(|ready| ready.value);
            // Only the first address is used, as in kube-proxy.
            let addresses = spec.value.addresses.map_or_else(Vec::new, |addresses| addresses.value);
            let Some(Spanned { value: ApiText(host), place }) = addresses.into_iter().next() else {
                continue;
            };
            if is_address && host.parse::<IpAddr>().is_err() {
                report.error(place, format!("expected an IP address, found `{}`", shown(&host)));
                continue;
            }
            let is_last_resort = is(conditions.serving) && is(conditions.terminating);
            let pod = spec.value.target.map(|target| target.value);
            let pod = pod.filter(|target| target.kind.as_ref().is_none_or(|kind| &*kind.value.0 == "Pod"));
            let pod = pod.and_then(|target| Some(target.name?.value.0));
            endpoints.push(SliceEndpoint { host, is_ready, is_last_resort, pod });
        }
        let ports = object.part::<Vec<Spanned<PortSpec>>>("ports", report);
        let ports = ports.into_iter().flat_map(|ports| ports.value).filter_map(|port| {
            let PortSpec { name, port, protocol } = port.value;
            let is_tcp = protocol.is_none_or(|protocol| &*protocol.value.0 == "TCP");
            let name = name.map_or_else(|| "".into(), |name| name.value.0);
            port.filter(|_| is_tcp).map(|port| (name, port.value.to_u16()))
        });
        let ports = ports.collect();
        Self { endpoints, ports }
    }
}

/// Returns the endpoint of a host and port, or `None` when the name is invalid.
pub(super) fn address_of(host: &str, port: u16) -> Option<EndpointAddress> {
    let text = match host.parse::<IpAddr>() {
        Ok(IpAddr::V6(address)) => format!("[{address}]:{port}"),
        Ok(IpAddr::V4(_)) | Err(_) => format!("{}:{port}", host.strip_suffix('.').unwrap_or(host)),
    };
    EndpointAddressText::parse(&text).ok().map(|EndpointAddressText(address)| address)
}

/// Label with the Service name of a slice.
const SERVICE_LABEL: &str = "kubernetes.io/service-name";
