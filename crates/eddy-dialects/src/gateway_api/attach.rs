//! Attachment of routes to listeners, and the hosts that they serve there.

use eddy_route::HostPattern;
use eddy_spec::StatusCondition;
use eddy_spec::problem::ProblemReport;

use super::gateway::{GatewayListener, GatewayObject};
use super::host::{covers, host_text, intersection};
use super::ref_fault::RefFault;
use super::route::{GatewayRoute, Parent};
use super::route_part::RouteKind;
use crate::kubernetes::{GATEWAY_API, Manifests};

/// Identity of a listener: its Gateway, and its index in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ListenerId {
    /// Index of the Gateway.
    pub(super) gateway: usize,
    /// Index of the listener in the Gateway.
    pub(super) listener: usize,
}

impl ListenerId {
    pub(super) fn of(self, gateways: &[GatewayObject]) -> &GatewayListener {
        &gateways[self.gateway].listeners[self.listener]
    }
}

/// Route attached to a listener.
#[derive(Debug)]
pub(super) struct Attachment {
    pub(super) listener: ListenerId,
    /// Index of the route, in the order of age.
    pub(super) route: usize,
    /// Hosts that the route serves at the listener.
    pub(super) hosts: Vec<HostPattern>,
}

/// Result of attaching a route to one of its parents.
#[derive(Debug)]
pub(super) struct ParentOutcome {
    /// Name of the parent, for users.
    pub(super) parent: String,
    pub(super) accepted: StatusCondition,
    /// Index of the Gateway, if eddy serves it.
    pub(super) gateway: Option<usize>,
}

/// Attaches routes, ordered by age with the oldest first, to listeners.
pub(super) fn attach(
    routes: &[GatewayRoute],
    gateways: &[GatewayObject],
    manifests: &Manifests<'_, '_>,
    report: &mut ProblemReport,
) -> (Vec<Attachment>, Vec<Vec<ParentOutcome>>) {
    let mut attachments: Vec<Attachment> = Vec::new();
    let mut outcomes = Vec::with_capacity(routes.len());
    for (number, route) in routes.iter().enumerate() {
        let mut of_route = Vec::with_capacity(route.parents.len());
        if route.parents.is_empty() {
            report.warning(route.place, "a route without `parentRefs` is not attached to any Gateway");
        }
        for parent in &route.parents {
            let gateway = gateways.iter().position(|gateway| gateway.name == parent.gateway);
            let outcome = match gateway {
                Some(gateway) => {
                    let try_out = Try { number, route, routes, parent, gateway, gateways, manifests };
                    try_out.attach(&mut attachments)
                }
                None => Err(no_gateway(parent, gateways, manifests)),
            };
            let accepted = outcome.map_or_else(
                |fault| {
                    report
                        .warning(parent.place, format!("this route is not attached here: {}", fault.message));
                    StatusCondition::fails("Accepted", fault.reason, fault.message)
                },
                |()| StatusCondition::holds("Accepted"),
            );
            of_route.push(ParentOutcome { parent: parent_text(parent), accepted, gateway });
        }
        outcomes.push(of_route);
    }
    (attachments, outcomes)
}

fn no_gateway(parent: &Parent, gateways: &[GatewayObject], manifests: &Manifests<'_, '_>) -> RefFault {
    let name = format!("{}/{}", parent.gateway.namespace, parent.gateway.name);
    let is_there = manifests.objects.of(GATEWAY_API, "Gateway").any(|object| {
        object.metadata.namespace == parent.gateway.namespace && object.metadata.name == parent.gateway.name
    });
    let message = if is_there {
        format!("the Gateway `{name}` belongs to another controller")
    } else {
        let names: Vec<String> = gateways
            .iter()
            .map(|gateway| format!("`{}/{}`", gateway.name.namespace, gateway.name.name))
            .collect();
        let known = if names.is_empty() {
            "there are no Gateways".to_owned()
        } else {
            format!("there are {}", names.join(", "))
        };
        format!("there is no Gateway `{name}`; {known}")
    };
    RefFault { reason: "NoMatchingParent", message }
}

/// Route and the Gateway that it is to be attached to.
struct Try<'a> {
    number: usize,
    route: &'a GatewayRoute,
    routes: &'a [GatewayRoute],
    parent: &'a Parent,
    gateway: usize,
    gateways: &'a [GatewayObject],
    manifests: &'a Manifests<'a, 'a>,
}

