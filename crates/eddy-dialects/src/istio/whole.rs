//! Entry point for Istio: Gateways and VirtualServices become route tables.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use eddy_check::{ConfigDialect, Draft, RulePositions, TableDraft};
use eddy_config::{Action, ActionKind, ListenAddress};
use eddy_route::normalise::{EnvoyPaths, EscapedSlashes, Normaliser};
use eddy_route::{CATCH_ALL_RANK, Dialect, KubernetesPrecedence, PathPattern, Rule};
use eddy_spec::problem::{ProblemReport, SourceSpan, shown};
use eddy_spec::value::ObjectName;

use super::access::judge_policies;
use super::action::RULE_FILTERS;
use super::delegate::unite_delegates;
use super::destination::Destinations;
use super::gateway::{IstioGateway, IstioServer, read_gateway};
use super::host::intersection;
use super::rule::{host_pattern, is_catch_all, is_for, rule_of};
use super::server_tls::listener_tls;
use super::service::{VirtualService, read_service};
use crate::envoy::https_redirect;
use crate::kubernetes::{ISTIO_NETWORKING, Manifests};

/// Istio's Gateways and VirtualServices.
pub(crate) struct Istio;

impl ConfigDialect<Manifests<'_, '_>> for Istio {
    fn lower(&self, manifests: &Manifests<'_, '_>, draft: &mut Draft<'_>, report: &mut ProblemReport) {
        let mut gateways: Vec<_> = manifests.objects.of(ISTIO_NETWORKING, "Gateway").collect();
        gateways.sort_by_key(|gateway| {
            let metadata = &gateway.metadata;
            (metadata.created, metadata.name.clone(), metadata.namespace.clone())
        });
        let sources = draft.sources;
        let gateways: Vec<IstioGateway> = gateways
            .into_iter()
            .filter_map(|gateway| read_gateway(gateway, &manifests.secrets, sources, report))
            .collect();
        judge_policies(manifests.objects, &gateways, report);
        let servers: Vec<IstioServer> = gateways.into_iter().flat_map(|gateway| gateway.servers).collect();
        let services = manifests.objects.of(ISTIO_NETWORKING, "VirtualService");
        let mut services: Vec<VirtualService> =
            services.map(|service| read_service(service, report)).collect();
        // Oldest first, then by name before namespace, as in Istio.
        services.sort_by(|a, b| {
            (a.created, &a.name.name, &a.name.namespace).cmp(&(b.created, &b.name.name, &b.name.namespace))
        });
        let services = unite_delegates(services, report);
        let destinations = Destinations::read(manifests, sources, report);
        note_unbound(&services, &servers, report);
        let mut by_address: BTreeMap<ListenAddress, Vec<&IstioServer>> = BTreeMap::new();
        for server in &servers {
            for address in manifests.settings.addresses(Some(&server.gateway), &[], server.port) {
                by_address.entry(address).or_default().push(server);
            }
        }
        for (address, servers) in by_address {
            note_others(&servers, &address, report);
            let mut maker = IstioRuleBuilder {
                services: &services,
                destinations: &destinations,
                served: HashSet::new(),
                table: TableDraft::new(&format!("istio/{address}"), Dialect::Istio),
                rules: Vec::new(),
            };
            for server in &servers {
                maker.server(server, draft, report);
            }
            let table = maker.into_table(&servers, draft);
            let table = draft.tables.add(table);
            let place = servers.first().map_or_else(SourceSpan::default, |server| server.place);
            let listener = address.to_string().into();
            let own_tls: Vec<_> = servers.iter().map(|server| (server.place, server.tls.as_ref())).collect();
            match listener_tls(&own_tls, report) {
                Some(tls) => draft.serve_tls(listener, &address, table, tls, place, report),
                None => draft.serve(listener, &address, table, place, report),
            }
            draft.normalise(&address, table, NORMALISER);
            for name in RULE_FILTERS {
                if let Some(filter) = draft.filters.find_builtin(name) {
                    draft.use_filter(&address, filter);
                }
            }
        }
    }
}

