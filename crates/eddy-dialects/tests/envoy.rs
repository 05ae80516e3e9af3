//! Tests of Envoy configurations: examples of its documentation, refused settings and their positions, and broken
//! files.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panicking")]

use std::fs;
use std::path::PathBuf;

use eddy_config::{
    ActionKind, DynamicModuleConfig, DynamicModuleSource, FilterKind, GatewayConfig, MirrorHost,
};
use eddy_dialects::check_with;
use eddy_http::{Field, FieldId, Fields, GrpcStatus, Span};
use eddy_model::{Balance, BalanceKey, ServerCheck};
use eddy_route::{RouteRequest, RouteScratch, Router};
use eddy_spec::Leniency;
use eddy_spec::problem::{Problem, Severity, SourceText};

/// A request: target, host and headers.
struct EnvoyTestRequest<'a> {
    target: &'a str,
    host: &'a str,
    fields: &'a [(&'a str, &'a str)],
    random: u64,
}

fn read(text: &str, leniency: Leniency) -> Result<GatewayConfig, Vec<Problem>> {
    check_with(&[SourceText::new("envoy.yaml", text)], leniency).map(|checked| checked.config)
}

fn config(text: &str) -> GatewayConfig {
    read(text, Leniency::Strict).unwrap_or_else(|problems| panic!("{problems:#?}\n{text}"))
}

/// Returns the cluster or status that a request gets, `none` without a route.
fn answer(config: &GatewayConfig, ask: &EnvoyTestRequest<'_>) -> String {
    let router = config.router(&config.listeners[0]).unwrap().unwrap();
    let (path, query) = ask.target.split_once('?').unwrap_or((ask.target, ""));
    let mut bytes = Vec::new();
    let mut span = |text: &str| {
        let start = u32::try_from(bytes.len()).unwrap();
        bytes.extend_from_slice(text.as_bytes());
        Span { start, end: u32::try_from(bytes.len()).unwrap() }
    };
    let mut fields = Vec::new();
    let mut method = "GET";
    for (name, value) in ask.fields {
        if *name == ":method" {
            method = value;
            continue;
        }
        let id = FieldId::from_name(name.as_bytes());
        fields.push(Field { name: span(name), value: span(value), id, ..Field::default() });
    }
    let request = RouteRequest {
        host: ask.host.split(':').next().unwrap().as_bytes(),
        authority: ask.host.as_bytes(),
        path: path.as_bytes(),
        query: query.as_bytes(),
        target: ask.target.as_bytes(),
        scheme: b"http",
        method: method.as_bytes(),
        random: ask.random,
        fields: Fields::new(&bytes, &fields),
    };
    let mut scratch = RouteScratch::new();
    let Some(found) = router.lookup(&request, &mut scratch) else { return "none".to_owned() };
    let mut path_out = Vec::new();
    let is_rewritten = found.rewrite(path.as_bytes(), &mut scratch, &mut path_out).unwrap();
    let what = match &config.action_of(&config.listeners[0], found.rule).kind {
        ActionKind::Cluster(cluster) => config.clusters[*cluster].name.to_string(),
        ActionKind::Weighted(shares) => format!("{} clusters", shares.len()),
        ActionKind::Split(shares) => format!("{} actions", shares.len()),
        ActionKind::Respond(respond) => respond.status.to_string(),
        ActionKind::Redirect(redirect) => format!("redirect {}", redirect.status),
        ActionKind::Sites(_) => "something that Envoy has not".to_owned(),
    };
    if is_rewritten { format!("{what} {}", String::from_utf8(path_out).unwrap()) } else { what }
}

/// Checks the destinations of requests, each as `target[ host[ name:value]...] -> answer`.
fn check(text: &str, asks: &[&str]) {
    let config = config(text);
    for line in asks {
        let (ask, expected) = line.split_once(" -> ").unwrap();
        let mut words = ask.split(' ');
        let target = words.next().unwrap();
        let host = words.next().unwrap_or("www.example.com");
        let fields: Vec<(&str, &str)> = words.map(|word| word.rsplit_once(':').unwrap()).collect();
        let ask = EnvoyTestRequest { target, host, fields: &fields, random: 50 };
        assert_eq!(answer(&config, &ask), expected, "{line}\n{text}");
    }
}

/// Returns a configuration with one virtual host that has these routes and matches every host.
fn routes(routes: &str) -> String {
    format!("virtual_hosts:\n- name: all\n  domains: [\"*\"]\n  routes:\n{routes}")
}

/// Returns the problems of a configuration: line, whether it is an error, message and hint.
fn problems(text: &str, leniency: Leniency) -> Vec<String> {
    let found = match check_with(&[SourceText::new("envoy.yaml", text)], leniency) {
        Ok(checked) => checked.warnings,
        Err(problems) => problems,
    };
    let shown = found.into_iter().map(|problem| {
        let kind = if problem.severity == Severity::Error { "error" } else { "warning" };
        format!(
            "{}:{} {kind}: {} ({})",
            problem.line,
            problem.column,
            problem.message,
            problem.hint.unwrap_or_default()
        )
    });
    shown.collect()
}

#[test]
fn the_first_route_that_matches_wins() {
    // https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/http/http_routing
    let text = routes(
        "  - {match: {prefix: /foo}, route: {cluster: one}}\n  - {match: {path: /foo/bar}, route: {cluster: two}}\n  - {match: {prefix: /}, route: {cluster: rest}}\n",
    );
    check(&text, &["/foo/bar -> one", "/foobar -> one", "/fo -> rest", "/ -> rest"]);
}

#[test]
fn domains_are_selected_as_the_api_specifies() {
    // api/envoy/config/route/v3/route_components.proto, VirtualHost.domains
    let host = |name: &str, domains: &str| {
        format!(
            "- name: {name}\n  domains: {domains}\n  routes: [{{match: {{prefix: /}}, route: {{cluster: {name}}}}}]\n"
        )
    };
    let text = format!(
        "virtual_hosts:\n{}{}{}{}{}",
        host("exact", "[www.foo.com]"),
        host("suffix", "[\"*.foo.com\"]"),
        host("dash", "[\"*-bar.foo.com\"]"),
        host("prefix", "[\"foo.*\", \"foo-*\"]"),
        host("any", "[\"*\"]"),
    );
    check(
        &text,
        &[
            "/ www.foo.com -> exact",
            "/ WWW.FOO.COM -> exact",
            "/ www.foo.com:80 -> any",
            "/ baz-bar.foo.com -> dash",
            "/ -bar.foo.com -> suffix",
            "/ a.b.foo.com -> suffix",
            "/ foo.bar -> prefix",
            "/ foo-bar -> prefix",
            "/ foo.com.foo.com -> suffix",
            "/ foo. -> any",
            "/ .foo.com -> any",
        ],
    );
}

#[test]
fn a_chosen_virtual_host_is_the_only_one() {
    let text = "virtual_hosts:\n- {name: a, domains: [www.ex.com], routes: [{match: {path: /only}, route: {cluster: a}}]}\n- {name: b, domains: [\"*.ex.com\"], routes: [{match: {prefix: /}, route: {cluster: b}}]}\n";
    check(text, &["/only www.ex.com -> a", "/other www.ex.com -> none", "/other x.ex.com -> b"]);
}

#[test]
fn ports_are_ignored_where_configured() {
    let text = "ignore_port_in_host_matching: true\nvirtual_hosts:\n- {name: a, domains: [www.ex.com], routes: [{match: {prefix: /}, route: {cluster: a}}]}\n";
    check(text, &["/ www.ex.com:8080 -> a", "/ www.ex.com. -> none"]);
}

