//! Gateways: their classes, listeners and addresses.

use std::net::IpAddr;

use eddy_ids::Shared;
use eddy_route::HostPattern;
use eddy_spec::problem::{ProblemReport, SourceSpan, shown};
use eddy_spec::read::Spanned;
use eddy_spec::value::ObjectName;

use super::class::{Class, parameters_fault};
use super::creation_order::CreationOrder;
use super::host::read_host;
use super::namespace::From;
use super::spec::{AddressSpec, AllowedRoutesSpec, GatewaySpec, ListenerSpec, ListenerTlsSpec};
use super::tls::{Certificates, ListenerCertificates};
use crate::kubernetes::{CONTROLLER, GATEWAY_API, Object};

/// Gateway that eddy serves.
#[derive(Debug)]
pub(super) struct GatewayObject {
    /// Name and namespace.
    pub(super) name: ObjectName,
    /// Precedence among Gateways.
    pub(super) creation_order: CreationOrder,
    pub(super) listeners: Vec<GatewayListener>,
    /// Addresses that it names.
    pub(super) addresses: Vec<IpAddr>,
    /// Problem with the addresses that it names.
    pub(super) address_fault: Option<String>,
    /// Reason why the parameters of the Gateway or its class are unavailable; it is then not served.
    pub(super) parameters_fault: Option<String>,
}

/// Listener of a Gateway.
#[derive(Debug)]
pub(super) struct GatewayListener {
    pub(super) name: Shared<str>,
    /// Hosts that it serves.
    pub(super) hostname: HostPattern,
    pub(super) port: u16,
    pub(super) protocol: Shared<str>,
    /// Certificates, for HTTPS.
    pub(super) tls: Option<ListenerCertificates>,
    /// Namespaces whose routes may attach.
    pub(super) from: From,
    /// Whether HTTPRoutes may attach.
    pub(super) accepts_http: bool,
    /// Whether GRPCRoutes may attach.
    pub(super) accepts_grpc: bool,
    /// Problem with an allowed kind of route that no listener of eddy can take.
    pub(super) wrong_kind: Option<String>,
    /// Reason why it is not served; `None` while it is.
    pub(super) fault: Option<ListenerFault>,
    /// Number of attached routes.
    pub(super) attached: u32,
    pub(super) place: SourceSpan,
}

/// Reason why a listener is not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ListenerFault {
    /// eddy does not support the protocol.
    Protocol,
    /// None of the certificates is available.
    Certificate,
    /// The Gateway is not served.
    Gateway,
    /// Another protocol is already served at the address; a message says by which listener.
    OtherProtocol(String),
    /// Another Gateway already has the host at the address; a message says which.
    Hostname(String),
}

/// Reads the Gateways that eddy serves, oldest first.
pub(super) fn read_gateways(
    certificates: Certificates<'_, '_, '_>,
    classes: &[Class],
    report: &mut ProblemReport,
) -> Vec<GatewayObject> {
    let manifests = certificates.manifests;
    let mut gateways: Vec<GatewayObject> = Vec::new();
    for object in manifests.objects.of(GATEWAY_API, "Gateway") {
        let Some(spec) = object.needed_part::<GatewaySpec>("spec", report) else { continue };
        let Some(class) = &spec.value.class else { continue };
        let known = classes.iter().find(|known| known.name == class.value.0);
        if let Some(Class { controller, .. }) = known.filter(|known| !known.is_ours) {
            let message = format!(
                "{object} is ignored: its class belongs to the controller `{}`, not to `{CONTROLLER}`",
                shown(controller)
            );
            let hint = format!(
                "to serve it with eddy, add to eddy.yaml `kubernetes: {{controllers: [{controller}]}}`"
            );
            report.warning(class.place, message).hint(hint);
            continue;
        }
        gateways.push(GatewayObject::of(object, spec.value, known, certificates, report));
    }
    gateways.sort_by(|a, b| a.creation_order.cmp(&b.creation_order));
    gateways
}

impl GatewayObject {
    fn of(
        object: &Object<'_>,
        spec: GatewaySpec,
        class: Option<&Class>,
        certificates: Certificates<'_, '_, '_>,
        report: &mut ProblemReport,
    ) -> Self {
        let mut gateway = Self {
            name: object.metadata.full_name(),
            creation_order: CreationOrder::of(&object.metadata),
            listeners: Vec::new(),
            addresses: Vec::new(),
            address_fault: None,
            parameters_fault: class.and_then(Class::fault_message),
        };
        let parameters = spec.infrastructure.and_then(|infrastructure| infrastructure.value.parameters);
        if let Some(parameters) = parameters {
            let controller = class.map_or(CONTROLLER, |class| &*class.controller);
            gateway.parameters_fault = parameters_fault(&parameters, controller, report);
        }
        for address in spec.addresses.into_iter().flat_map(|addresses| addresses.value) {
            gateway.address(address, report);
        }
        if let Some(Spanned { value: listeners, place }) = spec.listeners {
            if listeners.is_empty() || listeners.len() > LISTENERS_MAX {
                report.error(place, format!("a Gateway needs 1 to {LISTENERS_MAX} listeners"));
            }
            for listener in listeners {
                let listener = GatewayListener::of(listener, &gateway, certificates, report);
                gateway.listeners.extend(listener);
            }
        }
        gateway
    }