/// Reports Gateways whose selector differs from that of the first one at an address.
fn note_others(servers: &[&IstioServer], address: &ListenAddress, report: &mut ProblemReport) {
    let Some((first, others)) = servers.split_first() else { return };
    for server in others.iter().filter(|server| server.selector != first.selector) {
        let (name, own) = (&first.gateway, &server.gateway);
        report
            .warning(
                server.place,
                format!("its `selector` differs from that of `{}/{}`: eddy serves both at {address}", name.namespace, name.name),
            )
            .hint(format!(
                "give it its own address in eddy.yaml: `kubernetes: {{gateways: {{{}/{}: {{address: 127.0.0.2}}}}}}`",
                own.namespace, own.name
            ));
    }
}

/// Reports VirtualServices for whose hosts there is no server.
fn note_unbound(services: &[VirtualService], servers: &[IstioServer], report: &mut ProblemReport) {
    for service in services.iter().filter(|service| !service.gateways.is_empty()) {
        let bound: Vec<&IstioServer> =
            servers.iter().filter(|server| service.gateways.contains(&server.gateway)).collect();
        if bound.is_empty() {
            let names: Vec<String> =
                service.gateways.iter().map(|name| format!("`{}/{}`", name.namespace, name.name)).collect();
            report
                .warning(
                    service.place,
                    format!(
                        "the manifests have no server of {}: this VirtualService serves nothing",
                        shown(&names.join(", "))
                    ),
                )
                .hint("write a Gateway of the same manifests, with its namespace");
        } else if bound.iter().all(|server| hosts_of(service, server).is_empty()) {
            report
                .warning(
                    service.place,
                    "its Gateways have none of its hosts for this namespace: it serves nothing",
                )
                .hint("a host of a Gateway can have a namespace, as in `team-a/*.example.com`");
        } else if bound.iter().all(|server| service.visibility_rank(&server.gateway.namespace).is_none()) {
            report
                .warning(
                    service.place,
                    "its `exportTo` hides this VirtualService from its Gateways: it serves nothing",
                )
                .hint("eddy uses the namespace of a Gateway as the namespace of its proxies");
        }
    }
}