#[test]
fn paths_match_as_the_api_specifies() {
    // route_components.proto, RouteMatch
    let one = |matching: &str| routes(&format!("  - {{match: {{{matching}}}, route: {{cluster: a}}}}\n"));
    check(
        &one("prefix: /foo"),
        &["/foo -> a", "/foobar -> a", "/foo/bar?x=1 -> a", "/fo -> none", "/Foo -> none"],
    );
    check(&one("path: /foo"), &["/foo -> a", "/foo?x=1 -> a", "/foo/ -> none", "//foo -> none"]);
    check(&one("path: /foo, case_sensitive: false"), &["/FOO -> a", "/FOOO -> none"]);
    check(&one("prefix: /foo, case_sensitive: false"), &["/FOObar -> a", "/fo -> none"]);
    check(
        &one("path_separated_prefix: /api/dev"),
        &["/api/dev -> a", "/api/dev/v1 -> a", "/api/dev?p=2 -> a", "/api/developer -> none"],
    );
    check(
        &one("safe_regex: {regex: \"/b[io]t\"}"),
        &["/bit -> a", "/bot -> a", "/bite -> none", "/bit/bot -> none", "/x/bit -> none"],
    );
    check(
        &one("safe_regex: {google_re2: {}, regex: \"/[[:digit:]]+\\\\.html\"}"),
        &["/12.html -> a", "/12xhtml -> none"],
    );
}

#[test]
fn headers_match_as_the_api_specifies() {
    // route_components.proto, HeaderMatcher; the values of its comments
    let one = |matching: &str| {
        routes(&format!(
            "  - match: {{prefix: /, headers: [{{name: x, {matching}}}]}}\n    route: {{cluster: a}}\n"
        ))
    };
    check(&one("string_match: {exact: abcd}"), &["/ h x:abcd -> a", "/ h x:abcde -> none", "/ h -> none"]);
    check(&one("string_match: {prefix: abcd}"), &["/ h x:abcdxyz -> a", "/ h x:xabcd -> none"]);
    check(&one("string_match: {suffix: abcd}"), &["/ h x:xyzabcd -> a", "/ h x:abcdx -> none"]);
    check(&one("string_match: {contains: abcd}"), &["/ h x:xyzabcdpqr -> a", "/ h x:xyzbcdpqr -> none"]);
    check(
        &one("string_match: {safe_regex: {regex: \"\\\\d{3}\"}}"),
        &["/ h x:123 -> a", "/ h x:1234 -> none", "/ h x:123.456 -> none"],
    );
    check(&one("string_match: {exact: abcd, ignore_case: true}"), &["/ h x:aBcD -> a"]);
    check(&one("exact_match: abcd"), &["/ h x:abcd -> a"]);
    check(
        &one("range_match: {start: -10, end: 0}"),
        &[
            "/ h x:-1 -> a",
            "/ h x:0 -> none",
            "/ h x:somestring -> none",
            "/ h x:10.9 -> none",
            "/ h x:-1somestring -> none",
        ],
    );
    check(&one("present_match: true"), &["/ h x:1 -> a", "/ h -> none"]);
    check(&one("present_match: false"), &["/ h x:1 -> none", "/ h -> a"]);
    check(&one("invert_match: true"), &["/ h x:1 -> none", "/ h -> a"]);
    check(
        &one("string_match: {exact: a}, invert_match: true"),
        &["/ h x:b -> a", "/ h x:a -> none", "/ h -> none", "/ h x:b x:a -> none"],
    );
    check(
        &one("string_match: {exact: a}, invert_match: true, treat_missing_header_as_empty: true"),
        &["/ h -> a", "/ h x:a -> none"],
    );
    // Found with the real Envoy: a missing header counts as present with an empty value.
    let present = |more: &str| one(&format!("treat_missing_header_as_empty: true, {more}"));
    check(&present("present_match: true"), &["/ h -> a", "/ h x:1 -> a"]);
    check(&present("present_match: false"), &["/ h -> none", "/ h x:1 -> none"]);
    check(&present("present_match: false, invert_match: true"), &["/ h -> a", "/ h x:1 -> a"]);
    check(&one("string_match: {exact: a}"), &["/ h x:b x:a -> a", "/ h x:b,a -> none"]);
    let method = routes(
        "  - match: {prefix: /, headers: [{name: \":method\", string_match: {exact: POST}}]}\n    route: {cluster: a}\n",
    );
    check(&method, &["/ h :method:POST -> a", "/ h -> none"]);
}

#[test]
fn query_parameters_match_as_the_api_specifies() {
    let one = |matching: &str| {
        routes(&format!(
            "  - match: {{prefix: /, query_parameters: [{{name: a, {matching}}}]}}\n    route: {{cluster: a}}\n"
        ))
    };
    check(
        &one("string_match: {exact: \"1\"}"),
        &["/?a=1 -> a", "/?b=2&a=1 -> a", "/?a=2&a=1 -> none", "/?a=%31 -> none", "/?b=1 -> none"],
    );
    check(&one("present_match: true"), &["/?a -> a", "/?a= -> a", "/?ab=1 -> none"]);
    check(&one("present_match: false"), &["/?b=1 -> a", "/?a -> none"]);
}

#[test]
fn fractions_and_grpc() {
    let fraction = |numerator: u32| {
        routes(&format!(
            "  - match: {{prefix: /, runtime_fraction: {{default_value: {{numerator: {numerator}, denominator: HUNDRED}}, runtime_key: k}}}}\n    route: {{cluster: new}}\n  - {{match: {{prefix: /}}, route: {{cluster: old}}}}\n"
        ))
    };
    // The requests of these tests drew 50.
    check(&fraction(51), &["/ -> new"]);
    check(&fraction(50), &["/ -> old"]);
    let grpc = routes("  - {match: {prefix: /, grpc: {}}, route: {cluster: a}}\n");
    check(
        &grpc,
        &[
            "/ h content-type:application/grpc -> a",
            "/ h content-type:application/grpc+proto -> a",
            "/ h content-type:application/grpcx -> none",
        ],
    );
}

#[test]
fn actions_are_those_of_the_api() {
    // route_components.proto, RouteAction.prefix_rewrite and regex_rewrite, RedirectAction, DirectResponseAction
    check(
        &routes(
            "  - {match: {prefix: /prefix/}, route: {cluster: a, prefix_rewrite: /}}\n  - {match: {prefix: /prefix}, route: {cluster: a, prefix_rewrite: /}}\n",
        ),
        &["/prefix/etc -> a /etc", "/prefix -> a /"],
    );
    let regex = |pattern: &str, by: &str| {
        routes(&format!(
            "  - match: {{prefix: /}}\n    route: {{cluster: a, regex_rewrite: {{pattern: {{regex: '{pattern}'}}, substitution: '{by}'}}}}\n"
        ))
    };
    check(
        &regex("^/service/([^/]+)(/.*)$", r"\2/instance/\1"),
        &["/service/foo/v1/api -> a /v1/api/instance/foo"],
    );
    check(&regex("one", "two"), &["/xxx/one/yyy/one/zzz -> a /xxx/two/yyy/two/zzz"]);
    check(&regex("^(.*?)one(.*)$", r"\1two\2"), &["/xxx/one/yyy/one/zzz -> a /xxx/two/yyy/one/zzz"]);
    check(&regex("(?i)/xxx/", "/yyy/"), &["/aaa/XxX/bbb -> a /aaa/yyy/bbb"]);
    let text = routes(
        "  - {match: {path: /old}, redirect: {path_redirect: /new, response_code: PERMANENT_REDIRECT, https_redirect: true}}\n  - {match: {path: /x}, direct_response: {status: 418, body: {inline_string: tea}}}\n  - match: {prefix: /}\n    route: {weighted_clusters: {clusters: [{name: a, weight: 1}, {name: b, weight: 3}]}}\n",
    );
    check(&text, &["/old -> redirect 308", "/x -> 418", "/y -> 2 clusters"]);
}

#[test]
fn json_and_its_names_are_read() {
    let text = r#"{"virtualHosts": [{"name": "a", "domains": ["*"], "routes": [{"match": {"prefix": "/", "caseSensitive": false}, "route": {"cluster": "a", "timeout": "0.25s"}}]}]}"#;
    let config = config(text);
    assert_eq!(
        config.tables.first().unwrap().actions[0].timeout,
        Some(std::time::Duration::from_millis(250))
    );
    check(text, &["/x -> a"]);
}

#[test]
fn tls_is_required_before_any_route() {
    let text = "virtual_hosts:\n- {name: a, domains: [\"*\"], require_tls: ALL, routes: [{match: {prefix: /}, route: {cluster: a}}]}\n";
    check(
        text,
        &[
            "/ h -> redirect 301",
            "/ h x-forwarded-proto:http -> redirect 301",
            "/ h x-forwarded-proto:https -> a",
        ],
    );
}

