//! Tests of configurations with parts in several languages: what one of them defines changes nothing for the others.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panicking")]

use eddy_config::{ActionKind, GatewayConfig, ListenerConfig, Serve};
use eddy_dialects::{check, check_after};
use eddy_ids::ActionId;
use eddy_model::{ClusterConfig, EndpointAddress};
use eddy_route::{RouteRequest, RouteScratch};
use eddy_spec::Leniency;
use eddy_spec::problem::SourceText;

fn config(sources: &[(&str, &str)]) -> GatewayConfig {
    let sources: Vec<SourceText> = sources.iter().map(|(name, text)| SourceText::new(name, text)).collect();
    check(&sources).unwrap_or_else(|problems| panic!("{problems:#?}")).config
}

/// Like [`config`]; all sources but the first are files of tables.
fn config_of_tables(sources: &[(&str, &str)]) -> GatewayConfig {
    let (first, tables) = sources.split_first().unwrap();
    let mut all = vec![SourceText::new(first.0, first.1)];
    all.extend(
        tables.iter().map(|(name, text)| SourceText { is_included: true, ..SourceText::new(name, text) }),
    );
    check(&all).unwrap_or_else(|problems| panic!("{problems:#?}")).config
}

/// Returns the first endpoint of the cluster that a request is sent to.
fn endpoint(config: &GatewayConfig, listener: &ListenerConfig, path: &str) -> String {
    let router = config.router(listener).unwrap().unwrap();
    let request = RouteRequest {
        host: b"a.test",
        authority: b"a.test",
        path: path.as_bytes(),
        target: path.as_bytes(),
        scheme: b"http",
        method: b"GET",
        ..RouteRequest::default()
    };
    let mut scratch = RouteScratch::new();
    let found = router.lookup(&request, &mut scratch).unwrap_or_else(|| panic!("no rule for {path}"));
    let ActionKind::Cluster(cluster) = config.action_of(listener, found.rule).kind else { panic!("{path}") };
    address(&config.clusters[cluster])
}

/// Returns the address of a cluster's first endpoint.
fn address(cluster: &ClusterConfig) -> String {
    let EndpointAddress::Socket(address) = &cluster.endpoints[0].address else { panic!("{cluster:?}") };
    address.to_string()
}

const OWN: &str = "listeners: [{address: 127.0.0.1:8080, routes: site}]
clusters: {default-web-80: {endpoints: [127.0.0.1:1]}}
routes: {site: [{match: {path: /}, cluster: default-web-80}]}
";

/// An Ingress for ingress-nginx, whose cluster has the name of one in [`OWN`], and a VirtualService that names another
/// Service twice.
const OBJECTS: &str = "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web, annotations: {kubernetes.io/ingress.class: nginx}}, spec: {rules: [{host: b.test, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}]}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: web-1, labels: {kubernetes.io/service-name: web}}, addressType: IPv4, ports: [{port: 80}], endpoints: [{addresses: [10.0.0.2]}]}
---
{apiVersion: v1, kind: Service, metadata: {name: api}, spec: {ports: [{port: 80}]}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: api-1, labels: {kubernetes.io/service-name: api}}, addressType: IPv4, ports: [{port: 80}], endpoints: [{addresses: [10.0.0.3]}]}
---
{apiVersion: networking.istio.io/v1, kind: Gateway, metadata: {name: gateway}, spec: {servers: [{port: {number: 81, name: http, protocol: HTTP}, hosts: ['*']}]}}
---
{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: api}, spec: {hosts: [a.test], gateways: [gateway], http: [{match: [{uri: {prefix: /one}}], route: [{destination: {host: api}}]}, {route: [{destination: {host: api}}]}]}}
";

