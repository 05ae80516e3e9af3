//! Tests of eddy's behaviour where the text of the API leaves room, and of the status of objects.

use eddy_config::ActionKind;
use eddy_spec::Leniency;

use crate::world::{accepted, ask, check, told};

/// A Gateway with a listener at port 80, and a Service.
const BASE: &str = "
{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: gw}, spec: {gatewayClassName: eddy, listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: 1}, {port: 2, name: b}]}}
";

/// Returns a route whose rules redirect to different paths, so that they can be told apart.
fn route(name: &str, more: &str, rules: &[&str]) -> String {
    let (namespace, name) = name.split_once('/').unwrap_or(("default", name));
    let rules: Vec<String> = rules
        .iter()
        .map(|matches| {
            format!(
                "{{matches: [{matches}], filters: [{{type: RequestRedirect, requestRedirect: {{port: 1}}}}]}}"
            )
        })
        .collect();
    format!(
        "---\n{{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {{name: {name}, namespace: {namespace}{more}, rules: [{}]}}}}\n",
        rules.join(", ")
    )
}

const PARENT: &str = "}, spec: {parentRefs: [{name: gw, namespace: default}]";

fn check_winner(extra: &str, routes: &[String], head: &str, expected: Option<&str>) {
    let text = format!("{BASE}{}", routes.concat());
    let config = format!("kubernetes: {{{extra}}}\n");
    let checked = check(&[("eddy.yaml", &config), ("a.yaml", &text)], Leniency::Strict)
        .unwrap_or_else(|problems| panic!("{}", told(&problems)));
    let outcome = ask(&checked.config, "127.0.0.1:80", head);
    assert_eq!(outcome.rule.as_deref(), expected, "{head}\n{text}");
}

const GET: &str = "GET /foo/x HTTP/1.1\r\nHost: a.test\r\n";

#[test]
fn the_final_slash_of_a_prefix_counts() {
    let routes = [
        route("a", PARENT, &["{path: {type: PathPrefix, value: /foo}}"]),
        route("b", PARENT, &["{path: {type: PathPrefix, value: /foo/}}"]),
    ];
    check_winner("", &routes, GET, Some("httproute/default/b/1"));
}

#[test]
fn namespace_and_name_are_compared_as_one_string() {
    let prefix = &["{path: {type: PathPrefix, value: /foo}}"];
    let routes = [route("a/x", PARENT, prefix), route("a-b/x", PARENT, prefix)];
    check_winner("", &routes, GET, Some("httproute/a-b/x/1"));
}

#[test]
fn older_objects_win_before_names_and_undated_objects_lose() {
    let prefix = &["{path: {type: PathPrefix, value: /foo}}"];
    let at = |time: &str| format!(", creationTimestamp: '{time}'{PARENT}");
    let routes = [
        route("a", PARENT, prefix),
        route("b", &at("2025-02-01T00:00:00Z"), prefix),
        route("c", &at("2025-01-01T00:00:00Z"), prefix),
    ];
    check_winner("", &routes, GET, Some("httproute/default/c/1"));
    check_winner("", &routes[..2], GET, Some("httproute/default/b/1"));
}

#[test]
fn the_setting_decides_the_order_of_regular_expressions() {
    let routes = [route(
        "r",
        PARENT,
        &[
            "{path: {type: PathPrefix, value: /}}",
            "{path: {type: PathPrefix, value: /foo}}",
            "{path: {type: RegularExpression, value: '/[a-z]+/x'}}",
            "{path: {type: Exact, value: /foo/exact}}",
        ],
    )];
    let other = "GET /bar/x HTTP/1.1\r\nHost: a.test\r\n";
    for (setting, foo, bar) in [
        ("", 3, 3),
        ("regex_rank: before_prefix", 3, 3),
        ("regex_rank: last", 2, 1),
        ("regex_rank: before_catch_all", 2, 3),
    ] {
        check_winner(setting, &routes, GET, Some(&format!("httproute/default/r/{foo}")));
        check_winner(setting, &routes, other, Some(&format!("httproute/default/r/{bar}")));
    }
    check_winner("", &routes, "GET /foo/exact HTTP/1.1\r\nHost: a.test\r\n", Some("httproute/default/r/4"));
}