#[test]
fn templates_of_paths_match_and_rewrite() {
    let route = |template: &str, action: &str| {
        routes(&format!(
            "  - match: {{path_match_policy: {{name: t, typed_config: {{'@type': type.googleapis.com/envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig, path_template: '{template}'}}}}}}\n    route: {{cluster: a{action}}}\n"
        ))
    };
    check(&route("/a/*/c", ""), &["/a/b/c -> a", "/a/b/b/c -> none", "/a//c -> none"]);
    check(&route("/a/**.js", ""), &["/a/.js -> a", "/a/b/c.js -> a", "/a/b/c.css -> none"]);
    let rewrite = |path: &str| {
        format!(
            ", path_rewrite_policy: {{name: r, typed_config: {{'@type': type.googleapis.com/envoy.extensions.path.rewrite.uri_template.v3.UriTemplateRewriteConfig, path_template_rewrite: '{path}'}}}}"
        )
    };
    check(&route("/{lang}/{rest=**}", &rewrite("/x/{rest}/{lang}")), &["/en/a/b -> a /x/a/b/en"]);
    let says = |text: &str, expected: &str| {
        let found = problems(text, Leniency::Strict);
        assert!(found.iter().any(|problem| problem.contains(expected)), "{expected}: {found:#?}");
    };
    says(&route("/**/*", ""), "5:32 error: the template `/**/*` has a `*` after `**`");
    says(&route("/{a}", &rewrite("/{b}")), "has the variable `b`, which the path template does not define");
    let plain = routes(&format!("  - match: {{prefix: /}}\n    route: {{cluster: a{}}}\n", rewrite("/")));
    says(&plain, "a template rewrite needs a path template in the match");
    let redirect = route("/{a}", "").replace("route: {cluster: a}", "redirect: {prefix_rewrite: /}");
    says(&redirect, "can't be combined with `path_match_policy`");
}

#[test]
fn cookies_are_matched_one_by_one() {
    let one = |matching: &str| {
        routes(&format!(
            "  - match: {{prefix: /, cookies: [{{name: c, {matching}}}]}}\n    route: {{cluster: a}}\n"
        ))
    };
    let exact = one("string_match: {exact: '1'}");
    check(
        &exact,
        &["/ h cookie:c=1 -> a", "/ h cookie:d=2;c=1;c=2 -> a", "/ h cookie:c=2;c=1 -> none", "/ h -> none"],
    );
    let inverted = one("string_match: {exact: '1'}, invert_match: true");
    check(&inverted, &["/ h -> a", "/ h cookie:c=2 -> a", "/ h cookie:c=1 -> none"]);
}

/// Returns a virtual host with a matcher.
fn matcher(tree: &str) -> String {
    let tree = tree.replace(
        "HEADER ",
        "name: i, typed_config: {'@type': type.googleapis.com/envoy.type.matcher.v3.HttpRequestHeaderMatchInput, header_name: ",
    );
    let tree = tree.replace(
        "ROUTE ",
        "action: {name: r, typed_config: {'@type': type.googleapis.com/envoy.config.route.v3.Route, ",
    );
    format!("virtual_hosts:\n- name: all\n  domains: [\"*\"]\n  matcher: {tree}\n")
}

#[test]
fn a_matched_leaf_of_a_matcher_tree_is_final() {
    let tree = "{matcher_tree: {input: {HEADER ':path'}}, prefix_match_map: {map: {/foo: {ROUTE match: {prefix: /}, route: {cluster: foo}}}}, /foo/bar: {matcher: {matcher_tree: {input: {HEADER x}}, exact_match_map: {map: {'1': {ROUTE match: {path: /foo/bar/baz}, route: {cluster: bar}}}}}}}}}}}}, on_no_match: {ROUTE match: {prefix: /}, route: {cluster: rest}}}}}";
    check(
        &matcher(tree),
        &[
            "/foo/bar/baz h x:1 -> bar",
            // The matcher tree ends at this leaf, whose route has another path.
            "/foo/bar h x:1 -> 404",
            // No leaf matches, so the shorter prefix is tried.
            "/foo/bar h x:2 -> foo",
            "/foobar -> foo",
            "/fo -> rest",
        ],
    );
}

#[test]
fn a_rewrite_in_a_matcher_replaces_the_prefix_of_its_route() {
    let tree = "{matcher_tree: {input: {HEADER ':path'}}, prefix_match_map: {map: {/foo: {ROUTE match: {prefix: /}, route: {cluster: foo, prefix_rewrite: /p}}}}}}}}";
    check(&matcher(tree), &["/foo/bar -> foo /pfoo/bar"]);
}

#[test]
fn predicates_of_matchers_are_combined() {
    let single =
        |value: &str| format!("single_predicate: {{input: {{HEADER m}}}}, value_match: {{exact: {value}}}}}");
    let tree = format!(
        "{{matcher_list: {{matchers: [{{predicate: {{or_matcher: {{predicate: [{{{}}}, {{{}}}]}}}}, on_match: {{ROUTE match: {{prefix: /}}, route: {{cluster: either}}}}}}}}}}, {{predicate: {{not_matcher: {{or_matcher: {{predicate: [{{{}}}, {{{}}}]}}}}}}, on_match: {{ROUTE match: {{prefix: /}}, route: {{cluster: neither}}}}}}}}}}]}}}}",
        single("a"),
        single("b"),
        single("c"),
        single("d"),
    );
    check(
        &matcher(&tree),
        &[
            "/ h m:a -> either",
            "/ h m:b -> either",
            "/ h m:c -> none",
            "/ h m:e -> neither",
            "/ h -> neither",
        ],
    );
    let says = |tree: &str, expected: &str| {
        let found = problems(&matcher(tree), Leniency::Strict);
        assert!(found.iter().any(|problem| problem.contains(expected)), "{expected}: {found:#?}");
    };
    says("{on_no_match: {}}", "the match has no `action` and no `matcher`");
    says(
        "{matcher_tree: {input: {HEADER ':path'}}, custom_match: {name: c, typed_config: {'@type': a/b.C}}}}",
        "`custom_match` is not supported here",
    );
    says(
        "{on_no_match: {ROUTE match: {prefix: /}, route: {cluster: a}}}, keep_matching: true}}",
        "`keep_matching`",
    );
    let both = matcher("{on_no_match: {ROUTE match: {prefix: /}, route: {cluster: a}}}}}")
        + "  routes: [{match: {prefix: /}, route: {cluster: b}}]\n";
    let found = problems(&both, Leniency::Strict);
    assert!(found.iter().any(|problem| problem.contains("both `routes` and a `matcher`")), "{found:#?}");
}

#[test]
fn clusters_with_fields_of_their_own_are_actions_of_their_own() {
    let text = routes(
        "  - match: {prefix: /}\n    request_headers_to_add: [{header: {key: x-all, value: '1'}}]\n    route: {weighted_clusters: {clusters: [{name: a, weight: 1}, {name: b, weight: 3, host_rewrite_literal: b.test, request_headers_to_add: [{header: {key: x-b, value: '1'}}]}]}}\n",
    );
    let config = config(&text);
    let action = config.tables.first().unwrap().action(config.tables.first().unwrap().routes.rules[0].action);
    let ActionKind::Split(shares) = &action.kind else { panic!("no split: {action:#?}") };
    let second = &shares[1].action;
    let added: Vec<&str> = second.request_edits.added().map(|(name, _)| name).collect();
    assert_eq!(
        (shares[1].weight, second.host_rewrite.as_deref(), added),
        (3, Some("b.test"), vec!["x-b", "x-all"])
    );
    check(&text, &["/ -> 2 actions"]);
}

