//! Rule tables, one for each address that Gateways listen on.

use std::collections::BTreeMap;

use eddy_check::{ConfigDialect, Draft, RulePositions, TableDraft};
use eddy_config::{Action, CertificateFiles, ListenAddress, ListenerTlsConfig};
use eddy_ids::Shared;
use eddy_route::{Dialect, HostPattern, KubernetesPrecedence, PathPattern, Rule};
use eddy_spec::problem::ProblemReport;
use eddy_spec::value::ObjectName;

use super::action::{CORS_FILTER, Entrance, RouteRuleAction, respond};
use super::attach::{Attachment, ListenerId, attach, is_reached};
use super::backend_tls::BackendTls;
use super::class::{class_statuses, read_classes};
use super::condition::{gateway_statuses, route_statuses};
use super::gateway::{GatewayObject, ListenerFault, read_gateways};
use super::grant::Grants;
use super::host::host_text;
use super::reference::References;
use super::route::GatewayRoute;
use super::route_part::RouteKind;
use super::tls::Certificates;
use crate::kubernetes::{GATEWAY_API, Manifests};

/// The Gateway API: Gateways, and the routes that are attached to them.
pub(crate) struct GatewayApi;

impl ConfigDialect<Manifests<'_, '_>> for GatewayApi {
    fn lower(&self, manifests: &Manifests<'_, '_>, draft: &mut Draft<'_>, report: &mut ProblemReport) {
        let grants = Grants::read(manifests, report);
        let certificates = Certificates { manifests, grants: &grants, sources: draft.sources };
        let classes = read_classes(manifests, report);
        let mut gateways = read_gateways(certificates, &classes, report);
        let mut routes: Vec<GatewayRoute> = Vec::new();
        for kind in [RouteKind::Http, RouteKind::Grpc] {
            let objects = manifests.objects.of(GATEWAY_API, kind.name());
            routes.extend(objects.filter_map(|object| GatewayRoute::of(object, kind, report)));
        }
        routes.sort_by(|a, b| a.creation_order.cmp(&b.creation_order).then(a.kind.name().cmp(b.kind.name())));
        let sockets = sockets(&mut gateways, manifests, report);
        let (attachments, outcomes) = attach(&routes, &gateways, manifests, report);
        for attachment in &attachments {
            gateways[attachment.listener.gateway].listeners[attachment.listener.listener].attached += 1;
        }
        let tls = BackendTls::read(manifests, draft.sources, report);
        let calls = routes
            .iter()
            .filter(|route| route.kind == RouteKind::Grpc)
            .flat_map(|route| &route.rules)
            .flat_map(|rule| &rule.backends)
            .map(|backend| (&backend.service, backend.port))
            .collect();
        let references = References { manifests, grants: &grants, tls: &tls, calls };
        let faults: Vec<_> = routes.iter().map(|route| references.faults(route, report)).collect();
        let mut lowering = GatewayTableBuilder {
            routes: &routes,
            gateways: &gateways,
            attachments: &attachments,
            references: &references,
            draft,
            report,
        };
        for (address, listeners) in &sockets {
            lowering.table(address, listeners);
        }
        if let Some(filter) = draft.filters.find_builtin(CORS_FILTER) {
            for (address, _) in &sockets {
                draft.use_filter(address, filter);
            }
        }
        draft.statuses.extend(class_statuses(&classes));
        draft.statuses.extend(gateway_statuses(&gateways));
        draft.statuses.extend(route_statuses(&routes, &gateways, outcomes, &faults));
        draft.statuses.extend(tls.statuses(&routes, &gateways, &attachments, manifests));
    }
}

/// Returns the listen addresses, each with its listeners. Of two listeners for the same host, that of the older Gateway
/// wins.
fn sockets(
    gateways: &mut [GatewayObject],
    manifests: &Manifests<'_, '_>,
    report: &mut ProblemReport,
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
                let is_other = |id: &&ListenerId| id.of(gateways).tls.is_some() != listener.tls.is_some();
                if let Some(other) = listeners.iter().find(is_other) {
                    let other = other.of(gateways);
                    let message =
                        format!("the listener `{}` already uses {} at {address}", other.name, other.protocol);
                    conflict = Some(ListenerFault::OtherProtocol(message));
                    continue;
                }
                let other = listeners
                    .iter()
                    .find(|id| id.of(gateways).hostname == listener.hostname && id.gateway != number);
                match other {
                    Some(other) => {
                        let other = &gateways[other.gateway];
                        conflict = Some(ListenerFault::Hostname(format!(
                            "the Gateway `{}/{}` already serves {} at {address}",
                            other.name.namespace,
                            other.name.name,
                            host_text(&listener.hostname)
                        )));
                    }
                    None => listeners.push(ListenerId { gateway: number, listener: index }),
                }
            }
            if let Some(fault) = conflict {
                let name = &gateway.name;
                let (ListenerFault::Hostname(message) | ListenerFault::OtherProtocol(message)) = &fault
                else {
                    continue;
                };
                report.warning(listener.place, format!("this listener is not served: {message}")).hint(format!(
                    "give this Gateway another address in eddy.yaml: `kubernetes: {{gateways: {{{}/{}: {{address: 127.0.0.2}}}}}}`",
                    name.namespace, name.name
                ));
                gateways[number].listeners[index].fault = Some(fault);
            }
        }
    }
    sockets.into_iter().collect()
}

/// Builds tables from attached routes.
struct GatewayTableBuilder<'a, 'm, 'o, 't, 's> {
    routes: &'a [GatewayRoute],
    gateways: &'a [GatewayObject],
    attachments: &'a [Attachment],
    references: &'a References<'m, 'o, 't>,
    draft: &'a mut Draft<'s>,
    report: &'a mut ProblemReport,
}

