//! A table of rules for each address that Gateways listen on.

use std::collections::BTreeMap;
use std::sync::Arc;

use eddy_route::{Claim, Dialect, HostPattern, Origin, PathPattern, RouteTable, Rule};

use super::GROUP;
use super::action::{ActionMaker, RefFault, RuleDone, respond};
use super::attach::{Attachment, ListenerId, ParentOutcome, attach, is_reached, place_of};
use super::gateway::{Gateway, ListenerFault, read_gateways};
use super::grant::Grants;
use super::host::host_text;
use super::route::{Route, RouteKind, RouteMatch, RouteRule};
use super::status::{Condition, ObjectStatus, PartStatus};
use crate::check::{ConditionPlaces, Draft, RulePlaces};
use crate::config::{Action, ListenAddress};
use crate::dialect::kubernetes::Manifests;
use crate::problem::{Place, Report};

/// Adds what objects of the Gateway API say; what is wrong with them goes to `report`.
pub(crate) fn add(manifests: &Manifests<'_, '_>, draft: &mut Draft<'_, '_>, report: &mut Report) {
    let mut gateways = read_gateways(manifests, report);
    let grants = Grants::read(manifests, report);
    let mut routes: Vec<Route> = Vec::new();
    for (kind, name) in [(RouteKind::Http, "HTTPRoute"), (RouteKind::Grpc, "GRPCRoute")] {
        routes.extend(manifests.objects.of(GROUP, name).filter_map(|object| Route::of(object, kind, report)));
    }
    routes.sort_by(|a, b| a.seniority.cmp(&b.seniority).then(a.kind.name().cmp(b.kind.name())));
    if let Some(first) = routes.iter().find(|route| route.kind == RouteKind::Grpc) {
        report.warning(
            first.place,
            "eddy speaks HTTP/1.1 to endpoints so far: services of gRPC, which need HTTP/2, can't be reached by GRPCRoutes",
        );
    }
    let sockets = sockets(&mut gateways, manifests, report);
    let (attachments, outcomes) = attach(&routes, &gateways, manifests, report);
    for attachment in &attachments {
        gateways[attachment.listener.gateway].listeners[attachment.listener.listener].attached += 1;
    }
    let mut faults: Vec<Vec<RefFault>> = routes.iter().map(|_| Vec::new()).collect();
    let maker = ActionMaker { manifests, grants: &grants, cors: None };
    let mut lowering =
        Lowering { routes: &routes, gateways: &gateways, attachments: &attachments, maker, draft, report };
    for (address, listeners) in &sockets {
        lowering.table(address, listeners, &mut faults);
    }
    let cors = lowering.maker.cors;
    if let Some(filter) = cors {
        for (address, _) in &sockets {
            draft.use_filter(address, filter);
        }
    }
    draft.statuses.extend(gateway_statuses(&gateways));
    draft.statuses.extend(route_statuses(&routes, &gateways, outcomes, &faults));
}

/// The addresses that are listened on, each with its listeners; of two listeners for the same host, that of the older
/// Gateway has it.
fn sockets(
    gateways: &mut [Gateway],
    manifests: &Manifests<'_, '_>,
    report: &mut Report,
) -> Vec<(ListenAddress, Vec<ListenerId>)> {
    let mut sockets: BTreeMap<ListenAddress, Vec<ListenerId>> = BTreeMap::new();
    for number in 0..gateways.len() {
        for index in 0..gateways[number].listeners.len() {
            let gateway = &gateways[number];
            let listener = &gateway.listeners[index];
            if listener.fault.is_some() {
                continue;
            }
            let addresses =
                manifests.settings.addresses(Some(&gateway.name), &gateway.addresses, listener.port);
            let mut conflict = None;
            for address in addresses {
                let listeners = sockets.entry(address.clone()).or_default();
                let other = listeners.iter().find(|id| {
                    gateways[id.gateway].listeners[id.listener].hostname == listener.hostname
                        && id.gateway != number
                });
                match other {
                    Some(other) => {
                        let other = &gateways[other.gateway];
                        conflict = Some(format!(
                            "the Gateway `{}/{}` has {} at {address} already",
                            other.name.namespace,
                            other.name.name,
                            host_text(&listener.hostname)
                        ));
                    }
                    None => listeners.push(ListenerId { gateway: number, listener: index }),
                }
            }
            if let Some(message) = conflict {
                let name = &gateway.name;
                report.warning(listener.place, format!("this listener is not served: {message}")).hint(format!(
                    "have this Gateway listen elsewhere: in eddy.yaml `kubernetes: {{gateways: {{{}/{}: {{address: 127.0.0.2}}}}}}`",
                    name.namespace, name.name
                ));
                gateways[number].listeners[index].fault = Some(ListenerFault::Hostname(message));
            }
        }
    }
    sockets.into_iter().collect()
}