#[test]
fn a_less_specific_hostname_is_tried_only_with_fallthrough() {
    let hosts = |hosts: &str| format!("{PARENT}, hostnames: [{hosts}]");
    let routes = [
        route("exact", &hosts("a.test"), &["{path: {type: Exact, value: /only}}"]),
        route("wild", &hosts("'*.test'"), &["{path: {type: PathPrefix, value: /}}"]),
        route("any", PARENT, &["{path: {type: PathPrefix, value: /}}"]),
    ];
    check_winner("", &routes, GET, None);
    check_winner("host_fallthrough: true", &routes, GET, Some("httproute/default/wild/1"));
    check_winner("", &routes, "GET / HTTP/1.1\r\nHost: b.a.test\r\n", Some("httproute/default/wild/1"));
    check_winner("", &routes, "GET / HTTP/1.1\r\nHost: other\r\n", Some("httproute/default/any/1"));
}

#[test]
fn method_then_headers_then_query_decide_precedence() {
    let routes = [
        route(
            "query",
            PARENT,
            &["{path: {value: /foo}, queryParams: [{name: a, value: b}, {name: c, value: d}]}"],
        ),
        route("headers", PARENT, &["{path: {value: /foo}, headers: [{name: a, value: b}]}"]),
        route("method", PARENT, &["{path: {value: /foo}, method: GET}"]),
        route("plain", PARENT, &["{path: {value: /foo}}"]),
    ];
    let all = "GET /foo?a=b&c=d HTTP/1.1\r\nHost: a.test\r\nA: b\r\n";
    check_winner("", &routes, all, Some("httproute/default/method/1"));
    check_winner("", &routes, &all.replace("GET", "PUT"), Some("httproute/default/headers/1"));
    check_winner(
        "",
        &routes,
        "PUT /foo?a=b&c=d HTTP/1.1\r\nHost: a.test\r\n",
        Some("httproute/default/query/1"),
    );
    check_winner("", &routes, "PUT /foo?a=b HTTP/1.1\r\nHost: a.test\r\n", Some("httproute/default/plain/1"));
}

#[test]
fn backends_are_weighted_and_missing_ones_respond_500() {
    let rule = |backends: &str| {
        format!(
            "{BASE}---\n{{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {{name: r}}, spec: {{parentRefs: [{{name: gw}}], rules: [{{backendRefs: [{backends}]}}]}}}}\n"
        )
    };
    let check = |backends: &str, expected: &str| {
        let checked = accepted(&rule(backends));
        assert_eq!(ask(&checked.config, "127.0.0.1:80", GET).does, expected, "{backends}");
    };
    check("{name: s, port: 1}", "default/s:1");
    check("{name: s, port: 1, weight: 3}, {name: s, port: 2}", "default/s:1 3, default/s:2 1");
    check("{name: s, port: 1, weight: 0}, {name: s, port: 2}", "default/s:2 1");
    check("{name: s, port: 1, weight: 0}", "500");
    check("", "500");
    check("{name: none, port: 1}, {name: s, port: 3}", "500 1, 500 1");
    check("{name: none, port: 1, weight: 2}, {name: s, port: 1}", "500 2, default/s:1 1");
    check("{name: s, port: 1, kind: Other, group: x.y}", "500 1");
    check("{name: s, port: 1, namespace: other}", "500 1");
}

#[test]
fn a_request_is_mirrored_whichever_backend_it_goes_to() {
    let mirror = "filters: [{type: RequestMirror, requestMirror: {backendRef: {name: s, port: 2}}}]";
    let edit = "filters: [{type: RequestHeaderModifier, requestHeaderModifier: {remove: [x]}}]";
    for backends in
        ["{name: s, port: 1}, {name: none, port: 1}".to_owned(), format!("{{name: s, port: 1, {edit}}}")]
    {
        let checked = accepted(&format!(
            "{BASE}---\n{{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {{name: r}}, spec: {{parentRefs: [{{name: gw}}], rules: [{{{mirror}, backendRefs: [{backends}]}}]}}}}\n"
        ));
        let action = ask(&checked.config, "127.0.0.1:80", GET).action.unwrap();
        let ActionKind::Split(shares) = &action.kind else { panic!("{action:?}") };
        for share in shares {
            let names =
                share.action.mirrors.iter().map(|mirror| &*checked.config.clusters[mirror.cluster].name);
            assert_eq!(names.collect::<Vec<_>>(), ["default/s:2"], "{backends}");
        }
    }
}

#[test]
fn an_external_name_service_is_not_a_backend() {
    let text = format!(
        "{BASE}---\n{{apiVersion: v1, kind: Service, metadata: {{name: else}}, spec: {{type: ExternalName, externalName: else.example.com, ports: [{{port: 1}}]}}}}\n---\n{{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {{name: r}}, spec: {{parentRefs: [{{name: gw}}], rules: [{{backendRefs: [{{name: else, port: 1}}]}}]}}}}\n"
    );
    assert_eq!(ask(&accepted(&text).config, "127.0.0.1:80", GET).does, "500 1");
}