#[test]
fn header_mutations_apply_level_by_level() {
    let level = |indent: &str, removed: &str, added: &str| {
        format!(
            "{indent}request_headers_to_remove: [{removed}]\n{indent}request_headers_to_add: [{{header: {{key: {added}}}, append_action: OVERWRITE_IF_EXISTS_OR_ADD}}]\n"
        )
    };
    let text = format!(
        "most_specific_header_mutations_wins: false\n{}virtual_hosts:\n- name: a\n  domains: [\"*\"]\n{}  routes:\n  - match: {{prefix: /}}\n    route: {{cluster: a}}\n{}",
        level("", "x-route", "x-all, value: whole"),
        level("  ", "x-none", "x-host, value: host"),
        level("    ", "x-host", "x-route, value: route"),
    );
    let told = |text: &str| {
        let config = config(text);
        let edits = &config.tables.first().unwrap().actions[0].request_edits;
        let removed: Vec<&str> = edits.removed().collect();
        let set: Vec<String> = edits.set_fields().map(|(name, value)| format!("{name}={value}")).collect();
        format!("-{} ={}", removed.join(" -"), set.join(" ="))
    };
    assert_eq!(told(&text), "-x-none -x-route =x-host=host =x-all=whole");
    let text = text.replace("wins: false", "wins: true");
    assert_eq!(told(&text), "-x-none -x-host =x-all=whole =x-route=route");
}

#[test]
fn retries_and_mirrors_are_inherited_from_the_virtual_host() {
    let text = "virtual_hosts:\n- name: a\n  domains: [\"*\"]\n  retry_policy: {retry_on: gateway-error, num_retries: 2, per_try_timeout: 0.5s}\n  request_mirror_policies: [{cluster: copy, runtime_fraction: {default_value: {numerator: 5}, runtime_key: k}, disable_shadow_host_suffix_append: true}]\n  routes:\n  - {match: {prefix: /own}, route: {cluster: a, retry_policy: {retry_on: reset}}}\n  - {match: {prefix: /}, route: {cluster: a}}\n";
    let config = config(text);
    let (own, shared) =
        (&config.tables.first().unwrap().actions[0], &config.tables.first().unwrap().actions[1]);
    assert_eq!((own.retry.attempts, own.retry.on_reset, own.attempt_timeout), (1, true, None));
    assert_eq!(shared.retry.statuses, [502, 503, 504]);
    assert_eq!(shared.attempt_timeout, Some(std::time::Duration::from_millis(500)));
    assert_eq!(
        (shared.mirrors.len(), shared.mirrors[0].numerator, shared.mirrors[0].denominator),
        (1, 5, 100)
    );
    assert_eq!(shared.mirrors[0].host, MirrorHost::Same);
    let shadow = crate::config(&text.replace(", disable_shadow_host_suffix_append: true", ""));
    assert_eq!(shadow.tables.first().unwrap().actions[1].mirrors[0].host, MirrorHost::Shadow);
}

#[test]
fn slow_attempts_are_hedged_where_the_policy_enables_it() {
    let hedged = |host: &str, route: &str| {
        let config = config(&format!(
            "virtual_hosts:\n- name: a\n  domains: [\"*\"]\n{host}  routes:\n  - {{match: {{prefix: /}}, route: {{cluster: a{route}}}}}\n"
        ));
        let action = &config.tables.first().unwrap().actions[0];
        let hedge = action.hedge.map(|hedge| (hedge.after.as_millis(), hedge.attempts));
        (hedge, action.attempt_timeout.map(|time| time.as_millis()))
    };
    let hedge = ", hedge_policy: {hedge_on_per_try_timeout: true}";
    let retry = ", retry_policy: {retry_on: 5xx, num_retries: 2, per_try_timeout: 0.2s}";
    assert_eq!(hedged("", &format!("{retry}{hedge}")), (Some((200, 2)), None));
    assert_eq!(hedged("", retry), (None, Some(200)));
    assert_eq!(hedged("", hedge), (None, None));
    let host = "  hedge_policy: {hedge_on_per_try_timeout: true}\n";
    assert_eq!(hedged(host, retry), (Some((200, 2)), None));
    assert_eq!(hedged(host, &format!("{retry}, hedge_policy: {{}}")), (None, Some(200)), "the route's own");
    // Envoy continues without a hedged attempt if no retries are left, and ignores a policy without a reason.
    assert_eq!(hedged(host, &retry.replace("num_retries: 2", "num_retries: 0")), (None, None));
    assert_eq!(hedged(host, &retry.replace("retry_on: 5xx, ", "")), (None, Some(200)));
}

#[test]
fn listeners_terminate_tls() {
    let socket = "    - transport_socket:\n        name: tls\n        typed_config:\n          '@type': type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext\n          require_client_certificate: true\n          common_tls_context:\n            alpn_protocols: [h2, http/1.1]\n            tls_params: {tls_minimum_protocol_version: TLSv1_3}\n            tls_certificates: [{certificate_chain: {filename: /etc/site.crt}, private_key: {filename: /etc/site.key}}]\n            validation_context: {trusted_ca: {filename: /etc/clients.pem}}\n      filters:\n";
    let text = BOOTSTRAP.replace("    - filters:\n", socket);
    let config = config(&text);
    let tls = config.listeners[0].tls.as_ref().unwrap();
    assert_eq!(tls.certificates[0].chain.path, PathBuf::from("/etc/site.crt"));
    assert_eq!(tls.version_min, eddy_model::TlsVersion::Tls13);
    assert!(tls.clients.as_ref().is_some_and(|clients| !clients.is_optional));
    let says = |text: &str, expected: &str| {
        let found = problems(text, Leniency::Strict);
        assert!(found.iter().any(|problem| problem.contains(expected)), "{expected}: {found:#?}");
    };
    let certificates = "            tls_certificates: [{certificate_chain: {filename: /etc/site.crt}, private_key: {filename: /etc/site.key}}]\n";
    says(&text.replace(certificates, ""), "TLS needs a certificate");
    let revoking = text
        .replace("validation_context: {trusted_ca", "validation_context: {crl: {filename: a}, trusted_ca");
    let clients = self::config(&revoking).listeners[0].tls.clone().unwrap().clients.unwrap();
    assert_eq!(clients.revoked.unwrap().path, PathBuf::from("a"));
    let alone = text.replace("trusted_ca:", "crl:").replace("require_client_certificate: true", "");
    says(&alone, "revokes nothing without a certificate authority");
}

#[test]
fn each_unsupported_tls_setting_is_reported_once() {
    let socket = "    - transport_socket:\n        name: tls\n        typed_config:\n          '@type': type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext\n          require_client_certificate: true\n          common_tls_context:\n            tls_certificates: [{CERTIFICATE}]\n            validation_context: {trusted_ca: {filename: /etc/clients.pem}}\n            MORE: []\n      filters:\n";
    let text = BOOTSTRAP.replace("    - filters:\n", &socket.replace("            MORE: []\n", ""));
    let whole = "certificate_chain: {filename: a}, private_key: {filename: b}";
    for (certificate, expected) in [
        ("certificate_chain: {filename: a}", "a certificate needs a `certificate_chain`"),
        ("certificate_chain: {filename: a}, private_key: {filename: ''}", "`private_key` is empty"),
        ("certificate_chain: {filename: a}, private_key: {inline_string: ''}", "`private_key` is empty"),
        (
            "certificate_chain: {filename: a}, private_key: {environment_variable: K}",
            "does not read `private_key` from an environment variable",
        ),
        ("pkcs12: {filename: a}", "`pkcs12`"),
        (
            "certificate_chain: {filename: a}, private_key: {filename: b}, password: {inline_string: x}",
            "`password`",
        ),
        (
            "certificate_chain: {filename: a}, private_key: {inline_bytes: '!'}",
            "private_key.inline_bytes` must be Base64",
        ),
        (
            "certificate_chain: {filename: a, inline_string: b}, private_key: {filename: b}",
            "and only one of them is allowed",
        ),
    ] {
        // An unsupported certificate is an error even with leniency: nothing can replace it.
        for leniency in [Leniency::Strict, Leniency::Lenient] {
            let found = problems(&text.replace("CERTIFICATE", certificate), leniency);
            let errors: Vec<_> = found.iter().filter(|problem| problem.contains(" error: ")).collect();
            assert!(matches!(*errors, [error] if error.contains(expected)), "{certificate}: {found:#?}");
        }
    }
    for (name, value) in [
        ("tls_certificate_sds_secret_configs", "[{name: a}]"),
        ("validation_context_sds_secret_config", "{name: a}"),
        ("combined_validation_context", "{default_validation_context: {trusted_ca: {filename: a}}}"),
    ] {
        let text = text.replace("CERTIFICATE", whole);
        let line = "            validation_context: {trusted_ca: {filename: /etc/clients.pem}}\n";
        let own = format!("            {name}: {value}\n");
        let text = if name.starts_with("tls_") {
            text.replace(&format!("            tls_certificates: [{{{whole}}}]\n"), &own)
        } else {
            text.replace(line, &own)
        };
        let found = problems(&text, Leniency::Strict);
        assert!(matches!(&*found, [error] if error.contains(&format!("`{name}`"))), "{name}: {found:#?}");
    }
}

