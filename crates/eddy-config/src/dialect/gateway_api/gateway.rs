//! Gateways: classes, listeners, and where they listen.

use std::net::IpAddr;
use std::sync::Arc;

use eddy_route::HostPattern;

use super::GROUP;
use super::host::read_host;
use super::seniority::Seniority;
use super::spec::{
    AddressSpec, AllowedRoutesSpec, GatewayClassSpec, GatewaySpec, ListenerSpec, NamespacesSpec, SelectorSpec,
};
use crate::dialect::kubernetes::{Manifests, Object};
use crate::problem::{Place, Report, shown};
use crate::read::At;
use crate::value::ObjectName;

/// A Gateway of ours.
#[derive(Debug)]
pub(super) struct Gateway {
    /// Who it is.
    pub(super) name: ObjectName,
    /// Its place among others.
    pub(super) seniority: Seniority,
    /// Its listeners.
    pub(super) listeners: Vec<Listener>,
    /// The addresses that it names.
    pub(super) addresses: Vec<IpAddr>,
    /// What is wrong with the addresses that it names.
    pub(super) address_fault: Option<String>,
}

/// A listener.
#[derive(Debug)]
pub(super) struct Listener {
    /// Its name.
    pub(super) name: Arc<str>,
    /// The hosts it is for.
    pub(super) hostname: HostPattern,
    /// Its port.
    pub(super) port: u16,
    /// What is spoken there.
    pub(super) protocol: Arc<str>,
    /// The namespaces whose routes may attach.
    pub(super) from: From,
    /// Whether routes of each kind may attach.
    pub(super) takes_http: bool,
    /// The same for GRPCRoutes.
    pub(super) takes_grpc: bool,
    /// A kind that is named and that no listener of ours can take.
    pub(super) wrong_kind: Option<String>,
    /// Why it is not served; nothing while it is.
    pub(super) fault: Option<ListenerFault>,
    /// How many routes are attached.
    pub(super) attached: u32,
    /// Where it is written.
    pub(super) place: Place,
}

/// Why a listener is not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ListenerFault {
    /// Its protocol is not spoken here.
    Protocol,
    /// Another Gateway has it already.
    Hostname(String),
}

/// The namespaces whose routes may attach.
#[derive(Debug)]
pub(super) enum From {
    /// That of the Gateway.
    Same,
    /// All.
    All,
    /// Those whose labels pass.
    Selector(Vec<LabelTest>),
}

/// What must hold of a label.
#[derive(Debug)]
pub(super) struct LabelTest {
    key: Arc<str>,
    kind: LabelTestKind,
}

#[derive(Debug)]
enum LabelTestKind {
    In(Vec<Arc<str>>),
    NotIn(Vec<Arc<str>>),
    Exists,
    Absent,
}

/// Reads the Gateways that are ours, the oldest first.
pub(super) fn read_gateways(manifests: &Manifests<'_, '_>, report: &mut Report) -> Vec<Gateway> {
    let mut classes: Vec<(Arc<str>, Arc<str>)> = Vec::new();
    for object in manifests.objects.of(GROUP, "GatewayClass") {
        let Some(spec) = object.needed_part::<GatewayClassSpec>("spec", report) else { continue };
        let Some(controller) = spec.value.controller else { continue };
        classes.push((object.metadata.name.clone(), controller.value.0));
    }
    let mut gateways: Vec<Gateway> = Vec::new();
    for object in manifests.objects.of(GROUP, "Gateway") {
        let Some(spec) = object.needed_part::<GatewaySpec>("spec", report) else { continue };
        let Some(class) = &spec.value.class else { continue };
        let known = classes.iter().find(|(name, _)| *name == class.value.0);
        if let Some((_, controller)) =
            known.filter(|(_, controller)| !manifests.settings.is_controller(controller))
        {
            let message = format!(
                "{object} is of a class of `{}` and passed over: eddy is `{CONTROLLER}`",
                shown(controller)
            );
            let hint = format!(
                "to have eddy serve it all the same, add to eddy.yaml `kubernetes: {{controllers: [{controller}]}}`"
            );
            report.warning(class.place, message).hint(hint);
            continue;
        }
        gateways.push(Gateway::of(object, spec.value, report));
    }
    gateways.sort_by(|a, b| a.seniority.cmp(&b.seniority));
    gateways
}