impl GatewayTableBuilder<'_, '_, '_, '_, '_> {
    /// Builds the table of an address.
    fn table(&mut self, address: &ListenAddress, listeners: &[ListenerId]) {
        let Some(first) = listeners.first() else { return };
        let settings = &self.references.manifests.settings;
        let dialect = Dialect::GatewayApi(settings.regex_rank);
        let mut table = TableDraft::new(&format!("gateway-api/{address}"), dialect);
        table.config.routes.reading.is_closed = !settings.has_host_fallthrough;
        for route in 0..self.routes.len() {
            let (hosts, entrance) = self.hosts(route, listeners);
            if !hosts.is_empty() {
                self.route(route, &hosts, entrance, &mut table);
            }
        }
        self.add_not_found_rules(listeners, &mut table);
        let gateway = &self.gateways[first.gateway];
        let name = match listeners {
            [only] => {
                let ObjectName { namespace, name } = &gateway.name;
                format!("{namespace}/{name}/{}", only.of(self.gateways).name)
            }
            _ => address.to_string(),
        };
        let place = first.of(self.gateways).place;
        let index = self.draft.tables.add(table);
        match self.tls(listeners) {
            Some(tls) => self.draft.serve_tls(name.into(), address, index, tls, place, self.report),
            None => self.draft.serve(name.into(), address, index, place, self.report),
        }
    }

    /// Returns the TLS settings of the listeners at an address, if they use TLS.
    fn tls(&self, listeners: &[ListenerId]) -> Option<ListenerTlsConfig> {
        let shown = listeners.iter().filter_map(|id| id.of(self.gateways).tls.as_ref());
        let certificates: Vec<CertificateFiles> =
            shown.flat_map(|shown| shown.certificates.iter().cloned()).collect();
        if certificates.is_empty() {
            return None;
        }
        // Clients that ask for a host of no listener are rejected.
        let is_strict = listeners.iter().all(|id| id.of(self.gateways).hostname != HostPattern::Any);
        Some(ListenerTlsConfig { is_strict, ..ListenerTlsConfig::new(certificates) })
    }

    /// Returns the hosts that a route serves at these listeners, and the entrance of one of these listeners.
    fn hosts(&self, route: usize, listeners: &[ListenerId]) -> (Vec<HostPattern>, Entrance) {
        let all: Vec<HostPattern> =
            listeners.iter().map(|id| id.of(self.gateways).hostname.clone()).collect();
        let (mut hosts, mut entrance) = (Vec::new(), Entrance { port: 80, is_secure: false });
        for attachment in
            self.attachments.iter().filter(|one| one.route == route && listeners.contains(&one.listener))
        {
            let listener = attachment.listener.of(self.gateways);
            entrance = Entrance { port: listener.port, is_secure: listener.tls.is_some() };
            for host in &attachment.hosts {
                if is_reached(host, &listener.hostname, &all) && !hosts.contains(host) {
                    hosts.push(host.clone());
                }
            }
        }
        (hosts, entrance)
    }

    fn route(&mut self, number: usize, hosts: &[HostPattern], entrance: Entrance, table: &mut TableDraft) {
        let route = &self.routes[number];
        for rule in &route.rules {
            let RouteRuleAction { action, rewrite, rewrite_place } =
                self.references.action(route, rule, entrance, self.draft, self.report);
            let action = table.action(action);
            for (index, matched) in rule.matches.iter().enumerate() {
                let label = if rule.matches.len() == 1 {
                    rule.label.clone()
                } else {
                    format!("{}.{}", rule.label, index + 1)
                };
                let object = &route.creation_order.name;
                let name = format!("{}/{object}/{label}", route.kind.name().to_ascii_lowercase());
                let own = Rule {
                    hosts: hosts.to_vec(),
                    path: matched.path.clone(),
                    methods: matched.methods.clone(),
                    headers: matched.headers.clone(),
                    query: matched.query.clone(),
                    action,
                    rewrite: rewrite.clone(),
                    claim: Some(KubernetesPrecedence {
                        is_grpc: route.kind == RouteKind::Grpc,
                        path_len: matched.path_len,
                        method_len: matched.method_len,
                        created: route.creation_order.created(),
                        object: Shared::clone(object),
                    }),
                    ..Rule::new(&name, self.draft.origin(matched.place))
                };
                let (conditions, rewrite) = (matched.places.clone(), rewrite_place);
                table.push(own, RulePositions { rule: matched.place, conditions, rewrite });
            }
        }
    }

    /// Adds 404 rules for the hostname of each listener: requests that match no rule there are answered 404, even if
    /// rules of a listener with a wider hostname would match.
    fn add_not_found_rules(&mut self, listeners: &[ListenerId], table: &mut TableDraft) {
        if listeners.len() < 2 {
            return;
        }
        for id in listeners {
            let gateway = &self.gateways[id.gateway];
            let listener = id.of(self.gateways);
            let routes = &table.config.routes;
            let has_rules = routes.rules.iter().any(|rule| rule.hosts.contains(&listener.hostname));
            if (has_rules && routes.reading.is_closed) || listener.hostname == HostPattern::Any {
                continue;
            }
            let name = format!(
                "gateway/{}/{}/{}/no-route",
                gateway.name.namespace, gateway.name.name, listener.name
            );
            let action = table.action(Action::new(respond(404, "no rule matches this request\n")));
            let rule = Rule {
                hosts: vec![listener.hostname.clone()],
                path: PathPattern::Any,
                rank: Some(1),
                action,
                ..Rule::new(&name, self.draft.origin(listener.place))
            };
            table.push(rule, RulePositions::of(listener.place));
        }
    }
}
