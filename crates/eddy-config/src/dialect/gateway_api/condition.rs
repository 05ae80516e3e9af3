//! What a cluster would show of Gateways and routes.

use super::attach::ParentOutcome;
use super::gateway::{Gateway, ListenerFault};
use super::reference::RefFault;
use super::route::Route;
use super::status::{Condition, ObjectStatus, PartStatus};

/// What a cluster would show of Gateways.
pub(super) fn gateway_statuses(gateways: &[Gateway]) -> Vec<ObjectStatus> {
    let status = |gateway: &Gateway| {
        let is_served = gateway.listeners.iter().any(|listener| listener.fault.is_none());
        let is_whole = gateway.listeners.iter().all(|listener| listener.fault.is_none());
        let accepted = match (&gateway.parameters_fault, &gateway.address_fault) {
            (Some(message), _) => Condition::fails("Accepted", "InvalidParameters", message),
            (None, Some(message)) => Condition::fails("Accepted", "UnsupportedAddress", message),
            (None, None) if is_whole => Condition::holds("Accepted"),
            (None, None) => {
                Condition { status: is_served, ..Condition::fails("Accepted", "ListenersNotValid", "") }
            }
        };
        let programmed = if is_served {
            Condition::holds("Programmed")
        } else {
            Condition::fails("Programmed", "Invalid", "no listener is served")
        };
        let mut parts = vec![PartStatus { conditions: vec![accepted, programmed], ..PartStatus::default() }];
        for listener in &gateway.listeners {
            let (accepted, programmed, conflicted) = match &listener.fault {
                None => (Condition::holds("Accepted"), Condition::holds("Programmed"), None),
                Some(ListenerFault::Protocol) => (
                    Condition::fails(
                        "Accepted",
                        "UnsupportedProtocol",
                        format!("`{}` is not spoken here", listener.protocol),
                    ),
                    Condition::fails("Programmed", "Invalid", ""),
                    None,
                ),
                Some(ListenerFault::Certificate) => (
                    Condition::holds("Accepted"),
                    Condition::fails("Programmed", "Invalid", "it has no certificate to show"),
                    None,
                ),
                Some(ListenerFault::Gateway) => (
                    Condition::holds("Accepted"),
                    Condition::fails("Programmed", "Invalid", "its Gateway is not accepted"),
                    None,
                ),
                Some(ListenerFault::Hostname(message)) => conflict("HostnameConflict", message),
                Some(ListenerFault::OtherProtocol(message)) => conflict("ProtocolConflict", message),
            };
            let certificate = listener.tls.as_ref().and_then(|tls| tls.fault.as_ref());
            let resolved = match (&listener.wrong_kind, certificate) {
                (Some(message), _) => Condition::fails("ResolvedRefs", "InvalidRouteKinds", message),
                (None, Some(fault)) => Condition::fails("ResolvedRefs", fault.reason, fault.message.clone()),
                (None, None) => Condition::holds("ResolvedRefs"),
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

/// What a cluster would show of routes.
pub(super) fn route_statuses(
    routes: &[Route],
    gateways: &[Gateway],
    outcomes: Vec<Vec<ParentOutcome>>,
    faults: &[Vec<RefFault>],
) -> Vec<ObjectStatus> {
    let mut statuses = Vec::with_capacity(routes.len());
    for ((route, outcomes), faults) in routes.iter().zip(outcomes).zip(faults) {
        let resolved = match faults.first() {
            Some(fault) => Condition::fails("ResolvedRefs", fault.reason, fault.message.clone()),
            None => Condition::holds("ResolvedRefs"),
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

/// The conditions of a listener whose place another has: accepted, programmed, conflicted.
fn conflict(reason: &'static str, message: &str) -> (Condition, Condition, Option<Condition>) {
    (
        Condition::fails("Accepted", reason, ""),
        Condition::fails("Programmed", "Invalid", ""),
        Some(Condition { kind: "Conflicted", status: true, reason, message: message.to_owned() }),
    )
}
