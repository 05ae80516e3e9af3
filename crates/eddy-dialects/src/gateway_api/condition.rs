//! Status conditions of Gateways and routes, as a cluster would show them.

use eddy_spec::{ObjectStatus, PartStatus, StatusCondition};

use super::attach::ParentOutcome;
use super::gateway::{GatewayListener, GatewayObject, ListenerFault};
use super::ref_fault::{RefFault, resolved_refs};
use super::route::GatewayRoute;

/// Returns the status of each Gateway.
pub(super) fn gateway_statuses(gateways: &[GatewayObject]) -> Vec<ObjectStatus> {
    let status = |gateway: &GatewayObject| {
        let is_served = gateway.listeners.iter().any(|listener| listener.fault.is_none());
        let is_whole = gateway.listeners.iter().all(|listener| listener.fault.is_none());
        let accepted = match (&gateway.parameters_fault, &gateway.address_fault) {
            (Some(message), _) => StatusCondition::fails("Accepted", "InvalidParameters", message),
            (None, Some(message)) => StatusCondition::fails("Accepted", "UnsupportedAddress", message),
            (None, None) if is_whole => StatusCondition::holds("Accepted"),
            (None, None) => StatusCondition {
                status: is_served,
                ..StatusCondition::fails("Accepted", "ListenersNotValid", "")
            },
        };
        let programmed = if is_served {
            StatusCondition::holds("Programmed")
        } else {
            StatusCondition::fails("Programmed", "Invalid", "no listener is served")
        };
        let mut parts = vec![PartStatus { conditions: vec![accepted, programmed], ..PartStatus::default() }];
        for listener in &gateway.listeners {
            parts.push(PartStatus {
                part: Some(format!("listener {}", listener.name)),
                conditions: listener_conditions(listener),
                attached_routes: Some(listener.attached),
                supported_kinds: Some(listener.supported_kinds()),
            });
        }
        ObjectStatus {
            kind: "Gateway",
            namespace: gateway.name.namespace.clone(),
            name: gateway.name.name.clone(),
            parts,
        }
    };
    gateways.iter().map(status).collect()
}

/// Returns the status of each route.
pub(super) fn route_statuses(
    routes: &[GatewayRoute],
    gateways: &[GatewayObject],
    outcomes: Vec<Vec<ParentOutcome>>,
    faults: &[Vec<RefFault>],
) -> Vec<ObjectStatus> {
    let mut statuses = Vec::with_capacity(routes.len());
    for ((route, outcomes), faults) in routes.iter().zip(outcomes).zip(faults) {
        let resolved = resolved_refs(faults.first());
        let parts =
            outcomes.into_iter().filter(|outcome| outcome.gateway.is_none_or(|index| index < gateways.len()));
        let parts = parts.map(|outcome| PartStatus {
            part: Some(outcome.parent),
            conditions: vec![outcome.accepted, resolved.clone()],
            ..PartStatus::default()
        });
        statuses.push(ObjectStatus {
            kind: route.kind.name(),
            namespace: route.name.namespace.clone(),
            name: route.name.name.clone(),
            parts: parts.collect(),
        });
    }
    statuses
}

/// Returns the conditions of a listener: accepted, programmed, with resolved references, and conflicted if it is.
fn listener_conditions(listener: &GatewayListener) -> Vec<StatusCondition> {
    let holds = StatusCondition::holds;
    let invalid = |message: &str| StatusCondition::fails("Programmed", "Invalid", message);
    let conflict = |reason| StatusCondition::fails("Accepted", reason, "");
    let [accepted, programmed] = match &listener.fault {
        None => [holds("Accepted"), holds("Programmed")],
        Some(ListenerFault::Protocol) => {
            let message = format!("the protocol `{}` is not supported", listener.protocol);
            [StatusCondition::fails("Accepted", "UnsupportedProtocol", message), invalid("")]
        }
        Some(ListenerFault::Certificate) => [holds("Accepted"), invalid("it has no certificate")],
        Some(ListenerFault::Gateway) => [holds("Accepted"), invalid("its Gateway is not accepted")],
        Some(ListenerFault::Hostname(_)) => [conflict("HostnameConflict"), invalid("")],
        Some(ListenerFault::OtherProtocol(_)) => [conflict("ProtocolConflict"), invalid("")],
    };
    let certificate = listener.tls.as_ref().and_then(|tls| tls.fault.as_ref());
    let resolved = match &listener.wrong_kind {
        Some(message) => StatusCondition::fails("ResolvedRefs", "InvalidRouteKinds", message),
        None => resolved_refs(certificate),
    };
    let reason = accepted.reason;
    let mut conditions = vec![accepted, programmed, resolved];
    if let Some(ListenerFault::Hostname(message) | ListenerFault::OtherProtocol(message)) = &listener.fault {
        let message = message.clone();
        conditions.push(StatusCondition { kind: "Conflicted", status: true, reason, message });
    }
    conditions
}