#[test]
fn certificates_can_be_inline_in_the_configuration() {
    let socket = "    - transport_socket:\n        name: tls\n        typed_config:\n          '@type': type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext\n          common_tls_context:\n            tls_certificates:\n            - certificate_chain: {inline_string: \"one\\ntwo\\n\"}\n              private_key: {inline_bytes: KEY}\n            - certificate_chain: {inlineBytes: b25l}\n              private_key: {inline_string: secret-two}\n              ocsp_staple: {inline_bytes: AAEC}\n            validation_context: {trusted_ca: {inline_string: us}, crl: {inline_string: gone}}\n      filters:\n";
    let text = BOOTSTRAP.replace("    - filters:\n", socket);
    // Base64 in either alphabet, with or without padding, as Envoy accepts it.
    for (key, bytes) in [("c2VjcmV0", &b"secret"[..]), ("-_8=", b"\xfb\xff"), ("+/8", b"\xfb\xff")] {
        let config = config(&text.replace("KEY", &format!("'{key}'")));
        let tls = config.listeners[0].tls.as_ref().unwrap();
        let inline = |written: &eddy_model::WrittenPath| written.text.clone().unwrap().0.to_vec();
        assert_eq!(inline(&tls.certificates[0].chain), b"one\ntwo\n");
        assert_eq!(inline(&tls.certificates[0].key), bytes);
        assert_eq!(inline(&tls.certificates[1].chain), b"one");
        assert_eq!(inline(tls.certificates[1].ocsp.as_ref().unwrap()), [0, 1, 2]);
        // A problem is displayed with its line, which must not be a line of a key.
        let line_of = |place: &eddy_model::SourcePosition| {
            text.lines().nth(place.line as usize - 1).unwrap().to_owned()
        };
        assert!(tls.certificates.iter().all(|own| !line_of(&own.key.place).contains("private_key")));
        let clients = tls.clients.as_ref().unwrap();
        assert_eq!(inline(&clients.authorities), b"us");
        assert_eq!(inline(clients.revoked.as_ref().unwrap()), b"gone");
        // Each file has a unique name.
        let names: std::collections::BTreeSet<_> = tls.files().map(|file| file.path.clone()).collect();
        assert_eq!(names.len(), tls.files().count(), "{names:?}");
        // People who may see the configuration must not see keys.
        assert!(config.shown.contains("inline_string: \"one\\ntwo\\n\""), "{}", config.shown);
        assert!(!config.shown.contains("secret") && !config.shown.contains(key), "{}", config.shown);
    }
    let towards = "common_tls_context: {tls_certificates: [{certificate_chain: {inline_string: c}, private_key: {inline_bytes: aw}}], validation_context: {trusted_ca: {inline_string: ca}}}, sni: a.test, auto_sni_san_validation: true";
    let config = config(&towards_endpoints(towards));
    let tls = config.clusters.first().unwrap().tls.as_ref().unwrap();
    assert_eq!(tls.check, ServerCheck::Full);
    assert_eq!(&*tls.identity.as_ref().unwrap().key.text.as_ref().unwrap().0, b"k");
    assert_eq!(&*tls.authorities.as_ref().unwrap().text.as_ref().unwrap().0, b"ca");
}

#[test]
fn names_of_enumerations_are_read_whatever_their_case() {
    // Case is ignored as in Envoy, and nothing else: `ROUND-ROBIN` and `roundRobin` are not valid names.
    let names = ["LEAST_REQUEST", "STRICT_DNS", "UNESCAPE_AND_FORWARD", "OVERWRITE_IF_EXISTS_OR_ADD"];
    let lower =
        names.iter().fold(BOOTSTRAP.to_owned(), |text, name| text.replace(name, &name.to_lowercase()));
    assert_eq!(
        config(&lower.replace("least_r", "Least_R")).clusters.first().unwrap().balance,
        Balance::LeastRequest
    );
    let meaning = |text: &str| {
        let GatewayConfig { tables, clusters, .. } = config(text);
        format!("{tables:?} {clusters:?}")
    };
    assert_eq!(meaning(&lower), meaning(BOOTSTRAP));
    for wrong in ["least-request", "leastRequest", "' least_request'"] {
        let found = problems(&BOOTSTRAP.replace("LEAST_REQUEST", wrong), Leniency::Strict);
        assert!(matches!(&*found, [error] if error.contains("lb_policy` must be one of")), "{found:#?}");
    }
    let upper = "common_tls_context: {tls_params: {tls_minimum_protocol_version: tlsv1_3}, validation_context: {trusted_ca: {filename: a}, match_typed_subject_alt_names: [{san_type: dns, matcher: {exact: a.test}}]}}";
    let config = config(&towards_endpoints(upper));
    let tls = config.clusters.first().unwrap().tls.as_ref().unwrap();
    assert_eq!((tls.version_min, tls.check), (eddy_model::TlsVersion::Tls13, ServerCheck::Full));
}

#[test]
fn the_admin_listener_is_bound_to_loopback() {
    for (written, bound) in [
        ("0.0.0.0", "127.0.0.1:9901"),
        ("'::'", "[::1]:9901"),
        ("10.1.2.3", "127.0.0.1:9901"),
        ("127.0.0.7", "127.0.0.7:9901"),
    ] {
        let text = BOOTSTRAP.replace(
            "{address: 127.0.0.1, port_value: 9901}",
            &format!("{{address: {written}, port_value: 9901}}"),
        );
        assert_eq!(config(&text).settings.admin.unwrap().address, bound.parse().unwrap());
        let found = problems(&text, Leniency::Strict);
        let is_in_response = found
            .iter()
            .any(|problem| problem.contains(&format!("warning: the admin listener is bound to {bound}")));
        assert_eq!(is_in_response, !written.starts_with("127"), "{found:#?}");
    }
    let text =
        BOOTSTRAP.replace("{address: 127.0.0.1, port_value: 9901}", "{address: localhost, port_value: 9901}");
    assert!(
        problems(&text, Leniency::Lenient)
            .iter()
            .any(|problem| problem.contains("`localhost` is not an IP address"))
    );
}

/// Returns the bootstrap file with this `transport_socket` for its cluster.
fn towards_endpoints(context: &str) -> String {
    let kind = "'@type': type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";
    let socket = format!(
        "    transport_socket: {{name: tls, typed_config: {{{kind}, {context}}}}}\n    lb_policy: LEAST_REQUEST\n"
    );
    BOOTSTRAP.replace("    lb_policy: LEAST_REQUEST\n", &socket)
}

