//! Status conditions of Gateways and routes, as a cluster would show them.

use eddy_spec::{ObjectStatus, PartStatus, StatusCondition};

use super::attach::ParentOutcome;
use super::gateway::{GatewayObject, ListenerFault};
use super::ref_fault::RefFault;
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
            let (accepted, programmed, conflicted) = match &listener.fault {
                None => (StatusCondition::holds("Accepted"), StatusCondition::holds("Programmed"), None),
                Some(ListenerFault::Protocol) => (
                    StatusCondition::fails(
                        "Accepted",
                        "UnsupportedProtocol",
                        format!("the protocol `{}` is not supported", listener.protocol),
                    ),
                    StatusCondition::fails("Programmed", "Invalid", ""),
                    None,
                ),
                Some(ListenerFault::Certificate) => (
                    StatusCondition::holds("Accepted"),
                    StatusCondition::fails("Programmed", "Invalid", "it has no certificate"),
                    None,
                ),
                Some(ListenerFault::Gateway) => (
                    StatusCondition::holds("Accepted"),
                    StatusCondition::fails("Programmed", "Invalid", "its Gateway is not accepted"),
                    None,
                ),
                Some(ListenerFault::Hostname(message)) => conflict("HostnameConflict", message),
                Some(ListenerFault::OtherProtocol(message)) => conflict("ProtocolConflict", message),
            };
            let certificate = listener.tls.as_ref().and_then(|tls| tls.fault.as_ref());
            let resolved = match (&listener.wrong_kind, certificate) {
                (Some(message), _) => StatusCondition::fails("ResolvedRefs", "InvalidRouteKinds", message),
                (None, Some(fault)) => {
                    StatusCondition::fails("ResolvedRefs", fault.reason, fault.message.clone())
                }
                (None, None) => StatusCondition::holds("ResolvedRefs"),
            };
            parts.push(PartStatus {
                part: Some(format!("listener {}", listener.name)),
                conditions: [accepted, programmed, resolved].into_iter().chain(conflicted).collect(),
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
        let resolved = match faults.first() {
            Some(fault) => StatusCondition::fails("ResolvedRefs", fault.reason, fault.message.clone()),
            None => StatusCondition::holds("ResolvedRefs"),
        };
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

/// Returns the conditions of a listener that conflicts with another one: accepted, programmed, conflicted.
fn conflict(
    reason: &'static str,
    message: &str,
) -> (StatusCondition, StatusCondition, Option<StatusCondition>) {
    (
        StatusCondition::fails("Accepted", reason, ""),
        StatusCondition::fails("Programmed", "Invalid", ""),
        Some(StatusCondition { kind: "Conflicted", status: true, reason, message: message.to_owned() }),
    )
}