impl Gateway {
    fn of(object: &Object<'_>, spec: GatewaySpec, report: &mut Report) -> Self {
        let mut gateway = Self {
            name: ObjectName::of(&object.metadata),
            seniority: Seniority::of(&object.metadata),
            listeners: Vec::new(),
            addresses: Vec::new(),
            address_fault: None,
        };
        for address in spec.addresses.into_iter().flat_map(|addresses| addresses.value) {
            gateway.address(address, report);
        }
        let written = spec.listeners.map(|listeners| (listeners.place, listeners.value));
        if let Some((place, listeners)) = written {
            if listeners.is_empty() || listeners.len() > LISTENERS_MAX {
                report.error(place, format!("a Gateway has 1 to {LISTENERS_MAX} listeners"));
            }
            for listener in listeners {
                gateway.listeners.extend(Listener::of(listener, &gateway.listeners, report));
            }
        }
        gateway
    }

    fn address(&mut self, address: At<AddressSpec>, report: &mut Report) {
        let AddressSpec { kind, value } = address.value;
        let kind = kind.map_or_else(|| "IPAddress".into(), |kind| kind.value.0);
        let Some(value) = value else { return };
        match (&*kind, value.value.0.parse()) {
            ("IPAddress", Ok(address)) => self.addresses.push(address),
            ("IPAddress", Err(_)) => {
                report.error(value.place, format!("`{}` is no address", shown(&value.value.0)));
            }
            _ => {
                let message = format!("addresses of type `{}` can't be listened on", shown(&kind));
                report
                    .warning(address.place, message.clone())
                    .hint("name an address of this machine with `type: IPAddress`");
                self.address_fault = Some(message);
            }
        }
    }
}

impl Listener {
    fn of(spec: At<ListenerSpec>, others: &[Self], report: &mut Report) -> Option<Self> {
        let At { value: spec, place } = spec;
        let (name, port, protocol) = (spec.name?, spec.port?.value.to_u16(), spec.protocol?);
        let hostname = match &spec.hostname {
            Some(hostname) if !hostname.value.0.is_empty() => read_host(hostname, report)?,
            Some(_) | None => HostPattern::Any,
        };
        for other in others {
            if other.name == name.value.0 {
                report.error(
                    name.place,
                    format!("a listener of this Gateway has the name `{}` already", shown(&name.value.0)),
                );
            } else if other.port == port && other.protocol == protocol.value.0 && other.hostname == hostname {
                report.error(
                    place,
                    format!("the listener `{}` has the same port, protocol and hostname", other.name),
                );
            }
        }
        let mut fault = None;
        if &*protocol.value.0 != "HTTP" {
            let message = format!(
                "a listener of the protocol `{}` can't be served: of Gateways, eddy has those of HTTP so far",
                shown(&protocol.value.0)
            );
            report
                .objection(protocol.place, message)
                .hint("leave it out, or put what ends TLS before eddy and write `protocol: HTTP`");
            fault = Some(ListenerFault::Protocol);
        }
        let allowed = spec.allowed.map_or_else(AllowedRoutesSpec::default, |allowed| allowed.value);
        let from = From::of(allowed.namespaces, report);
        let mut listener = Self {
            name: name.value.0,
            hostname,
            port,
            protocol: protocol.value.0,
            from,
            takes_http: allowed.kinds.is_none(),
            takes_grpc: allowed.kinds.is_none(),
            wrong_kind: None,
            fault,
            attached: 0,
            place,
        };
        for kind in allowed.kinds.into_iter().flat_map(|kinds| kinds.value) {
            let is_ours = kind.value.group.is_none_or(|group| &*group.value.0 == GROUP);
            let Some(name) = kind.value.kind else { continue };
            match &*name.value.0 {
                "HTTPRoute" if is_ours => listener.takes_http = true,
                "GRPCRoute" if is_ours => listener.takes_grpc = true,
                other => {
                    let message =
                        format!("routes of kind `{}` can't attach to a listener for HTTP", shown(other));
                    report.warning(name.place, message.clone());
                    listener.wrong_kind = Some(message);
                }
            }
        }
        Some(listener)
    }