#[test]
fn a_cluster_name_taken_twice_leaves_later_clusters_as_they_are() {
    let config = config(&[("eddy.yaml", OWN), ("objects.yaml", OBJECTS)]);
    let routed: Vec<&ListenerConfig> =
        config.listeners.iter().filter(|listener| matches!(listener.serve, Serve::Routes(_))).collect();
    let [own, istio] = routed.as_slice() else { panic!("{:#?}", config.listeners) };
    assert_eq!(endpoint(&config, own, "/"), "127.0.0.1:1");
    assert_eq!(
        ["/one", "/two"].map(|path| endpoint(&config, istio, path)),
        ["10.0.0.3:80", "10.0.0.3:80"],
        "both rules lead to the Service that they name"
    );
    let names: Vec<&str> = config.clusters.values().map(|cluster| &*cluster.name).collect();
    assert_eq!(names, ["default-web-80", "default-web-80#2", "default/api:80"]);
    assert_eq!(address(config.clusters.values().nth(1).unwrap()), "10.0.0.2:80");
}

#[test]
fn action_numbers_are_local_to_a_table() {
    let text = "listeners: [{address: 127.0.0.1:8080, routes: [a, b]}]
clusters: {one: {endpoints: [127.0.0.1:1]}, two: {endpoints: [127.0.0.1:2]}}
routes:
  a: [{match: {path: /one}, cluster: one}]
  b: [{match: {path: /two}, cluster: two}, {match: {path: /one-more}, cluster: one}]
";
    let config = config(&[("eddy.yaml", text)]);
    let numbers = |table: usize| -> Vec<ActionId> {
        config.tables.nth(table).unwrap().1.routes.rules.iter().map(|rule| rule.action).collect()
    };
    assert_eq!((numbers(0), numbers(1)), (vec![ActionId::at(0)], vec![ActionId::at(0), ActionId::at(1)]));
    for (path, expected) in [("/one", "127.0.0.1:1"), ("/two", "127.0.0.1:2"), ("/one-more", "127.0.0.1:1")] {
        assert_eq!(endpoint(&config, &config.listeners[0], path), expected, "{path}");
    }
}

#[test]
fn a_rule_is_redundant_by_its_action_and_not_by_its_number() {
    let listed = |second: &str| {
        let text = format!(
            "listeners: [{{address: 127.0.0.1:8080, routes: [a, b]}}]
clusters: {{one: {{endpoints: [127.0.0.1:1]}}, two: {{endpoints: [127.0.0.1:2]}}}}
routes:
  a: [{{match: {{path: /x/y}}, cluster: one}}]
  b: [{{match: {{path: /x}}, cluster: {second}}}, {{match: {{path: /z}}, cluster: one}}, {{match: {{path: /w}}, cluster: two}}]
"
        );
        let checked = check(&[SourceText::new("eddy.yaml", &text)]).unwrap();
        checked.warnings.iter().map(ToString::to_string).filter(|text| text.contains("redundant")).count()
    };
    assert_eq!((listed("one"), listed("two")), (1, 0));
}

#[test]
fn two_nginx_tables_share_nothing() {
    let own = "listeners: [{address: 127.0.0.1:8080, routes: a}, {address: 127.0.0.1:8081, routes: b}]
routes: {a: {file: a.conf}, b: {file: b.conf}}
";
    let file = |port: u16| {
        format!("http {{ server {{ listen 80; location / {{ proxy_pass http://127.0.0.1:{port}; }} }} }}")
    };
    let config = config_of_tables(&[("eddy.yaml", own), ("a.conf", &file(1)), ("b.conf", &file(2))]);
    let endpoints = config.sites.iter().map(|sites| {
        let [action] = sites.actions.as_slice() else { panic!("{:?}", sites.actions) };
        let ActionKind::Cluster(cluster) = action.kind else { panic!("{action:?}") };
        address(&config.clusters[cluster])
    });
    assert_eq!(endpoints.collect::<Vec<_>>(), ["127.0.0.1:1", "127.0.0.1:2"]);
    let names: Vec<&str> = config.clusters.values().map(|cluster| &*cluster.name).collect();
    assert_eq!(names, ["a/127.0.0.1:1", "b/127.0.0.1:2"]);
}