#[test]
fn clusters_use_tls_and_verify_what_envoy_verifies() {
    let trusted = "trusted_ca: {filename: /etc/ca.pem}";
    let named = "match_typed_subject_alt_names: [{san_type: DNS, matcher: {exact: a.test}}]";
    for (context, name, sends_name, check, warning) in [
        (format!("sni: a.test, common_tls_context: {{validation_context: {{{trusted}, {named}}}}}"), Some("a.test"), true, ServerCheck::Full, None),
        (format!("common_tls_context: {{validation_context: {{{trusted}, {named}}}}}"), Some("a.test"), false, ServerCheck::Full, None),
        (format!("sni: a.test, auto_sni_san_validation: true, common_tls_context: {{validation_context: {{{trusted}}}}}"), Some("a.test"), true, ServerCheck::Full, None),
        (format!("auto_host_sni: true, auto_sni_san_validation: true, common_tls_context: {{validation_context: {{{trusted}}}}}"), None, true, ServerCheck::Full, None),
        ("sni: a.test, auto_sni_san_validation: true, common_tls_context: {validation_context: {system_root_certs: {}}}".to_owned(), Some("a.test"), true, ServerCheck::Full, None),
        (format!("sni: a.test, common_tls_context: {{validation_context: {{{trusted}}}}}"), Some("a.test"), true, ServerCheck::Authority, Some("the name in the endpoint's certificate is not checked")),
        (format!("sni: a.test, common_tls_context: {{validation_context: {{{trusted}, trust_chain_verification: ACCEPT_UNTRUSTED}}}}"), Some("a.test"), true, ServerCheck::Nothing, Some("endpoint certificates are not verified")),
        ("sni: a.test".to_owned(), Some("a.test"), true, ServerCheck::Nothing, Some("endpoint certificates are not verified")),
    ] {
        let text = towards_endpoints(&context);
        let config = config(&text);
        let tls = config.clusters.first().unwrap().tls.as_ref().unwrap();
        assert_eq!((tls.server_name.as_deref(), tls.sends_name, tls.check), (name, sends_name, check), "{context}");
        let found = problems(&text, Leniency::Strict);
        assert_eq!(found.iter().any(|problem| warning.is_some_and(|warning| problem.contains(warning))), warning.is_some(), "{context}: {found:#?}");
    }
    let own = "common_tls_context: {tls_params: {tls_minimum_protocol_version: TLSv1_3}, tls_certificates: [{certificate_chain: {filename: /etc/own.crt}, private_key: {filename: /etc/own.key}}]}";
    let config = config(&towards_endpoints(own));
    let tls = config.clusters.first().unwrap().tls.as_ref().unwrap();
    assert_eq!(tls.identity.as_ref().unwrap().key.path, PathBuf::from("/etc/own.key"));
    assert_eq!(tls.version_min, eddy_model::TlsVersion::Tls13);
}

#[test]
fn unsupported_upstream_tls_settings_are_reported() {
    let says = |context: &str, expected: &str| {
        let found = problems(&towards_endpoints(context), Leniency::Strict);
        assert!(
            found.iter().any(|problem| problem.contains("error") && problem.contains(expected)),
            "{expected}: {found:#?}"
        );
    };
    let context = |more: &str| {
        format!(
            "sni: a.test, common_tls_context: {{validation_context: {{trusted_ca: {{filename: a}}, {more}}}}}"
        )
    };
    says(&context("crl: {filename: b}"), "`crl` is not supported here");
    says(
        &context("match_typed_subject_alt_names: [{san_type: DNS, matcher: {exact: b.test}}]"),
        "SNI name that it sends, not for `b.test`",
    );
    says(
        &context("match_typed_subject_alt_names: [{san_type: DNS, matcher: {suffix: test}}]"),
        "against one exact name",
    );
    says(
        &context("match_typed_subject_alt_names: [{san_type: URI, matcher: {exact: a.test}}]"),
        "only DNS names and IP addresses",
    );
    says(
        &context(
            "match_typed_subject_alt_names: [{san_type: DNS, matcher: {exact: a.test}}, {san_type: DNS, matcher: {exact: b.test}}]",
        ),
        "not against several",
    );
    says(
        "common_tls_context: {tls_certificate_sds_secret_configs: [{name: a}]}",
        "eddy does not load certificates from another service: `tls_certificate_sds_secret_configs`",
    );
    says("snii: a.test", "has no field `snii`");
    let other = towards_endpoints("").replace("tls.v3.UpstreamTlsContext", "tap.v3.Tap");
    let found = problems(&other, Leniency::Lenient);
    assert!(
        found.iter().any(|problem| problem.contains("error: `--lenient` can't ignore a `transport_socket`")),
        "{found:#?}"
    );
}

#[test]
fn filters_that_can_reject_requests_are_never_ignored() {
    let with = |filter: &str, kind: &str| {
        let own = format!(
            "          http_filters:\n          - name: {filter}\n            typed_config: \
             {{\"@type\": type.googleapis.com/envoy.extensions.filters.http.{kind}}}\n"
        );
        assert_eq!(BOOTSTRAP.matches("          http_filters:\n").count(), 1);
        problems(&BOOTSTRAP.replace("          http_filters:\n", &own), Leniency::Lenient)
    };
    for (filter, kind) in [
        ("envoy.filters.http.rbac", "rbac.v3.RBAC"),
        ("envoy.filters.http.ext_authz", "ext_authz.v3.ExtAuthz"),
        ("envoy.filters.http.jwt_authn", "jwt_authn.v3.JwtAuthentication"),
        ("envoy.filters.http.oauth2", "oauth2.v3.OAuth2"),
        ("envoy.filters.http.basic_auth", "basic_auth.v3.BasicAuth"),
        ("envoy.filters.http.lua", "lua.v3.Lua"),
    ] {
        let found = with(filter, kind);
        let is_error =
            |problem: &String| problem.contains("error: ") && problem.contains("can reject requests");
        assert_eq!(found.iter().filter(|problem| is_error(problem)).count(), 1, "{kind}: {found:#?}");
    }
    let found = with("envoy.filters.http.buffer", "buffer.v3.Buffer");
    assert!(found.iter().all(|problem| !problem.contains("error: ")), "{found:#?}");
}

/// Returns the number of errors about filters that remain with `--lenient`.
fn refused_filters(text: &str) -> usize {
    let found = problems(text, Leniency::Lenient);
    found
        .iter()
        .filter(|problem| problem.contains("error: ") && problem.contains("can reject requests"))
        .count()
}

#[test]
fn an_unknown_filter_is_never_ignored() {
    let with = |filter: &str| {
        let own = format!("          http_filters:\n          - {filter}\n");
        refused_filters(&BOOTSTRAP.replace("          http_filters:\n", &own))
    };
    for filter in [
        "{name: acme, typed_config: {'@type': type.googleapis.com/acme.filters.http.Guard}}",
        "{name: acme, typed_config: {'@type': type.googleapis.com/xds.type.v3.TypedStruct, type_url: a/envoy.extensions.filters.http.buffer.v3.Buffer}}",
        "{name: acme, typed_config: {'@type': type.googleapis.com/udpa.type.v1.TypedStruct, type_url: a/b}}",
        "{name: acme, config_discovery: {type_urls: [envoy.extensions.filters.http.buffer.v3.Buffer]}}",
        "{name: envoy.filters.http.rbac}",
        "{name: envoy.filters.http.buffer}",
        "{name: quota, is_optional: true, typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit}}",
    ] {
        assert_eq!(with(filter), 1, "{filter}");
    }
    for (own, count) in [
        (
            "{name: n, typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.network.rbac.v3.RBAC}}",
            1,
        ),
        (
            "{name: n, typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.network.ext_authz.v3.ExtAuthz}}",
            1,
        ),
        ("{name: n, typed_config: {'@type': type.googleapis.com/acme.Network}}", 1),
        ("{name: n}", 1),
        (
            "{name: n, typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy}}",
            0,
        ),
    ] {
        let listener = format!(
            "static_resources:\n  listeners:\n  - address: {{socket_address: {{address: 127.0.0.1, port_value: 1}}}}\n    \
             filter_chains: [{{filters: [{own}]}}]\n"
        );
        assert_eq!(refused_filters(&listener), count, "{own}");
    }
}