impl Try<'_> {
    fn attach(&self, attachments: &mut Vec<Attachment>) -> Result<(), RefFault> {
        let gateway = &self.gateways[self.gateway];
        let named: Vec<(usize, &GatewayListener)> = gateway
            .listeners
            .iter()
            .enumerate()
            .filter(|(_, listener)| {
                self.parent.section.as_ref().is_none_or(|section| *section == listener.name)
                    && self.parent.port.is_none_or(|port| port == listener.port)
            })
            .collect();
        if named.is_empty() {
            let message = "no listener has this `sectionName` and `port`".to_owned();
            return Err(RefFault { reason: "NoMatchingParent", message });
        }
        let allowed: Vec<(usize, &GatewayListener)> = named
            .into_iter()
            .filter(|(_, listener)| {
                let takes_kind = match self.route.kind {
                    RouteKind::Http => listener.accepts_http,
                    RouteKind::Grpc => listener.accepts_grpc,
                };
                takes_kind
                    && listener.from.allows_namespace(
                        &self.route.name.namespace,
                        &gateway.name.namespace,
                        self.manifests,
                    )
            })
            .collect();
        if allowed.is_empty() {
            let message = format!(
                "no listener allows a {} from the namespace `{}`",
                self.route.kind.name(),
                self.route.name.namespace
            );
            return Err(RefFault { reason: "NotAllowedByListeners", message });
        }
        let fitting: Vec<(usize, Vec<HostPattern>)> = allowed
            .iter()
            .map(|(index, listener)| (*index, self.hosts(&listener.hostname)))
            .filter(|(_, hosts)| !hosts.is_empty())
            .collect();
        if fitting.is_empty() {
            let names: Vec<String> =
                allowed.iter().map(|(_, listener)| format!("`{}`", host_text(&listener.hostname))).collect();
            let message = format!("none of its hostnames matches {}", names.join(", "));
            return Err(RefFault { reason: "NoMatchingListenerHostname", message });
        }
        let mut rival = None;
        let mut is_attached = false;
        for (listener, hosts) in fitting {
            let id = ListenerId { gateway: self.gateway, listener };
            match self.conflicting_route(id, &hosts, attachments) {
                Some(other) => rival = Some(other),
                None => {
                    is_attached = true;
                    self.add(id, hosts, attachments);
                }
            }
        }
        match rival {
            Some(other) if !is_attached => {
                let other = &self.routes[other];
                let message = format!(
                    "the older {} `{}/{}` has some of the same hostnames",
                    other.kind.name(),
                    other.name.namespace,
                    other.name.name
                );
                Err(RefFault { reason: "HostnameConflict", message })
            }
            Some(_) | None => Ok(()),
        }
    }

    fn hosts(&self, listener: &HostPattern) -> Vec<HostPattern> {
        if self.route.hostnames.is_empty() {
            return vec![listener.clone()];
        }
        let mut hosts: Vec<HostPattern> = Vec::new();
        for host in self.route.hostnames.iter().filter_map(|host| intersection(host, listener)) {
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        hosts
    }

    /// Returns a route of the other kind that is already attached for some of these hosts.
    fn conflicting_route(
        &self,
        id: ListenerId,
        hosts: &[HostPattern],
        attachments: &[Attachment],
    ) -> Option<usize> {
        attachments
            .iter()
            .filter(|other| other.listener == id && self.routes[other.route].kind != self.route.kind)
            .find(|other| {
                other.hosts.iter().any(|other| hosts.iter().any(|host| intersection(host, other).is_some()))
            })
            .map(|other| other.route)
    }

    fn add(&self, listener: ListenerId, hosts: Vec<HostPattern>, attachments: &mut Vec<Attachment>) {
        let same =
            attachments.iter_mut().find(|other| other.listener == listener && other.route == self.number);
        match same {
            Some(attachment) => attachment.hosts.extend(hosts),
            None => attachments.push(Attachment { listener, route: self.number, hosts }),
        }
    }
}

/// Whether requests for a host of a listener reach it: no more specific listener covers the whole host.
pub(super) fn is_reached(host: &HostPattern, own: &HostPattern, others: &[HostPattern]) -> bool {
    !others.iter().any(|other| other != own && covers(own, other) && covers(other, host))
}

fn parent_text(parent: &Parent) -> String {
    let mut text = format!("parent {}/{}", parent.gateway.namespace, parent.gateway.name);
    if let Some(section) = &parent.section {
        text.push('/');
        text.push_str(section);
    }
    if let Some(port) = parent.port {
        text.push(':');
        text.push_str(&port.to_string());
    }
    text
}