    /// Whether routes of a namespace may attach.
    pub(super) fn takes_from(&self, namespace: &str, own: &str, manifests: &Manifests<'_, '_>) -> bool {
        match &self.from {
            From::All => true,
            From::Same => namespace == own,
            From::Selector(tests) => tests.iter().all(|test| {
                // Kubernetes gives each namespace its name as a label.
                let value = if &*test.key == "kubernetes.io/metadata.name" {
                    Some(namespace)
                } else {
                    manifests.objects.label_of_namespace(namespace, &test.key)
                };
                let is_one_of = |values: &[Arc<str>]| {
                    value.is_some_and(|value| values.iter().any(|other| **other == *value))
                };
                match &test.kind {
                    LabelTestKind::In(values) => is_one_of(values),
                    LabelTestKind::NotIn(values) => !is_one_of(values),
                    LabelTestKind::Exists => value.is_some(),
                    LabelTestKind::Absent => value.is_none(),
                }
            }),
        }
    }
}

impl From {
    fn of(spec: Option<At<NamespacesSpec>>, report: &mut Report) -> Self {
        let Some(At { value: NamespacesSpec { from, selector }, place }) = spec else { return Self::Same };
        match from.as_ref().map(|from| &*from.value.0) {
            Some("Same") | None => Self::Same,
            Some("All") => Self::All,
            Some("Selector") => match selector {
                Some(selector) => Self::Selector(tests_of(selector.value, report)),
                None => {
                    report.error(place, "`from: Selector` needs the key `selector`");
                    Self::Selector(Vec::new())
                }
            },
            Some(other) => {
                let place = from.as_ref().map_or(place, |from| from.place);
                report
                    .error(place, format!("expected `Same`, `All` or `Selector`, found `{}`", shown(other)));
                Self::Same
            }
        }
    }
}

fn tests_of(spec: SelectorSpec, report: &mut Report) -> Vec<LabelTest> {
    let mut tests = Vec::new();
    for entry in spec.labels.into_iter().flat_map(|labels| labels.value.0) {
        let Some(value) = entry.value else { continue };
        tests.push(LabelTest { key: entry.name.value.0, kind: LabelTestKind::In(vec![value.value.0]) });
    }
    for At { value: expression, .. } in spec.expressions.into_iter().flat_map(|expressions| expressions.value)
    {
        let (Some(key), Some(operator)) = (expression.key, expression.operator) else { continue };
        let values = expression
            .values
            .into_iter()
            .flat_map(|values| values.value)
            .map(|value| value.value.0)
            .collect();
        let kind = match &*operator.value.0 {
            "In" => LabelTestKind::In(values),
            "NotIn" => LabelTestKind::NotIn(values),
            "Exists" => LabelTestKind::Exists,
            "DoesNotExist" => LabelTestKind::Absent,
            other => {
                let message =
                    format!("expected `In`, `NotIn`, `Exists` or `DoesNotExist`, found `{}`", shown(other));
                report.error(operator.place, message);
                continue;
            }
        };
        tests.push(LabelTest { key: key.value.0, kind });
    }
    tests
}

/// What GatewayClasses call eddy.
pub(crate) const CONTROLLER: &str = "eddy-gateway.github.io/eddy";
/// Most listeners of a Gateway.
const LISTENERS_MAX: usize = 64;