#[test]
fn settings_of_routes_for_filters_that_can_reject_requests_are_never_ignored() {
    let types = "type.googleapis.com/envoy";
    for (setting, count) in [
        (format!("'@type': {types}.extensions.filters.http.rbac.v3.RBACPerRoute"), 1),
        (
            format!(
                "'@type': {types}.config.route.v3.FilterConfig, config: {{'@type': {types}.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute}}"
            ),
            1,
        ),
        (
            format!(
                "'@type': {types}.config.route.v3.FilterConfig, config: {{'@type': {types}.extensions.filters.http.buffer.v3.BufferPerRoute}}"
            ),
            0,
        ),
        (format!("'@type': {types}.config.route.v3.FilterConfig, disabled: true"), 0),
        (format!("'@type': {types}.extensions.filters.http.buffer.v3.BufferPerRoute"), 0),
        ("'@type': type.googleapis.com/acme.Guard".to_owned(), 1),
    ] {
        let own = format!("typed_per_filter_config: {{f: {{{setting}}}}}");
        for text in [
            format!(
                "{own}\nvirtual_hosts: [{{name: a, domains: ['*'], routes: [{{match: {{prefix: /}}, route: {{cluster: c}}}}]}}]"
            ),
            format!(
                "virtual_hosts: [{{name: a, domains: ['*'], {own}, routes: [{{match: {{prefix: /}}, route: {{cluster: c}}}}]}}]"
            ),
            format!(
                "virtual_hosts: [{{name: a, domains: ['*'], routes: [{{match: {{prefix: /}}, route: {{cluster: c}}, {own}}}]}}]"
            ),
            format!(
                "virtual_hosts: [{{name: a, domains: ['*'], routes: [{{match: {{prefix: /}}, route: {{weighted_clusters: {{clusters: [{{name: c, weight: 1, {own}}}]}}}}}}]}}]"
            ),
        ] {
            assert_eq!(refused_filters(&text), count, "{text}");
        }
    }
}

#[test]
fn a_filter_chain_for_some_clients_is_never_open_to_all() {
    let with = |condition: &str| {
        let own = format!("- filter_chain_match: {condition}\n      filters:");
        assert_eq!(BOOTSTRAP.matches("- filters:").count(), 1);
        let found = problems(&BOOTSTRAP.replace("- filters:", &own), Leniency::Lenient);
        found.iter().filter(|problem| problem.contains("error: ")).count()
    };
    assert_eq!(with("{source_prefix_ranges: [{address_prefix: 10.0.0.0, prefix_len: 8}]}"), 1);
    assert_eq!(with("{source_type: SAME_IP_OR_LOOPBACK}"), 1);
    assert_eq!(with("{source_type: ANY, application_protocols: [http/1.1]}"), 0);
}

#[test]
fn clusters_are_balanced_by_the_key_of_their_routes() {
    let with = |policy: &str, balance: &str| {
        BOOTSTRAP.replace("LEAST_REQUEST", balance).replace(
            "                  cluster: service\n",
            &format!("                  cluster: service\n                  hash_policy: [{policy}]\n"),
        )
    };
    for (policy, key) in [
        ("{header: {header_name: X-User}}", BalanceKey::Header("x-user".into())),
        ("{cookie: {name: Session, path: /}, terminal: true}", BalanceKey::Cookie("Session".into())),
        ("{connection_properties: {source_ip: true}}", BalanceKey::Address),
    ] {
        for (balance, own) in [("RING_HASH", Balance::Ring), ("MAGLEV", Balance::Maglev)] {
            let config = config(&with(policy, balance));
            assert_eq!(
                (config.clusters.first().unwrap().balance, config.clusters.first().unwrap().key.as_ref()),
                (own, Some(&key))
            );
        }
        // With other balancing algorithms it has no effect, as in Envoy.
        let plain = config(&with(policy, "RANDOM"));
        assert_eq!(
            (plain.clusters.first().unwrap().balance, plain.clusters.first().unwrap().key.as_ref()),
            (Balance::Random, None)
        );
    }
    // Without a key, endpoints are selected at random.
    assert_eq!(
        config(&BOOTSTRAP.replace("LEAST_REQUEST", "RING_HASH")).clusters.first().unwrap().balance,
        Balance::Random
    );
    let says = |text: &str, expected: &str| {
        let found = problems(text, Leniency::Strict);
        assert!(found.iter().any(|problem| problem.contains(expected)), "{expected}: {found:#?}");
    };
    says(&with("{cookie: {name: a, ttl: 60s}}", "RING_HASH"), "does not generate cookies");
    says(&with("{header: {header_name: ':path'}}", "RING_HASH"), "balancing by `:path` is not supported");
    says(&with("{header: {header_name: a}}, {header: {header_name: b}}", "RING_HASH"), "balances by one key");
    let two = with("{header: {header_name: a}}", "RING_HASH").replace(
        "              routes:\n",
        "              routes:\n              - {match: {path: /other}, route: {cluster: service}}\n",
    );
    says(&two, "the routes to `service` have different hash keys");
}

#[test]
fn problems_are_reported_with_their_position() {
    let text = routes("  - match: {prefx: /}\n    route: {cluster: a}\n");
    assert_eq!(
        problems(&text, Leniency::Strict),
        [
            "5:13 error: `routes.virtual_hosts[0].routes[0].match` has no field `prefx` (did you mean `prefix`? the message is a `envoy.config.route.v3.RouteMatch`)"
        ]
    );
    let says = |text: &str, expected: &str| {
        let found = problems(text, Leniency::Strict);
        assert!(found.iter().any(|problem| problem.contains(expected)), "{expected}: {found:#?}");
    };
    says(
        &routes("  - {match: {prefix: /, path: /a}, route: {cluster: a}}\n"),
        "and only one of them is allowed",
    );
    says(&routes("  - {match: {prefix: /}, route: {cluster: a, timeout: 5}}\n"), "a duration in seconds");
    says(
        &routes("  - {match: {prefix: /}, redirect: {response_code: MOVED}}\n"),
        "must be one of MOVED_PERMANENTLY",
    );
    says(
        &routes("  - {match: {path_separated_prefix: /a/}, route: {cluster: a}}\n"),
        "is not a valid `path_separated_prefix`",
    );
    says(&routes("  - {match: {safe_regex: {regex: \"(\"}}, route: {cluster: a}}\n"), "is not well formed");
    says(
        &routes("  - {match: {prefix: /}, route: {cluster: a, cluster_header: b}}\n"),
        "and only one of them is allowed",
    );
    says(
        &routes(
            "  - {match: {prefix: /}, route: {cluster: a, hash_policy: [{query_parameter: {name: q}}]}}\n",
        ),
        "by a header, a cookie or the client address",
    );
    says("virtual_hosts:\n- {name: a, domains: [x, X], routes: []}\n", "is already defined in line 2");
    says(
        &routes(
            "  - {match: {prefix: /}, route: {cluster: a}}\n  - {match: {prefix: /b}, route: {cluster: a}}\n",
        ),
        "can never win",
    );
}

#[test]
fn leniency_ignores_unsupported_settings() {
    let text = routes(
        "  - match: {prefix: /}\n    route: {cluster: a}\n    typed_per_filter_config: {envoy.filters.http.cors: {\"@type\": type.googleapis.com/envoy.extensions.filters.http.cors.v3.CorsPolicy}}\n",
    );
    assert!(read(&text, Leniency::Strict).is_err());
    assert!(read(&text, Leniency::Lenient).is_ok());
    let found = problems(&text, Leniency::Lenient);
    assert!(
        found.iter().any(
            |problem| problem.starts_with("7:5 warning: `typed_per_filter_config` is not supported here")
        ),
        "{found:#?}"
    );
}

/// A bootstrap file with all common settings.
const BOOTSTRAP: &str = r#"
admin:
  address: {socket_address: {address: 127.0.0.1, port_value: 9901}}
static_resources:
  listeners:
  - name: listener_0
    address: {socket_address: {address: 127.0.0.1, port_value: 10000}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: ingress_http
          normalize_path: true
          merge_slashes: true
          path_with_escaped_slashes_action: UNESCAPE_AND_FORWARD
          http_filters:
          - name: envoy.filters.http.grpc_web
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.grpc_web.v3.GrpcWeb
          - name: envoy.filters.http.router
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
          route_config:
            name: local_route
            virtual_hosts:
            - name: local_service
              domains: ["*"]
              request_headers_to_add:
              - {header: {key: x-vhost, value: "1"}, append_action: OVERWRITE_IF_EXISTS_OR_ADD}
              routes:
              - match: {prefix: "/"}
                route:
                  cluster: service
                  retry_policy: {retry_on: "5xx,connect-failure,unavailable", num_retries: 3}
  clusters:
  - name: service
    type: STRICT_DNS
    connect_timeout: 0.5s
    lb_policy: LEAST_REQUEST
    load_assignment:
      cluster_name: service
      endpoints:
      - lb_endpoints:
        - endpoint: {address: {socket_address: {address: service.internal, port_value: 80}}}
        - endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: 8080}}}
          load_balancing_weight: 2
