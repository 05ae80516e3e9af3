//! Examples of Envoy's documentation on routes, rewritten as our own configurations, with requests and responses.
//!
//! `"is": "x"` is short for a direct response with this body, `"to": {...}` for a route to the cluster `one`. A request
//! is a target, fields as `name=value` (`host` and `method` among them), `=>` and the response.

use anyhow::{Context, Result};
use eddy_e2e::peer::{EnvoyQueries, bootstrap};
use serde_json::{Value, json};

/// An example: its section in the documentation, its subject, its configuration, requests and responses.
pub(crate) struct EnvoyDocExample {
    pub(crate) section: &'static str,
    pub(crate) about: &'static str,
    shape: ExampleConfig,
    asks: &'static str,
}

enum ExampleConfig {
    /// Routes of a virtual host.
    Routes(&'static str),
    /// Fields of a virtual host.
    Host(&'static str),
    /// A whole route configuration, and settings of the connection manager.
    Whole(&'static str, &'static str),
}

use ExampleConfig::{Host, Routes, Whole};

/// An example that is left out, with the reason.
type LeftOut = (String, String);

/// Returns the configurations and requests of all examples, with each expected response and its source.
pub(crate) fn all() -> Result<(Vec<EnvoyQueries>, Vec<LeftOut>)> {
    let (mut hosts, mut requests, mut expected) = (Vec::new(), Vec::new(), Vec::new());
    let mut wholes = Vec::new();
    for (number, example) in EXAMPLES.iter().enumerate() {
        let name = format!("e{number}.test");
        let mut own = Vec::new();
        for line in example.asks.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (ask, answer) = line.split_once(" => ").with_context(|| line.to_owned())?;
            own.push((request(ask, &name), format!("{}: {line}", example.section), answer.to_owned()));
        }
        let (config, settings) = match example.shape {
            Routes(routes) => {
                hosts.push(json!({"name": name, "domains": [name], "routes": parse(routes)?}));
                (None, json!({}))
            }
            Host(host) => {
                let mut host = parse(host)?;
                host["name"] = name.clone().into();
                host["domains"] = json!([name]);
                hosts.push(host);
                (None, json!({}))
            }
            Whole(config, settings) => (Some(parse(config)?), parse(settings)?),
        };
        let (asked, answers): (Vec<Vec<u8>>, Vec<(String, String)>) =
            own.into_iter().map(|(request, line, answer)| (request, (line, answer))).unzip();
        if let Some(config) = config {
            wholes.push((
                EnvoyQueries { config: bootstrap(&config, &settings, &["one"]), requests: asked },
                answers,
            ));
        } else {
            requests.extend(asked);
            expected.extend(answers);
        }
    }
    let shared = bootstrap(&json!({"name": "examples", "virtual_hosts": hosts}), &json!({}), &["one"]);
    let mut questions = vec![EnvoyQueries { config: shared, requests }];
    for (own, answers) in wholes {
        questions.push(own);
        expected.extend(answers);
    }
    Ok((questions, expected))
}

fn parse(text: &str) -> Result<Value> {
    let mut value = serde_json::from_str(text).with_context(|| text.to_owned())?;
    spell_out(&mut value);
    Ok(value)
}

/// Expands the abbreviations.
fn spell_out(value: &mut Value) {
    if let Value::Array(values) = value {
        values.iter_mut().for_each(spell_out);
    } else if let Value::Object(fields) = value {
        if let Some(body) = fields.remove("is") {
            let response = json!({"status": 200, "body": {"inline_string": body}});
            fields.insert("direct_response".to_owned(), response);
        }
        if let Some(mut route) = fields.remove("to") {
            if route.get("weighted_clusters").is_none() {
                route["cluster"] = "one".into();
            }
            fields.insert("route".to_owned(), route);
        }
        fields.values_mut().for_each(spell_out);
    }
}

fn request(ask: &str, name: &str) -> Vec<u8> {
    let mut words = ask.split(' ');
    let target = words.next().unwrap_or_default();
    let (mut method, mut host, mut fields) = ("GET", name, String::new());
    for word in words {
        match word.split_once('=') {
            Some(("method", value)) => method = value,
            Some(("host", value)) => host = value,
            Some((field, value)) => fields.push_str(&format!("{field}: {}\r\n", value.replace('+', " "))),
            None => {}
        }
    }
    format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n").into_bytes()
}

pub(crate) const EXAMPLES: &[EnvoyDocExample] = &[
    EnvoyDocExample {
        section: "arch_overview/http/http_routing",
        about: "routes are tried in the order in which they are written",
        shape: Routes(
            r#"[{"match": {"prefix": "/shop"}, "is": "shop"}, {"match": {"path": "/shop/cart"}, "is": "cart"}, {"match": {"prefix": "/"}, "is": "rest"}]"#,
        ),
        asks: "/shop/cart => 200 shop\n/shopping => 200 shop\n/sho => 200 rest",
    },
    EnvoyDocExample {
        section: "arch_overview/http/http_routing",
        about: "a redirect of the path and of the scheme, a rewrite and a direct response",
        shape: Routes(
            r#"[{"match": {"prefix": "/login"}, "redirect": {"https_redirect": true}}, {"match": {"path": "/old"}, "redirect": {"path_redirect": "/new"}}, {"match": {"prefix": "/v1/"}, "to": {"prefix_rewrite": "/"}}, {"match": {"prefix": "/"}, "direct_response": {"status": 403, "body": {"inline_string": "no"}}}]"#,
        ),
        asks: "/login?a=1 => 301 -> https://e1.test/login?a=1\n/old => 301 -> http://e1.test/new\n/v1/users => 200 GET /users e1.test\n/x => 403 no",
    },
    EnvoyDocExample {
        section: "arch_overview/http/http_routing (matcher tree)",
        about: "a map of header values selects the route",
        shape: Host(
            r#"{"matcher": {"matcher_tree": {"input": {"name": "h", "typed_config": {"@type": "type.googleapis.com/envoy.type.matcher.v3.HttpRequestHeaderMatchInput", "header_name": "some-header"}}, "exact_match_map": {"map": {"some_value_to_match_on": {"action": {"name": "route", "typed_config": {"@type": "type.googleapis.com/envoy.config.route.v3.Route", "match": {"prefix": "/"}, "is": "found"}}}}}}}}"#,
        ),
        asks: "/ some-header=some_value_to_match_on => 200 found\n/ some-header=else => 404\n/ => 404",
    },
    EnvoyDocExample {
        section: "arch_overview/http/http_routing (matcher tree)",
        about: "a list of predicates, one of which negates another",
        shape: Host(
            r#"{"matcher": {"matcher_list": {"matchers": [{"predicate": {"single_predicate": {"input": {"name": "h", "typed_config": {"@type": "type.googleapis.com/envoy.type.matcher.v3.HttpRequestHeaderMatchInput", "header_name": "x-env"}}, "value_match": {"exact": "staging"}}}, "on_match": {"action": {"name": "route", "typed_config": {"@type": "type.googleapis.com/envoy.config.route.v3.Route", "match": {"prefix": "/app"}, "is": "staging"}}}}, {"predicate": {"not_matcher": {"single_predicate": {"input": {"name": "h", "typed_config": {"@type": "type.googleapis.com/envoy.type.matcher.v3.HttpRequestHeaderMatchInput", "header_name": "x-blocked"}}, "value_match": {"prefix": "y"}}}}, "on_match": {"action": {"name": "route", "typed_config": {"@type": "type.googleapis.com/envoy.config.route.v3.Route", "match": {"prefix": "/"}, "is": "open"}}}}]}}}"#,
        ),
        asks: "/app x-env=staging => 200 staging\n/other x-env=staging => 404\n/other => 200 open\n/ x-blocked=yes => 404\n/ x-blocked=no => 200 open",
    },
    EnvoyDocExample {
        section: "arch_overview/http/http_routing (matcher tree)",
        about: "the longest path prefix that has an action wins",
        shape: Host(
            r#"{"matcher": {"matcher_tree": {"input": {"name": "p", "typed_config": {"@type": "type.googleapis.com/envoy.type.matcher.v3.HttpRequestHeaderMatchInput", "header_name": ":path"}}, "prefix_match_map": {"map": {"/foo": {"action": {"name": "route", "typed_config": {"@type": "type.googleapis.com/envoy.config.route.v3.Route", "match": {"prefix": "/"}, "is": "foo"}}}, "/foo/bar": {"matcher": {"matcher_tree": {"input": {"name": "h", "typed_config": {"@type": "type.googleapis.com/envoy.type.matcher.v3.HttpRequestHeaderMatchInput", "header_name": "x"}}, "exact_match_map": {"map": {"1": {"action": {"name": "route", "typed_config": {"@type": "type.googleapis.com/envoy.config.route.v3.Route", "match": {"prefix": "/"}, "is": "bar"}}}}}}}}}}}}}"#,
        ),
        asks: "/foo/bar x=1 => 200 bar\n/foo/bar x=2 => 200 foo\n/foobar => 200 foo\n/fo => 404",
    },
    EnvoyDocExample {
        section: "route_components.proto#RouteMatch.prefix",
        about: "a prefix of bytes",
        shape: Routes(r#"[{"match": {"prefix": "/prefix"}, "is": "a"}]"#),
        asks: "/prefix => 200 a\n/prefixed?x => 200 a\n/prefi => 404\n//prefix => 404",
    },
    EnvoyDocExample {
        section: "route_components.proto#RouteMatch.path",
        about: "an exact path, without the query",
        shape: Routes(r#"[{"match": {"path": "/exact"}, "is": "a"}]"#),
        asks: "/exact => 200 a\n/exact?q=1 => 200 a\n/exact/ => 404",
    },
    EnvoyDocExample {
        section: "route_components.proto#RouteMatch.safe_regex",
        about: "a regular expression matches the whole path without the query",
        shape: Routes(r#"[{"match": {"safe_regex": {"regex": "/b[io]t"}}, "is": "a"}]"#),
        asks: "/bit => 200 a\n/bot?x=1 => 200 a\n/bite => 404\n/bit/bot => 404",
    },
    EnvoyDocExample {
        section: "route_components.proto#RouteMatch.path_separated_prefix",
        about: "a prefix of whole segments",
        shape: Routes(r#"[{"match": {"path_separated_prefix": "/api/dev"}, "is": "a"}]"#),
        asks: "/api/dev => 200 a\n/api/dev/v1 => 200 a\n/api/dev?param=true => 200 a\n/api/developer => 404",
    },
    EnvoyDocExample {
        section: "route_components.proto#RouteMatch.case_sensitive",
        about: "case-insensitive paths",
        shape: Routes(
            r#"[{"match": {"path": "/Data", "case_sensitive": false}, "is": "exact"}, {"match": {"prefix": "/mixed", "case_sensitive": false}, "is": "prefix"}]"#,
        ),
        asks: "/data => 200 exact\n/DATA => 200 exact\n/MIXED/Case => 200 prefix\n/dat => 404",
    },
    EnvoyDocExample {
        section: "path/match/uri_template.proto",
        about: "`*` matches one segment, with a fixed suffix",
        shape: Routes(
            r#"[{"match": {"path_match_policy": {"name": "t", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig", "path_template": "/videos/*/*/*.m4u"}}}, "is": "a"}]"#,
        ),
        asks: "/videos/123414/hls/1080p5000_00001.m4u => 200 a\n/videos/1/2/x.mp4 => 404\n/videos/1/2/3/x.m4u => 404",
    },
    EnvoyDocExample {
        section: "path/match/uri_template.proto",
        about: "`**` matches the rest of the path",
        shape: Routes(
            r#"[{"match": {"path_match_policy": {"name": "t", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig", "path_template": "/**.mpd"}}}, "is": "a"}]"#,
        ),
        asks: "/content/123/india/dash/55/manifest.mpd => 200 a\n/manifest.mp4 => 404",
    },
    EnvoyDocExample {
        section: "path/match/uri_template.proto",
        about: "variables for one segment and for several",
        shape: Routes(
            r#"[{"match": {"path_match_policy": {"name": "t", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig", "path_template": "/{country}/{rest=media/*/x}"}}}, "is": "a"}]"#,
        ),
        asks: "/us/media/12/x => 200 a\n/us/media/12/y => 404\n/us/other/12/x => 404",
    },
    EnvoyDocExample {
        section: "path/rewrite/uri_template.proto",
        about: "variables of the template in another order",
        shape: Routes(
            r#"[{"match": {"path_match_policy": {"name": "t", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig", "path_template": "/{country}/{lang}/content/{rest=**}"}}}, "to": {"path_rewrite_policy": {"name": "r", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.path.rewrite.uri_template.v3.UriTemplateRewriteConfig", "path_template_rewrite": "/{lang}/{country}/{rest}"}}}}]"#,
        ),
        asks: "/us/en/content/a/b?q=1 => 200 GET /en/us/a/b?q=1 e13.test\n/us/en/other => 404",
    },
    EnvoyDocExample {
        section: "route_components.proto#HeaderMatcher.string_match (exact)",
        about: "a header has this value",
        shape: Routes(
            r#"[{"match": {"prefix": "/", "headers": [{"name": "x", "string_match": {"exact": "abcd"}}]}, "is": "a"}]"#,
        ),
        asks: "/ x=abcd => 200 a\n/ x=abcde => 404\n/ => 404",
    },
    EnvoyDocExample {
        section: "route_components.proto#HeaderMatcher.string_match (prefix)",
        about: "a header begins with this text",
        shape: Routes(
            r#"[{"match": {"prefix": "/", "headers": [{"name": "x", "string_match": {"prefix": "abcd"}}]}, "is": "a"}]"#,
        ),
        asks: "/ x=abcdxyz => 200 a\n/ x=abcxyz => 404",
    },
    EnvoyDocExample {
        section: "route_components.proto#HeaderMatcher.string_match (suffix)",
        about: "a header ends with this text",
        shape: Routes(
            r#"[{"match": {"prefix": "/", "headers": [{"name": "x", "string_match": {"suffix": "abcd"}}]}, "is": "a"}]"#,
        ),
        asks: "/ x=xyzabcd => 200 a\n/ x=xyzbcd => 404",
    },
    EnvoyDocExample {
        section: "route_components.proto#HeaderMatcher.string_match (contains)",
        about: "a header contains this text",
        shape: Routes(
            r#"[{"match": {"prefix": "/", "headers": [{"name": "x", "string_match": {"contains": "abcd"}}]}, "is": "a"}]"#,
        ),
        asks: "/ x=xyzabcdpqr => 200 a\n/ x=xyzbcdpqr => 404",
    },
    EnvoyDocExample {
        section: "route_components.proto#HeaderMatcher.string_match (safe_regex)",
        about: "a regular expression matches the whole value",
        shape: Routes(
            r#"[{"match": {"prefix": "/", "headers": [{"name": "x", "string_match": {"safe_regex": {"regex": "\\d{3}"}}}]}, "is": "a"}]"#,
        ),
        asks: "/ x=123 => 200 a\n/ x=1234 => 404\n/ x=123.456 => 404",
    },
    EnvoyDocExample {
        section: "route_components.proto#HeaderMatcher.range_match",
        about: "a number in a half-open range",
        shape: Routes(
            r#"[{"match": {"prefix": "/", "headers": [{"name": "x", "range_match": {"start": -10, "end": 0}}]}, "is": "a"}]"#,
        ),
        asks: "/ x=-1 => 200 a\n/ x=0 => 404\n/ x=somestring => 404\n/ x=10.9 => 404\n/ x=-1somestring => 404",
    },
    EnvoyDocExample {
        section: "route_components.proto#HeaderMatcher.present_match",
        about: "a header is present or absent",
        shape: Routes(
            r#"[{"match": {"prefix": "/a", "headers": [{"name": "x", "present_match": true}]}, "is": "there"}, {"match": {"prefix": "/b", "headers": [{"name": "x", "present_match": false}]}, "is": "absent"}]"#,
        ),
        asks: "/a x=1 => 200 there\n/a => 404\n/b => 200 absent\n/b x=1 => 404",
    },
    EnvoyDocExample {
        section: "route_components.proto#HeaderMatcher.invert_match",
        about: "an inverted test fails without the header",
        shape: Routes(
            r#"[{"match": {"prefix": "/", "headers": [{"name": "x", "range_match": {"start": -10, "end": 0}, "invert_match": true}]}, "is": "a"}]"#,
        ),
        asks: "/ x=5 => 200 a\n/ x=-5 => 404\n/ => 404",
    },
    EnvoyDocExample {
        section: "route_components.proto#HeaderMatcher.treat_missing_header_as_empty",
        about: "a missing header counts as empty",
        shape: Routes(
            r#"[{"match": {"prefix": "/", "headers": [{"name": "x", "range_match": {"start": 1, "end": 10}, "invert_match": true, "treat_missing_header_as_empty": true}]}, "is": "a"}]"#,
        ),
        asks: "/ => 200 a\n/ x=5 => 404\n/ x=11 => 200 a",
    },
    EnvoyDocExample {
        section: "route_components.proto#HeaderMatcher (names with a colon)",
        about: "the method as a pseudo-header",
        shape: Routes(
            r#"[{"match": {"prefix": "/", "headers": [{"name": ":method", "string_match": {"exact": "DELETE"}}]}, "is": "gone"}, {"match": {"prefix": "/"}, "is": "rest"}]"#,
        ),
        asks: "/ method=DELETE => 200 gone\n/ => 200 rest",
    },
    EnvoyDocExample {
        section: "string.proto#StringMatcher.ignore_case",
        about: "case-insensitive values",
        shape: Routes(
            r#"[{"match": {"prefix": "/", "headers": [{"name": "x", "string_match": {"contains": "data", "ignore_case": true}}]}, "is": "a"}]"#,
        ),
        asks: "/ x=someDATAhere => 200 a\n/ x=dat => 404",
    },
    EnvoyDocExample {
        section: "route_components.proto#QueryParameterMatcher.string_match",
        about: "a parameter has this value; the first one counts, undecoded",
        shape: Routes(
            r#"[{"match": {"prefix": "/", "query_parameters": [{"name": "debug", "string_match": {"exact": "on"}}]}, "is": "a"}]"#,
        ),
        asks: "/?debug=on => 200 a\n/?x=1&debug=on => 200 a\n/?debug=off&debug=on => 404\n/?debug=o%6E => 404",
    },
    EnvoyDocExample {
        section: "route_components.proto#QueryParameterMatcher.present_match",
        about: "a parameter is present",
        shape: Routes(
            r#"[{"match": {"prefix": "/", "query_parameters": [{"name": "debug", "present_match": true}]}, "is": "a"}]"#,
        ),
        asks: "/?debug => 200 a\n/?debug=1 => 200 a\n/?debugging=1 => 404",
    },
    EnvoyDocExample {
        section: "route_components.proto#CookieMatcher",
        about: "a cookie among others, and a missing cookie",
        shape: Routes(
            r#"[{"match": {"prefix": "/a", "cookies": [{"name": "stage", "string_match": {"exact": "beta"}}]}, "is": "beta"}, {"match": {"prefix": "/b", "cookies": [{"name": "stage", "string_match": {"exact": "beta"}, "invert_match": true}]}, "is": "others"}]"#,
        ),
        asks: "/a cookie=id=7;+stage=beta => 200 beta\n/a cookie=stage=alpha => 404\n/b => 200 others\n/b cookie=stage=beta => 404",
    },
    EnvoyDocExample {
        section: "route_components.proto#RouteMatch.grpc",
        about: "only gRPC requests",
        shape: Routes(
            r#"[{"match": {"prefix": "/", "grpc": {}}, "is": "grpc"}, {"match": {"prefix": "/"}, "is": "rest"}]"#,
        ),
        asks: "/ content-type=application/json => 200 rest\n/ => 200 rest",
    },
    EnvoyDocExample {
        section: "route_components.proto#RouteMatch.runtime_fraction",
        about: "all requests, and no requests",
        shape: Routes(
            r#"[{"match": {"prefix": "/all", "runtime_fraction": {"default_value": {"numerator": 100}, "runtime_key": "no.such"}}, "is": "all"}, {"match": {"prefix": "/none", "runtime_fraction": {"default_value": {"numerator": 0}, "runtime_key": "no.such"}}, "is": "none"}, {"match": {"prefix": "/"}, "is": "rest"}]"#,
        ),
        asks: "/all => 200 all\n/none => 200 rest",
    },
    EnvoyDocExample {
        section: "route_components.proto#RouteAction.prefix_rewrite",
        about: "with and without the final slash, as the page advises",
        shape: Routes(
            r#"[{"match": {"prefix": "/prefix/"}, "to": {"prefix_rewrite": "/"}}, {"match": {"prefix": "/prefix"}, "to": {"prefix_rewrite": "/"}}]"#,
        ),
        asks: "/prefix => 200 GET / e30.test\n/prefix/etc => 200 GET /etc e30.test",
    },
    EnvoyDocExample {
        section: "route_components.proto#RouteAction.regex_rewrite",
        about: "groups are swapped",
        shape: Routes(
            r#"[{"match": {"prefix": "/"}, "to": {"regex_rewrite": {"pattern": {"regex": "^/service/([^/]+)(/.*)$"}, "substitution": "\\2/instance/\\1"}}}]"#,
        ),
        asks: "/service/foo/v1/api => 200 GET /v1/api/instance/foo e31.test",
    },
    EnvoyDocExample {
        section: "route_components.proto#RouteAction.regex_rewrite",
        about: "every match is replaced",
        shape: Routes(
            r#"[{"match": {"prefix": "/"}, "to": {"regex_rewrite": {"pattern": {"regex": "one"}, "substitution": "two"}}}]"#,
        ),
        asks: "/xxx/one/yyy/one/zzz => 200 GET /xxx/two/yyy/two/zzz e32.test",
    },
    EnvoyDocExample {
        section: "route_components.proto#RouteAction.regex_rewrite",
        about: "only the first match, case-insensitively",
        shape: Routes(
            r#"[{"match": {"prefix": "/xxx"}, "to": {"regex_rewrite": {"pattern": {"regex": "^(.*?)one(.*)$"}, "substitution": "\\1two\\2"}}}, {"match": {"prefix": "/"}, "to": {"regex_rewrite": {"pattern": {"regex": "(?i)/xxx/"}, "substitution": "/yyy/"}}}]"#,
        ),
        asks: "/xxx/one/yyy/one/zzz => 200 GET /xxx/two/yyy/one/zzz e33.test\n/aaa/XxX/bbb => 200 GET /aaa/yyy/bbb e33.test",
    },
    EnvoyDocExample {
        section: "route_components.proto#RouteAction.host_rewrite_literal",
        about: "another host is sent to the endpoint",
        shape: Routes(r#"[{"match": {"prefix": "/"}, "to": {"host_rewrite_literal": "www.internal.test"}}]"#),
        asks: "/a => 200 GET /a www.internal.test",
    },
    EnvoyDocExample {
        section: "route_components.proto#RouteAction.weighted_clusters",
        about: "a weight of zero and one of everything, with its own header",
        shape: Routes(
            r#"[{"match": {"prefix": "/"}, "to": {"weighted_clusters": {"clusters": [{"name": "one", "weight": 0}, {"name": "one", "weight": 100, "request_headers_to_add": [{"header": {"key": "x-t-share", "value": "all"}}]}]}}}]"#,
        ),
        asks: "/a => 200 GET /a e35.test x-t-share=all",
    },
    EnvoyDocExample {
        section: "route_components.proto#RedirectAction",
        about: "host, port, path and status",
        shape: Routes(
            r#"[{"match": {"prefix": "/a"}, "redirect": {"host_redirect": "new.test", "port_redirect": 8443, "path_redirect": "/to", "response_code": 4}}, {"match": {"prefix": "/b"}, "redirect": {"prefix_rewrite": "/c", "strip_query": true, "response_code": 1}}]"#,
        ),
        asks: "/a/x?q=1 => 308 -> http://new.test:8443/to?q=1\n/b/x?q=1 => 302 -> http://e36.test/c/x",
    },
    EnvoyDocExample {
        section: "route_components.proto#RedirectAction.path_redirect",
        about: "the redirect's own query replaces that of the request",
        shape: Routes(r#"[{"match": {"prefix": "/a"}, "redirect": {"path_redirect": "/to?own=1"}}]"#),
        asks: "/a?q=1 => 301 -> http://e37.test/to?own=1",
    },
    EnvoyDocExample {
        section: "route_components.proto#RedirectAction.regex_rewrite",
        about: "a URL built from the path",
        shape: Routes(
            r#"[{"match": {"prefix": "/"}, "redirect": {"regex_rewrite": {"pattern": {"regex": "^/u/([0-9]+)$"}, "substitution": "/users/\\1"}}}]"#,
        ),
        asks: "/u/12 => 301 -> http://e38.test/users/12",
    },
    EnvoyDocExample {
        section: "route_components.proto#DirectResponseAction",
        about: "a status without a body",
        shape: Routes(r#"[{"match": {"prefix": "/"}, "direct_response": {"status": 410}}]"#),
        asks: "/ => 410",
    },
    EnvoyDocExample {
        section: "http_conn_man/headers#custom-request-response-headers",
        about: "headers of a route and of its virtual host, and a percent sign",
        shape: Host(
            r#"{"request_headers_to_add": [{"header": {"key": "x-t-host", "value": "h"}}], "routes": [{"match": {"prefix": "/"}, "request_headers_to_add": [{"header": {"key": "x-t-share", "value": "50%%"}}], "request_headers_to_remove": ["x-t-gone"], "to": {}}]}"#,
        ),
        asks: "/ x-t-gone=1 => 200 GET / e40.test x-t-host=h x-t-share=50%",
    },
    EnvoyDocExample {
        section: "base.proto#HeaderValueOption.append_action",
        about: "one header is appended, and one replaces the existing ones",
        shape: Routes(
            r#"[{"match": {"prefix": "/add"}, "request_headers_to_add": [{"header": {"key": "x-t-a", "value": "new"}, "append_action": 0}], "to": {}}, {"match": {"prefix": "/set"}, "request_headers_to_add": [{"header": {"key": "x-t-a", "value": "new"}, "append_action": 2}], "to": {}}]"#,
        ),
        asks: "/add x-t-a=old => 200 GET /add e41.test x-t-a=old x-t-a=new\n/set x-t-a=old => 200 GET /set e41.test x-t-a=new",
    },
    EnvoyDocExample {
        section: "route_components.proto#VirtualHost.domains",
        about: "exact domains, then suffixes, then prefixes, then any",
        shape: Whole(
            r#"{"virtual_hosts": [{"name": "exact", "domains": ["www.foo.com"], "routes": [{"match": {"prefix": "/"}, "is": "exact"}]}, {"name": "suffix", "domains": ["*.foo.com", "*-bar.foo.com"], "routes": [{"match": {"prefix": "/"}, "is": "suffix"}]}, {"name": "prefix", "domains": ["foo.*", "foo-*"], "routes": [{"match": {"prefix": "/"}, "is": "prefix"}]}, {"name": "any", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "is": "any"}]}]}"#,
            "{}",
        ),
        asks: "/ host=www.foo.com => 200 exact\n/ host=baz-bar.foo.com => 200 suffix\n/ host=foo.bar => 200 prefix\n/ host=foo-bar => 200 prefix\n/ host=other => 200 any\n/ host=www.foo.com:80 => 200 any",
    },
    EnvoyDocExample {
        section: "route_components.proto#VirtualHost.require_tls",
        about: "all requests without TLS are redirected",
        shape: Host(r#"{"require_tls": 2, "routes": [{"match": {"prefix": "/"}, "is": "secure"}]}"#),
        asks: "/a?b=1 => 301 -> https://e43.test/a?b=1\n/a x-forwarded-proto=https => 200 secure",
    },
    EnvoyDocExample {
        section: "route.proto#RouteConfiguration.ignore_port_in_host_matching",
        about: "the port is not part of the host",
        shape: Whole(
            r#"{"ignore_port_in_host_matching": true, "virtual_hosts": [{"name": "a", "domains": ["www.ex.com"], "routes": [{"match": {"prefix": "/"}, "is": "a"}]}]}"#,
            "{}",
        ),
        asks: "/ host=www.ex.com:8080 => 200 a\n/ host=www.ex.com => 200 a\n/ host=www.ex.com. => 404",
    },
    EnvoyDocExample {
        section: "route.proto#RouteConfiguration.ignore_path_parameters_in_path_matching",
        about: "path parameters after a semicolon are ignored",
        shape: Whole(
            r#"{"ignore_path_parameters_in_path_matching": true, "virtual_hosts": [{"name": "a", "domains": ["*"], "routes": [{"match": {"path": "/foo/bar"}, "is": "a"}]}]}"#,
            "{}",
        ),
        asks: "/foo/bar;v=1 host=h => 200 a\n/foo;v=1/bar host=h => 200 a\n/foo/bars host=h => 404",
    },
    EnvoyDocExample {
        section: "http_connection_manager.proto#normalize_path, merge_slashes",
        about: "a path is normalised before routing and when it is forwarded",
        shape: Whole(
            r#"{"virtual_hosts": [{"name": "a", "domains": ["*"], "routes": [{"match": {"prefix": "/a/b"}, "to": {}}]}]}"#,
            r#"{"normalize_path": true, "merge_slashes": true, "path_with_escaped_slashes_action": "UNESCAPE_AND_FORWARD"}"#,
        ),
        asks: "/x/../a//b host=h => 200 GET /a/b h\n/a%2Fb host=h => 200 GET /a/b h\n/%61/b host=h => 200 GET /a/b h",
    },
    EnvoyDocExample {
        section: "http_connection_manager.proto#strip_any_host_port",
        about: "the port of a host is removed before matching and forwarding",
        shape: Whole(
            r#"{"virtual_hosts": [{"name": "a", "domains": ["www.ex.com"], "routes": [{"match": {"prefix": "/"}, "is": "a"}]}]}"#,
            r#"{"strip_any_host_port": true}"#,
        ),
        asks: "/ host=www.ex.com:8080 => 200 a",
    },
    EnvoyDocExample {
        section: "route.proto#RouteConfiguration (fields of all routes)",
        about: "headers of the configuration follow those of the route",
        shape: Whole(
            r#"{"request_headers_to_add": [{"header": {"key": "x-t-b", "value": "all"}}], "response_headers_to_add": [{"header": {"key": "x-t-r", "value": "all"}}], "virtual_hosts": [{"name": "a", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "request_headers_to_add": [{"header": {"key": "x-t-a", "value": "one"}}], "to": {}}]}]}"#,
            "{}",
        ),
        asks: "/ host=h => 200 GET / h x-t-a=one x-t-b=all x-t-r=all",
    },
];