/// Returns the hosts that a VirtualService serves at a server.
fn hosts_of<'h>(service: &'h VirtualService, server: &'h IstioServer) -> Vec<&'h str> {
    let own = server
        .hosts
        .iter()
        .filter(|host| host.namespace.as_ref().is_none_or(|namespace| *namespace == *service.name.namespace));
    let pairs = own.flat_map(|host| service.hosts.iter().filter_map(|other| intersection(&host.host, other)));
    let mut hosts: Vec<&str> = Vec::new();
    for host in pairs {
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    hosts
}

/// Builder of the rules of an address.
struct IstioRuleBuilder<'s, 'd, 'm, 'o, 't> {
    services: &'s [VirtualService],
    destinations: &'d Destinations<'m, 'o, 't>,
    /// Hosts of VirtualServices that a Gateway already serves; another server of the Gateway adds none.
    served: HashSet<(&'s ObjectName, &'s ObjectName, &'s str)>,
    /// The table that rules go to in the end, with the actions so far.
    table: TableDraft,
    rules: Vec<(Rule, RulePositions)>,
}

impl<'s> IstioRuleBuilder<'s, '_, '_, '_, '_> {
    /// Adds the routes of all VirtualServices bound to a server: private ones first, then those exported to its
    /// namespace, then those exported to all.
    fn server(&mut self, server: &'s IstioServer, draft: &mut Draft<'_>, report: &mut ProblemReport) {
        let bound = self.services.iter().filter(|service| service.gateways.contains(&server.gateway));
        let mut tiers: Vec<(u8, &VirtualService)> = bound
            .filter_map(|service| Some((service.visibility_rank(&server.gateway.namespace)?, service)))
            .collect();
        tiers.sort_by_key(|(tier, _)| *tier);
        for (tier, service) in tiers {
            let mut hosts = hosts_of(service, server);
            hosts.retain(|host| self.served.insert((&server.gateway, &service.name, *host)));
            if !hosts.is_empty() {
                self.service(service, tier, server, &hosts, draft, report);
            }
        }
    }

    fn service(
        &mut self,
        service: &VirtualService,
        tier: u8,
        server: &IstioServer,
        hosts: &[&str],
        draft: &mut Draft<'_>,
        report: &mut ProblemReport,
    ) {
        let mut is_cut = false;
        for route in &service.routes {
            let at = route.spec.matches.as_ref().map_or(route.place, |matches| matches.place);
            if is_cut {
                report
                    .warning(
                        at,
                        "an earlier route matches every request: Istio ignores this route, and so does eddy",
                    )
                    .hint("move it before that route");
                break;
            }
            let matches = route.spec.matches.as_ref().map_or(&[][..], |matches| &matches.value);
            let options: Vec<_> =
                if matches.is_empty() { vec![None] } else { matches.iter().map(Some).collect() };
            is_cut = matches.is_empty();
            let mut done = None;
            for (number, option) in options.into_iter().enumerate() {
                if option.is_some_and(|option| !is_for(&option.value, server, &service.name.namespace)) {
                    continue;
                }
                let (action, rewrite, rewrite_place) = match &done {
                    Some(made) => made,
                    None => {
                        let made = self.destinations.action(route, server.port, draft, report);
                        let Some(made) = made else { return };
                        done.insert((self.table.action(made.action), made.rewrite, made.rewrite_place))
                    }
                };
                let own = option.and_then(|option| option.value.name.as_ref());
                let own = own.map_or_else(|| number.to_string(), |name| name.value.0.to_string());
                let place = option.map_or(route.place, |option| option.place);
                let name = format!("{}.{own}", route.label);
                let (mut rule, mut places) = rule_of(option, name, draft.origin(place), place, report);
                rule.hosts = hosts.iter().map(|host| host_pattern(host)).collect();
                rule.action = *action;
                rule.rewrite.clone_from(rewrite);
                places.rewrite = *rewrite_place;
                rule.claim = Some(rule_rank(&service.name, service.created));
                rule.rank = Some(i32::from(tier));
                is_cut |= is_catch_all(&rule);
                self.rules.push((rule, places));
                if is_cut {
                    break;
                }
            }
        }
    }

    /// Returns the table with the rules in the order of evaluation: those for all requests of a host come last, and redirects of hosts
    /// that require `https` come before all others.
    fn into_table(self, servers: &[&IstioServer], draft: &Draft<'_>) -> TableDraft {
        let mut table = self.table;
        let (last, mut rules): (Vec<_>, Vec<_>) =
            self.rules.into_iter().partition(|(rule, _)| is_catch_all(rule));
        rules.extend(last.into_iter().map(|(mut rule, places)| {
            rule.rank = rule.rank.map(|tier| CATCH_ALL_RANK + tier);
            (rule, places)
        }));
        let mut redirects: Vec<(Rule, RulePositions)> = Vec::new();
        for server in servers.iter().filter(|server| server.redirects_to_https) {
            let bound = self.services.iter().filter(|service| service.gateways.contains(&server.gateway));
            let bound = bound.filter(|service| service.visibility_rank(&server.gateway.namespace).is_some());
            let own = server.hosts.iter().map(|host| host.host.as_str());
            let hosts: BTreeSet<&str> =
                own.chain(bound.flat_map(|service| hosts_of(service, server))).collect();
            let name = format!("{}/{}/https-redirect", server.gateway.namespace, server.gateway.name);
            let mut rule = Rule::new(&name, draft.origin(server.place));
            rule.hosts = hosts.into_iter().map(host_pattern).collect();
            rule.claim = Some(rule_rank(&server.gateway, None));
            rule.rank = Some(-1);
            rule.path = PathPattern::Any;
            rule.action = table.action(Action::new(ActionKind::Redirect(https_redirect())));
            let places = RulePositions::of(server.place);
            redirects.push((rule, places));
        }
        for (rule, places) in redirects.into_iter().chain(rules) {
            table.push(rule, places);
        }
        table
    }
}

/// Returns the precedence of a rule: its object, and the creation time of the object.
fn rule_rank(object: &ObjectName, created: Option<i64>) -> KubernetesPrecedence {
    let object = format!("{}/{}", object.namespace, object.name).into();
    KubernetesPrecedence { is_grpc: false, path_len: 0, method_len: 0, created, object }
}

/// Default path normalisation of Istio's gateways: dot segments are resolved, duplicate slashes and escapes are kept.
const NORMALISER: Normaliser = Normaliser::Envoy(EnvoyPaths {
    normalizes: true,
    merges_slashes: false,
    escaped_slashes: EscapedSlashes::Kept,
});