    fn address(&mut self, address: Spanned<AddressSpec>, report: &mut ProblemReport) {
        let AddressSpec { kind, value } = address.value;
        let kind = kind.map_or_else(|| "IPAddress".into(), |kind| kind.value.0);
        let Some(value) = value else { return };
        match (&*kind, value.value.0.parse()) {
            ("IPAddress", Ok(address)) => self.addresses.push(address),
            ("IPAddress", Err(_)) => {
                report.error(value.place, format!("`{}` is not an IP address", shown(&value.value.0)));
            }
            _ => {
                let message = format!("eddy can't listen on an address of type `{}`", shown(&kind));
                report
                    .warning(address.place, message.clone())
                    .hint("write an address of this machine with `type: IPAddress`");
                self.address_fault = Some(message);
            }
        }
    }
}

impl GatewayListener {
    fn of(
        spec: Spanned<ListenerSpec>,
        gateway: &GatewayObject,
        certificates: Certificates<'_, '_, '_>,
        report: &mut ProblemReport,
    ) -> Option<Self> {
        let Spanned { value: spec, place } = spec;
        let (name, port, protocol) = (spec.name?, spec.port?.value.to_u16(), spec.protocol?);
        let hostname = match &spec.hostname {
            Some(hostname) if !hostname.value.0.is_empty() => read_host(hostname, report)?,
            Some(_) | None => HostPattern::Any,
        };
        for other in &gateway.listeners {
            if other.name == name.value.0 {
                report.error(
                    name.place,
                    format!("another listener of this Gateway has the name `{}`", shown(&name.value.0)),
                );
            } else if other.port == port && other.protocol == protocol.value.0 && other.hostname == hostname {
                report.error(
                    place,
                    format!("the listener `{}` has the same port, protocol and hostname", other.name),
                );
            }
        }
        let mut fault = gateway.parameters_fault.as_ref().map(|_| ListenerFault::Gateway);
        let tls = match (&*protocol.value.0, spec.tls) {
            ("HTTP", Some(tls)) => {
                report
                    .error(tls.place, "an HTTP listener can't have `tls`")
                    .hint("write `protocol: HTTPS`, or leave `tls` out");
                None
            }
            ("HTTP", None) => None,
            ("HTTPS", tls) => {
                let shown = certificates.read(tls, &gateway.name.namespace, &hostname, report);
                if shown.certificates.is_empty() {
                    report.warning(place, "this listener is not served: it has no certificate");
                    fault = Some(ListenerFault::Certificate);
                }
                Some(shown)
            }
            (other, tls) => {
                note_protocol(other, tls.as_ref(), protocol.place, report);
                fault = Some(ListenerFault::Protocol);
                None
            }
        };
        let allowed = spec.allowed.map_or_else(AllowedRoutesSpec::default, |allowed| allowed.value);
        let from = From::of(allowed.namespaces, report);
        let is_spoken = fault != Some(ListenerFault::Protocol);
        let mut listener = Self {
            name: name.value.0,
            hostname,
            port,
            protocol: protocol.value.0,
            tls,
            from,
            accepts_http: is_spoken && allowed.kinds.is_none(),
            accepts_grpc: is_spoken && allowed.kinds.is_none(),
            wrong_kind: None,
            fault,
            attached: 0,
            place,
        };
        for kind in allowed.kinds.into_iter().flat_map(|kinds| kinds.value) {
            let is_ours = kind.value.group.is_none_or(|group| &*group.value.0 == GATEWAY_API);
            let Some(name) = kind.value.kind else { continue };
            match &*name.value.0 {
                "HTTPRoute" if is_ours && is_spoken => listener.accepts_http = true,
                "GRPCRoute" if is_ours && is_spoken => listener.accepts_grpc = true,
                // The protocol is reported already.
                _ if !is_spoken => {}
                other => {
                    let message =
                        format!("routes of kind `{}` can't attach to an HTTP listener", shown(other));
                    report.warning(name.place, message.clone());
                    listener.wrong_kind = Some(message);
                }
            }
        }
        Some(listener)
    }

    /// Returns the kinds of routes that may attach.
    pub(super) fn supported_kinds(&self) -> Vec<&'static str> {
        let kinds = [(self.accepts_http, "HTTPRoute"), (self.accepts_grpc, "GRPCRoute")];
        kinds.into_iter().filter(|(takes, _)| *takes).map(|(_, kind)| kind).collect()
    }
}

/// Reports why a protocol is not served.
fn note_protocol(
    protocol: &str,
    tls: Option<&Spanned<ListenerTlsSpec>>,
    place: SourceSpan,
    report: &mut ProblemReport,
) {
    let mode = tls.and_then(|tls| tls.value.mode.as_ref()).map(|mode| &*mode.value.0);
    if let ("TLS", Some("Passthrough")) = (protocol, mode) {
        report
            .warning(place, "this listener is not served: eddy does not support TLS passthrough (`Passthrough`) on Gateways, only HTTP and HTTPS")
            .hint("to forward connections by SNI, write a listener with `forward` in eddy.yaml");
        return;
    }
    let message = format!(
        "this listener is not served: eddy supports HTTP and HTTPS on Gateways, not the protocol `{}`",
        shown(protocol)
    );
    report.warning(place, message).hint("for HTTP over TLS, write `protocol: HTTPS` with a certificate");
}

/// Maximum number of listeners of a Gateway.
const LISTENERS_MAX: usize = 64;