"#;

/// Filter of a dynamic module, and settings for it, to be inserted into [`BOOTSTRAP`].
const MODULE: &str = r#"          - name: auth
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilter
              dynamic_module_config: {name: modules, do_not_close: true, load_globally: true}
              filter_name: basic-auth
              filter_config: {"@type": type.googleapis.com/google.protobuf.Struct, value: {realm: staff, tries: 3}}
"#;
const MODULE_SETTINGS: &str = r#"              typed_per_filter_config:
                auth:
                  "@type": type.googleapis.com/envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilterPerRoute
                  dynamic_module_config: {name: modules}
                  filter_name: basic-auth
                  filter_config: {"@type": type.googleapis.com/google.protobuf.BytesValue, value: aGVsbG8=}
"#;

fn with_module(module: &str, settings: &str) -> String {
    let router = "          - name: envoy.filters.http.router\n";
    let routes = "              routes:\n";
    BOOTSTRAP.replace(router, &format!("{module}{router}")).replace(routes, &format!("{settings}{routes}"))
}

#[test]
fn filters_of_dynamic_modules_are_read() {
    let config = config(&with_module(MODULE, MODULE_SETTINGS));
    let auth = config.filters.id_of("auth").unwrap();
    let filter = &config.filters[auth];
    let expected = DynamicModuleConfig {
        module: DynamicModuleSource::Name("modules".to_owned()),
        filter: "basic-auth".to_owned(),
        is_global: true,
    };
    assert_eq!(filter.kind, FilterKind::DynamicModule(expected));
    assert_eq!(&*filter.config, r#"{"realm":"staff","tries":3}"#);
    assert_eq!(config.listeners[0].filters, [config.filters.id_of("envoy-grpc-web").unwrap(), auth]);
    let rule = &config.tables.first().unwrap().actions[0].filters;
    assert_eq!((rule.len(), rule[0].filter, rule[0].config.as_deref()), (1, auth, Some("hello")));

    let disabled = r#"              typed_per_filter_config:
                auth: {"@type": type.googleapis.com/envoy.config.route.v3.FilterConfig, disabled: true}
"#;
    let config = self::config(&with_module(MODULE, disabled));
    assert_eq!(config.tables.first().unwrap().actions[0].filters[0].is_disabled, Some(true));
}

#[test]
fn modules_that_eddy_cannot_run_are_refused() {
    let refused = |module: &str, settings: &str, expected: &str| {
        let told = problems(&with_module(module, settings), Leniency::Lenient);
        assert!(told.iter().any(|problem| problem.contains(expected)), "{expected}: {told:#?}");
    };
    let terminal = MODULE.replace("filter_name:", "terminal_filter: true\n              filter_name:");
    refused(&terminal, "", "terminal filters");
    refused(&MODULE.replace("name: modules, ", ""), "", "neither a `name` nor a local file");
    let number = MODULE.replace("Struct, value: {realm: staff, tries: 3}", "Int32Value, value: 3");
    refused(&number, "", "`google.protobuf.Int32Value` is not supported");
    refused(MODULE, &MODULE_SETTINGS.replace("aGVsbG8=", "/w=="), "UTF-8");
    refused(MODULE, &MODULE_SETTINGS.replace("basic-auth", "other"), "another filter");
    refused(MODULE, &MODULE_SETTINGS.replace("name: modules", "name: others"), "another filter");
    let elsewhere = MODULE_SETTINGS.replace("auth:", "unknown:");
    refused(MODULE, &elsewhere, "can reject requests");
}

#[test]
fn a_bootstrap_file_is_read() {
    // https://www.envoyproxy.io/docs/envoy/latest/start/quick-start/configuration-static
    let config = config(BOOTSTRAP);
    assert_eq!(config.listeners[0].address.to_string(), "127.0.0.1:10000");
    assert_eq!(config.settings.admin.as_ref().unwrap().address.port(), 9901);
    let cluster = &config.clusters.first().unwrap();
    assert_eq!((cluster.endpoints.len(), cluster.endpoints[1].weight), (2, 2));
    assert_eq!(cluster.connect_timeout, std::time::Duration::from_millis(500));
    let action = &config.tables.first().unwrap().actions[0];
    assert_eq!((action.retry.attempts, action.retry.statuses.len()), (3, 100));
    assert_eq!(action.retry.grpc_statuses, [GrpcStatus::Unavailable].into_iter().collect());
    assert_eq!(config.listeners[0].filters, [config.filters.id_of("envoy-grpc-web").unwrap()]);
    assert_eq!(action.timeout, Some(std::time::Duration::from_secs(15)));
    assert!(!action.request_edits.is_empty());
    check(BOOTSTRAP, &["/a -> service"]);
}

#[test]
fn names_of_clusters_are_checked() {
    let text = BOOTSTRAP.replace("cluster: service\n", "cluster: servise\n");
    let found = problems(&text, Leniency::Strict);
    assert!(
        found
            .iter()
            .any(|problem| problem.contains("there is no cluster `servise` (did you mean `service`?)")),
        "{found:#?}"
    );
}

#[test]
fn an_unknown_cluster_brings_no_further_problems() {
    let route = "cluster: servise\n                  timeout: 5s\n                  prefix_rewrite: /x\n";
    let one = BOOTSTRAP.replace("cluster: service\n", route);
    let expected = ["34:28 error: there is no cluster `servise` (did you mean `service`?)"];
    assert_eq!(problems(&one, Leniency::Strict), expected);
    let weighted = "weighted_clusters: {clusters: [{name: servise, weight: 1}, {name: service, weight: 2, \
                    request_headers_to_add: [{header: {key: a, value: b}}]}]}\n";
    let found = problems(&BOOTSTRAP.replace("cluster: service\n", weighted), Leniency::Strict);
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn the_clusters_of_a_route_configuration_alone_are_used() {
    let found = problems(&routes("  - {match: {prefix: /}, route: {cluster: a}}\n"), Leniency::Strict);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].contains("have no addresses here"), "{found:#?}");
}

#[test]
fn broken_files_are_accepted_or_refused_with_a_position() {
    let mut state = 7_u64;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below.max(1)
    };
    let words = [
        "{",
        "}",
        "[",
        "]",
        ":",
        "- ",
        "\"",
        "null",
        "*",
        "/",
        "(",
        "0s",
        "\u{0}",
        "é",
        "@type",
        "prefix",
        "-1",
        "9999999999999",
        "\n",
        "  ",
    ];
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..1_000 {
        let mut text = BOOTSTRAP.to_owned();
        for _ in 0..=draw(3) {
            let mut at = draw(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            match draw(4) {
                0 => text.insert_str(at, words[draw(words.len())]),
                1 => drop(text.remove(at)),
                2 => {
                    let end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
                    text.replace_range(at..end, "");
                }
                _ => {
                    let lines: Vec<&str> = BOOTSTRAP.lines().collect();
                    let line = lines[draw(lines.len())].to_owned();
                    text.insert_str(at, &line);
                }
            }
        }
        match read(&text, Leniency::Strict) {
            Ok(config) => {
                taken += 1;
                assert!(
                    config
                        .tables
                        .values()
                        .all(|table| Router::build(std::slice::from_ref(&table.routes)).is_ok())
                );
            }
            Err(problems) => {
                refused += 1;
                assert!(
                    problems.iter().any(|problem| problem.severity == Severity::Error && problem.line > 0),
                    "{problems:#?}\n{text}"
                );
            }
        }
    }
    assert!(taken > 20 && refused > 500, "{taken} were taken, {refused} refused");
}

#[test]
fn the_examples_of_the_guide_are_valid() {
    let guide = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/envoy.md");
    let text = fs::read_to_string(guide).unwrap();
    let examples: Vec<&str> =
        text.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(!examples.is_empty());
    for example in examples {
        config(example);
    }
}