/// Makes tables of what is attached.
struct Lowering<'a, 'm, 'o, 't, 'd, 's> {
    routes: &'a [Route],
    gateways: &'a [Gateway],
    attachments: &'a [Attachment],
    maker: ActionMaker<'m, 'o, 't>,
    draft: &'a mut Draft<'d, 's>,
    report: &'a mut Report,
}

impl Lowering<'_, '_, '_, '_, '_, '_> {
    /// The table of an address.
    fn table(&mut self, address: &ListenAddress, listeners: &[ListenerId], faults: &mut [Vec<RefFault>]) {
        let Some(first) = listeners.first() else { return };
        let rank = self.maker.manifests.settings.regex_rank();
        let mut table = RouteTable::new(&format!("gateway-api/{address}"), Dialect::GatewayApi(rank));
        table.reading.is_closed = !self.maker.manifests.settings.has_host_fallthrough();
        let mut places = Vec::new();
        for (route, faults) in faults.iter_mut().enumerate() {
            let (hosts, port) = self.hosts(route, listeners);
            if !hosts.is_empty() {
                self.route(route, &hosts, port, &mut table, &mut places, faults);
            }
        }
        self.bar(listeners, &mut table, &mut places);
        let gateway = &self.gateways[first.gateway];
        let name = match listeners {
            [only] => format!(
                "{}/{}/{}",
                gateway.name.namespace, gateway.name.name, gateway.listeners[only.listener].name
            ),
            _ => address.to_string(),
        };
        let place = place_of(*first, self.gateways);
        let index = self.draft.table(table, places);
        self.draft.serve(name.into(), address, index, place, self.report);
    }

    /// The hosts that a route serves at these listeners, and the port of one of them.
    fn hosts(&self, route: usize, listeners: &[ListenerId]) -> (Vec<HostPattern>, u16) {
        let all: Vec<HostPattern> = listeners
            .iter()
            .map(|id| self.gateways[id.gateway].listeners[id.listener].hostname.clone())
            .collect();
        let (mut hosts, mut port): (Vec<HostPattern>, u16) = (Vec::new(), 80);
        for attachment in
            self.attachments.iter().filter(|one| one.route == route && listeners.contains(&one.listener))
        {
            let listener =
                &self.gateways[attachment.listener.gateway].listeners[attachment.listener.listener];
            port = listener.port;
            for host in &attachment.hosts {
                if is_reached(host, &listener.hostname, &all) && !hosts.contains(host) {
                    hosts.push(host.clone());
                }
            }
        }
        (hosts, port)
    }

    fn route(
        &mut self,
        number: usize,
        hosts: &[HostPattern],
        port: u16,
        table: &mut RouteTable,
        places: &mut Vec<RulePlaces>,
        faults: &mut Vec<RefFault>,
    ) {
        let route = &self.routes[number];
        for rule in &route.rules {
            let done = self.maker.make(route, rule, port, self.draft, faults, self.report);
            for (index, matched) in rule.matches.iter().enumerate() {
                let label = if rule.matches.len() == 1 {
                    rule.label.clone()
                } else {
                    format!("{}.{}", rule.label, index + 1)
                };
                table.rules.push(self.rule(route, rule, matched, &label, hosts, &done));
                places.push(RulePlaces {
                    rule: matched.place,
                    conditions: matched.places.clone(),
                    rewrite: done.rewrite_place,
                });
            }
        }
    }