#[test]
fn a_listener_ends_the_search_for_its_hosts() {
    let text = "
{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: gw}, spec: {gatewayClassName: eddy, listeners: [{name: wild, port: 80, protocol: HTTP, hostname: '*.test'}, {name: one, port: 80, protocol: HTTP, hostname: one.test}]}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw, sectionName: wild}], hostnames: [one.test, two.test], rules: [{}]}}
";
    for extra in ["", "kubernetes: {host_fallthrough: true}\n"] {
        let mut texts = vec![("a.yaml", text)];
        if !extra.is_empty() {
            texts.push(("eddy.yaml", extra));
        }
        let checked =
            check(&texts, Leniency::Strict).unwrap_or_else(|problems| panic!("{}", told(&problems)));
        let ask =
            |host: &str| ask(&checked.config, "127.0.0.1:80", &format!("GET / HTTP/1.1\r\nHost: {host}\r\n"));
        assert_eq!(ask("one.test").rule.as_deref(), Some("gateway/default/gw/one/no-route"));
        assert_eq!(ask("one.test").does, "404");
        assert_eq!(ask("two.test").rule.as_deref(), Some("httproute/default/r/1"));
        assert_eq!(ask("other").rule, None);
    }
}

#[test]
fn objects_get_the_same_status_as_in_a_cluster() {
    let text = "
{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: gw}, spec: {gatewayClassName: eddy, listeners: [{name: a, port: 80, protocol: HTTP, hostname: a.test}, {name: b, port: 81, protocol: HTTP, allowedRoutes: {kinds: [{kind: GRPCRoute}, {kind: TCPRoute}]}}]}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: other}, spec: {gatewayClassName: eddy, listeners: [{name: a, port: 80, protocol: HTTP, hostname: a.test}]}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw, sectionName: a}, {name: gw, sectionName: b}, {name: gw, sectionName: c}, {name: none}], rules: [{backendRefs: [{name: none, port: 1}]}]}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: elsewhere}, spec: {parentRefs: [{name: gw, port: 80}], hostnames: [b.test]}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: far, namespace: far}, spec: {parentRefs: [{name: gw, namespace: default}]}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: GRPCRoute, metadata: {name: rival}, spec: {parentRefs: [{name: gw, sectionName: a}]}}
";
    let checked = accepted(text);
    let shown: Vec<String> = checked.statuses.iter().map(ToString::to_string).collect();
    let expected = "\
Gateway default/gw: Accepted, Programmed
  listener a: Accepted, Programmed, ResolvedRefs, 1 route
  listener b: Accepted, Programmed, not ResolvedRefs (InvalidRouteKinds: routes of kind `TCPRoute` can't attach to an HTTP listener), 0 routes
Gateway default/other: not Accepted (ListenersNotValid), not Programmed (Invalid: no listener is served)
  listener a: not Accepted (HostnameConflict), not Programmed (Invalid), ResolvedRefs, Conflicted (HostnameConflict: the Gateway `default/gw` already serves a.test at 127.0.0.1:80), 0 routes
HTTPRoute default/elsewhere
  parent default/gw:80: not Accepted (NoMatchingListenerHostname: none of its hostnames matches `a.test`), ResolvedRefs
HTTPRoute default/r
  parent default/gw/a: Accepted, not ResolvedRefs (BackendNotFound: there is no Service `default/none`)
  parent default/gw/b: not Accepted (NotAllowedByListeners: no listener allows a HTTPRoute from the namespace `default`), not ResolvedRefs (BackendNotFound: there is no Service `default/none`)
  parent default/gw/c: not Accepted (NoMatchingParent: no listener has this `sectionName` and `port`), not ResolvedRefs (BackendNotFound: there is no Service `default/none`)
  parent default/none: not Accepted (NoMatchingParent: there is no Gateway `default/none`; there are `default/gw`, `default/other`), not ResolvedRefs (BackendNotFound: there is no Service `default/none`)
GRPCRoute default/rival
  parent default/gw/a: not Accepted (HostnameConflict: the older HTTPRoute `default/r` has some of the same hostnames), ResolvedRefs
HTTPRoute far/far
  parent default/gw: not Accepted (NotAllowedByListeners: no listener allows a HTTPRoute from the namespace `far`), ResolvedRefs";
    assert_eq!(shown.join("\n"), expected);
}
