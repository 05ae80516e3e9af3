//! Tests that the rule order is total and as the API specifies: for generated routes and requests, an independent,
//! simple search finds the same winner.

use std::cmp::Reverse;

use eddy_spec::Leniency;
use proptest::prelude::*;

use crate::world::{ask, check, told};

const PATHS: [&str; 6] = ["/", "/a", "/a/", "/a/b", "/ab", "/a/b/c"];
const HOSTS: [&str; 5] = ["", "*.test", "a.test", "b.a.test", "*.a.test"];

/// A match and its position.
#[derive(Clone, Debug)]
struct MatchCandidate {
    host: &'static str,
    is_exact: bool,
    path: &'static str,
    method: Option<&'static str>,
    headers: usize,
    query: usize,
    created: Option<u8>,
    namespace: &'static str,
    name: &'static str,
    rule: usize,
}

/// A route: its host, age, name and rules.
#[derive(Clone, Debug)]
struct GeneratedRoute {
    host: &'static str,
    created: Option<u8>,
    namespace: &'static str,
    name: &'static str,
    rules: Vec<(bool, &'static str, Option<&'static str>, usize, usize)>,
}

fn routes() -> impl Strategy<Value = Vec<GeneratedRoute>> {
    let rule = (
        any::<bool>(),
        prop::sample::select(&PATHS[..]),
        prop::option::of(prop::sample::select(&["GET", "PUT"][..])),
        0..3_usize,
        0..3_usize,
    );
    let route = (
        prop::sample::select(&HOSTS[..]),
        prop::option::of(1..4_u8),
        prop::sample::select(&["a", "a-b", "b"][..]),
        prop::sample::select(&["x", "w", "z"][..]),
        prop::collection::vec(rule, 1..4),
    );
    let route = route.prop_map(|(host, created, namespace, name, rules)| GeneratedRoute {
        host,
        created,
        namespace,
        name,
        rules,
    });
    prop::collection::vec(route, 1..7).prop_map(|mut routes: Vec<GeneratedRoute>| {
        let mut seen = Vec::new();
        routes.retain(|route| {
            let is_new = !seen.contains(&(route.namespace, route.name));
            seen.push((route.namespace, route.name));
            is_new
        });
        routes
    })
}

fn manifests(routes: &[GeneratedRoute]) -> String {
    let mut out = "{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: gw}, spec: {gatewayClassName: eddy, listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]}}\n".to_owned();
    for route in routes {
        let created = route
            .created
            .map_or(String::new(), |day| format!(", creationTimestamp: '2026-01-0{day}T00:00:00Z'"));
        let hosts =
            if route.host.is_empty() { String::new() } else { format!(", hostnames: ['{}']", route.host) };
        let rules: Vec<String> = route
            .rules
            .iter()
            .map(|(is_exact, path, method, headers, query)| {
                let kind = if *is_exact { "Exact" } else { "PathPrefix" };
                let method = method.map_or(String::new(), |method| format!(", method: {method}"));
                let list = |count: usize| (0..count).map(|number| format!("{{name: v{number}, value: x}}")).collect::<Vec<_>>().join(", ");
                format!("{{matches: [{{path: {{type: {kind}, value: {path}}}{method}, headers: [{}], queryParams: [{}]}}], filters: [{{type: RequestRedirect, requestRedirect: {{port: 1}}}}]}}", list(*headers), list(*query))
            })
            .collect();
        out += &format!(
            "---\n{{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {{name: {}, namespace: {}{created}}}, spec: {{parentRefs: [{{name: gw, namespace: default}}]{hosts}, rules: [{}]}}}}\n",
            route.name,
            route.namespace,
            rules.join(", ")
        );
    }
    out
}

/// Returns the winner according to the text of the API: all matches are sorted, and the first that applies wins; only
/// matches of the most specific hostname count.
fn expected(
    routes: &[GeneratedRoute],
    host: &str,
    method: &str,
    path: &str,
    headers: usize,
    query: usize,
) -> Option<String> {
    let has = |pattern: &str| {
        pattern.is_empty()
            || pattern == host
            || pattern.strip_prefix('*').is_some_and(|end| host.len() > end.len() && host.ends_with(end))
    };
    let specific = |pattern: &str| (!pattern.is_empty() && !pattern.starts_with('*'), pattern.len());
    let best = routes
        .iter()
        .map(|route| route.host)
        .filter(|pattern| has(pattern))
        .max_by_key(|pattern| specific(pattern))?;
    let mut entries: Vec<MatchCandidate> = Vec::new();
    for route in routes.iter().filter(|route| route.host == best) {
        for (rule, (is_exact, path, method, headers, query)) in route.rules.iter().enumerate() {
            entries.push(MatchCandidate {
                host: route.host,
                is_exact: *is_exact,
                path,
                method: *method,
                headers: *headers,
                query: *query,
                created: route.created,
                namespace: route.namespace,
                name: route.name,
                rule,
            });
        }
    }
    entries.sort_by_key(|entry| {
        (
            !entry.is_exact,
            Reverse(if entry.is_exact { 0 } else { entry.path.len() }),
            entry.method.is_none(),
            Reverse(entry.headers),
            Reverse(entry.query),
            entry.created.unwrap_or(u8::MAX),
            format!("{}/{}", entry.namespace, entry.name),
            entry.rule,
        )
    });
    let holds = |entry: &&MatchCandidate| {
        let below = entry.path.trim_end_matches('/');
        let is_path = if entry.is_exact {
            entry.path == path
        } else {
            path.strip_prefix(below).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        debug_assert_eq!(entry.host, best);
        is_path
            && entry.method.is_none_or(|wanted| wanted == method)
            && entry.headers <= headers
            && entry.query <= query
    };
    entries
        .iter()
        .find(holds)
        .map(|entry| format!("httproute/{}/{}/{}", entry.namespace, entry.name, entry.rule + 1))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_winning_rule_is_the_first_of_a_reference_sort(routes in routes()) {
        let text = manifests(&routes);
        let checked = check(&[("a.yaml", &text)], Leniency::Strict).unwrap_or_else(|problems| panic!("{}\n{text}", told(&problems)));
        for host in ["a.test", "b.a.test", "c.b.a.test", "x.test", "other"] {
            for path in ["/", "/a", "/a/", "/a/b", "/a/b/c", "/ab", "/abc"] {
                for (method, headers, query) in [("GET", 2, 2), ("PUT", 1, 0), ("POST", 0, 1), ("GET", 0, 0)] {
                    let query_text: Vec<String> = (0..query).map(|number| format!("v{number}=x")).collect();
                    let target = if query == 0 { path.to_owned() } else { format!("{path}?{}", query_text.join("&")) };
                    let fields: String = (0..headers).map(|number| format!("V{number}: x\r\n")).collect();
                    let head = format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\n{fields}");
                    let outcome = ask(&checked.config, "127.0.0.1:80", &head);
                    prop_assert_eq!(outcome.rule, expected(&routes, host, method, path, headers, query), "{}\n{}", head, text);
                }
            }
        }
    }
}