#[test]
fn an_unchanged_cluster_remains_the_same_object() {
    let text = |clusters: &str| {
        format!(
            "listeners: [{{address: 127.0.0.1:8080, routes: site}}]
clusters: {{{clusters}}}
routes: {{site: [{{match: {{path: /}}, cluster: b}}]}}
"
        )
    };
    let one = |name: &str, port: u16| format!("{name}: {{endpoints: [127.0.0.1:{port}]}}");
    let after = |last: &GatewayConfig, clusters: &[String]| {
        let sources = [SourceText::new("eddy.yaml", &text(&clusters.join(", ")))];
        check_after(&sources, Leniency::Strict, last)
            .unwrap_or_else(|problems| panic!("{problems:#?}"))
            .config
    };
    let first = config(&[("eddy.yaml", &text(&[one("b", 2), one("c", 3)].join(", ")))]);
    let [b, c] = ["b", "c"].map(|name| first.clusters.id_of(name).unwrap());

    let added = after(&first, &[one("a", 1), one("b", 2), one("c", 30)]);
    assert_eq!(["b", "c"].map(|name| added.clusters.id_of(name).unwrap()), [b, c], "nothing is renumbered");
    assert!(added.clusters[b].is_same(&first.clusters[b]));
    assert!(!added.clusters[c].is_same(&first.clusters[c]), "its endpoint is another one");
    let action = &added.tables.first().unwrap().actions[0];
    assert_eq!(action.kind, ActionKind::Cluster(b), "rules name a cluster as they did");

    let removed = after(&added, &[one("b", 2)]);
    assert_eq!(removed.clusters.get(c), None);
    let again = after(&removed, &[one("c", 30), one("b", 2)]);
    assert_ne!(again.clusters.id_of("c").unwrap(), c, "a cluster that comes back is another one");
    assert!(again.clusters[b].is_same(&first.clusters[b]));
}

const FILTERED: &str = "listeners: [{address: 127.0.0.1:8080, routes: site, filters: [first, second]}]
routes: {site: [{match: {path: /}, respond: {status: 200}, filters: {second: {disabled: true}}}]}
filters: {first: {request_id: {}}, second: {ip_access: {allow: [10.0.0.0/8]}}}
";

#[test]
fn a_filter_that_is_added_renumbers_no_other() {
    let sources = |text: &str| [SourceText::new("eddy.yaml", text)];
    let before = check(&sources(FILTERED)).unwrap().config;
    let more = FILTERED.replace("filters: {first", "filters: {added: {request_id: {}}, first");
    let after = check_after(&sources(&more), Leniency::Strict, &before).unwrap().config;
    let id = |config: &GatewayConfig, name: &str| config.filters.id_of(name).unwrap();
    for name in ["first", "second"] {
        assert_eq!(id(&after, name), id(&before, name));
        assert!(after.filters[id(&after, name)].is_same(&before.filters[id(&before, name)]), "{name}");
    }
    assert_eq!(after.listeners[0].filters, before.listeners[0].filters);
    assert_eq!(after.rule_filters().next().unwrap().filter, id(&before, "second"));
    let names: Vec<&str> = after.filters.values().map(|filter| &*filter.name).collect();
    assert_eq!(names, ["added", "first", "second"]);
}

#[test]
fn a_filter_of_a_dialect_never_takes_the_name_of_another() {
    let own = "listeners: [{address: 127.0.0.1:8080, routes: site, filters: [istio-cors]}]
routes: {site: [{match: {path: /}, respond: {status: 200}}]}
filters: {istio-cors: {request_id: {}}}
";
    let objects = "{apiVersion: networking.istio.io/v1, kind: Gateway, metadata: {name: gateway}, spec: {servers: [{port: {number: 81, name: http, protocol: HTTP}, hosts: ['*']}]}}
---
{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: api}, spec: {hosts: [a.test], gateways: [gateway], http: [{corsPolicy: {allowOrigins: [{exact: 'https://b.test'}]}, directResponse: {status: 200}}]}}
";
    let config = config(&[("eddy.yaml", own), ("objects.yaml", objects)]);
    let names: Vec<&str> = config.filters.values().map(|filter| &*filter.name).collect();
    assert_eq!(names, ["istio-cors", "istio-cors#2"]);
    let [own, istio] = config.listeners.as_slice() else { panic!("{:#?}", config.listeners) };
    assert_eq!(own.filters, [config.filters.id_of("istio-cors").unwrap()]);
    assert_eq!(istio.filters, [config.filters.id_of("istio-cors#2").unwrap()]);
}