    fn rule(
        &self,
        route: &Route,
        rule: &RouteRule,
        matched: &RouteMatch,
        label: &str,
        hosts: &[HostPattern],
        done: &RuleDone,
    ) -> Rule {
        let name = format!("{}/{}/{}/{label}", route.kind.prefix(), route.name.namespace, route.name.name);
        let place = if matched.place == rule.place { rule.place } else { matched.place };
        Rule {
            hosts: hosts.to_vec(),
            path: matched.path.clone(),
            methods: matched.methods.clone(),
            headers: matched.headers.clone(),
            query: matched.query.clone(),
            action: done.action,
            rewrite: done.rewrite.clone(),
            claim: Some(Claim {
                is_grpc: route.kind == RouteKind::Grpc,
                path_len: matched.path_len,
                method_len: matched.method_len,
                created: route.seniority.created(),
                object: Arc::clone(&route.seniority.name),
            }),
            ..Rule::new(&name, self.origin(place))
        }
    }

    /// Ends the search at the hostname of each listener: what no rule there matches is answered 404, though a listener
    /// for more hosts may have rules that would.
    fn bar(&mut self, listeners: &[ListenerId], table: &mut RouteTable, places: &mut Vec<RulePlaces>) {
        if listeners.len() < 2 {
            return;
        }
        for id in listeners {
            let gateway = &self.gateways[id.gateway];
            let listener = &gateway.listeners[id.listener];
            let has_rules = table.rules.iter().any(|rule| rule.hosts.contains(&listener.hostname));
            if (has_rules && table.reading.is_closed) || listener.hostname == HostPattern::Any {
                continue;
            }
            let name = format!(
                "gateway/{}/{}/{}/no-route",
                gateway.name.namespace, gateway.name.name, listener.name
            );
            let action = self.draft.action(Action::new(respond(404, "no rule matches this request\n")));
            table.rules.push(Rule {
                hosts: vec![listener.hostname.clone()],
                path: PathPattern::Any,
                rank: Some(1),
                action,
                ..Rule::new(&name, self.origin(listener.place))
            });
            places.push(RulePlaces {
                rule: listener.place,
                conditions: ConditionPlaces::default(),
                rewrite: None,
            });
        }
    }

    fn origin(&self, place: Place) -> Origin {
        let file = self.draft.sources.get(place.source as usize).map(|source| source.path.clone());
        Origin { file: file.unwrap_or_else(|| "".into()), line: place.line }
    }
}

fn gateway_statuses(gateways: &[Gateway]) -> Vec<ObjectStatus> {
    let status = |gateway: &Gateway| {
        let is_served = gateway.listeners.iter().any(|listener| listener.fault.is_none());
        let is_whole = gateway.listeners.iter().all(|listener| listener.fault.is_none());
        let accepted = match &gateway.address_fault {
            Some(message) => Condition::fails("Accepted", "UnsupportedAddress", message),
            None if is_whole => Condition::holds("Accepted"),
            None => Condition { status: is_served, ..Condition::fails("Accepted", "ListenersNotValid", "") },
        };
        let programmed = if is_served {
            Condition::holds("Programmed")
        } else {
            Condition::fails("Programmed", "Invalid", "no listener is served")
        };
        let mut parts =
            vec![PartStatus { part: None, conditions: vec![accepted, programmed], attached_routes: None }];
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
                Some(ListenerFault::Hostname(message)) => (
                    Condition::fails("Accepted", "HostnameConflict", ""),
                    Condition::fails("Programmed", "Invalid", ""),
                    Some(Condition {
                        kind: "Conflicted",
                        status: true,
                        reason: "HostnameConflict",
                        message: message.clone(),
                    }),
                ),
            };
            let resolved = match &listener.wrong_kind {
                Some(message) => Condition::fails("ResolvedRefs", "InvalidRouteKinds", message),
                None => Condition::holds("ResolvedRefs"),
            };
            parts.push(PartStatus {
                part: Some(format!("listener {}", listener.name)),
                conditions: [accepted, programmed, resolved].into_iter().chain(conflicted).collect(),
                attached_routes: Some(listener.attached),
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

fn route_statuses(
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
            attached_routes: None,
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
