//! Tests that converted routes send the same requests to the same destinations.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panicking")]

use std::fmt::Write as _;

use eddy_config::{ActionKind, GatewayConfig, Serve};
use eddy_convert::{ConversionTarget, convert};
use eddy_dialects::{Checked, check};
use eddy_http::{HeadLimits, RequestHead};
use eddy_ids::ClusterId;
use eddy_model::EndpointAddress;
use eddy_route::nginx::{NginxOutcome, NginxRequestState, SiteRequest};
use eddy_route::{RouteRequest, RouteScratch, Router};
use eddy_spec::problem::SourceText;

fn checked(path: &str, text: &str) -> GatewayConfig {
    let checked = check(&[SourceText::new(path, text)]);
    let Checked { config, .. } = checked.unwrap_or_else(|problems| panic!("{problems:#?}\n{text}"));
    config
}

/// Returns the address of a cluster's first endpoint.
fn place_of(config: &GatewayConfig, cluster: ClusterId) -> String {
    match &config.clusters[cluster].endpoints[0].address {
        EndpointAddress::Socket(address) => address.to_string(),
        EndpointAddress::Name { host, port } => format!("{host}:{port}"),
        EndpointAddress::Unix(path) => path.display().to_string(),
    }
}

fn text_of(host: &str, target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n")
}

/// Returns the result of a request under an nginx.conf: an endpoint with target and host, a response, or a redirect
/// location.
fn by_sites(config: &GatewayConfig, host: &str, target: &str) -> String {
    let text = text_of(host, target);
    let bytes = text.as_bytes();
    let mut head = RequestHead::new();
    head.parse(bytes, &HeadLimits::default()).unwrap();
    let Serve::Sites(at) = config.listeners[0].serve else { panic!("no servers") };
    let configured = &config.sites[at.sites];
    let sites = &configured.program;
    let request = SiteRequest {
        host: head.host.of(bytes),
        path: head.path.of(bytes),
        query: head.query.map(|query| query.of(bytes)),
        target: head.target.of(bytes),
        method: b"GET",
        protocol: "HTTP/1.1",
        tls: None,
        fields: head.fields(bytes),
        body_bytes: None,
        remote_address: b"127.0.0.1",
        remote_port: 1,
        local_address: b"127.0.0.1",
        local_port: 80,
        id: 0,
    };
    let (mut walk, mut scratch, mut out) = (NginxRequestState::default(), RouteScratch::new(), Vec::new());
    match sites.walk(at.address, &request, &mut walk, &mut scratch) {
        NginxOutcome::Proxy { action } => {
            sites.lookup(&request, &mut walk, &mut scratch).write_target(&mut out).unwrap();
            let target = String::from_utf8(out.clone()).unwrap();
            sites.lookup(&request, &mut walk, &mut scratch).write_host(&mut out);
            let ActionKind::Cluster(cluster) = configured.action(action).kind else { panic!("no cluster") };
            format!("{} {target} {}", place_of(config, cluster), String::from_utf8_lossy(&out))
        }
        NginxOutcome::Text { status } => format!("{status} {}", String::from_utf8_lossy(walk.text())),
        NginxOutcome::Redirect { status } => {
            sites.write_location(&request, &mut walk, &mut out);
            let location = String::from_utf8(out).unwrap();
            // A location is compared as a path, whether or not it includes the host.
            let own = format!("http://{}", host.to_lowercase());
            format!("{status} -> {}", location.strip_prefix(&own).unwrap_or(&location))
        }
        NginxOutcome::Status { status } => format!("{status} "),
        NginxOutcome::Close => "closed".to_owned(),
    }
}

/// Returns the result of a request under an eddy.yaml.
fn by_rules(config: &GatewayConfig, router: &Router, host: &str, target: &str) -> String {
    let text = text_of(host, target);
    let bytes = text.as_bytes();
    let mut head = RequestHead::new();
    head.parse(bytes, &HeadLimits::default()).unwrap();
    let path = head.path.of(bytes);
    let request = RouteRequest {
        host: head.host.of(bytes),
        path,
        query: head.query.map_or(b"".as_slice(), |query| query.of(bytes)),
        method: b"GET",
        fields: head.fields(bytes),
        ..RouteRequest::default()
    };
    let mut scratch = RouteScratch::new();
    let Some(found) = router.lookup(&request, &mut scratch) else { return "404 ".to_owned() };
    let mut rewritten = Vec::new();
    let is_rewritten = found.rewrite(path, &mut scratch, &mut rewritten).unwrap();
    let path = if is_rewritten { rewritten } else { path.to_vec() };
    let path = String::from_utf8(path).unwrap();
    let query = target.split_once('?').map_or(String::new(), |(_, query)| format!("?{query}"));
    let action = config.action_of(&config.listeners[0], found.rule);
    match &action.kind {
        ActionKind::Cluster(cluster) => {
            let host = action.host_rewrite.as_deref().unwrap_or(host);
            format!("{} {path}{query} {host}", place_of(config, *cluster))
        }
        ActionKind::Respond(respond) => {
            format!("{} {}", respond.status, String::from_utf8_lossy(&respond.body))
        }
        ActionKind::Redirect(redirect) => {
            let query = if redirect.strip_query { "" } else { &query };
            let port = redirect.port.map(|port| format!(":{port}")).unwrap_or_default();
            let origin = match (&redirect.scheme, &redirect.host) {
                (None, None) if port.is_empty() => String::new(),
                (scheme, own) => {
                    let scheme = scheme.as_deref().unwrap_or("http");
                    format!("{scheme}://{}{port}", own.as_deref().unwrap_or(host))
                }
            };
            let path = redirect.path.as_deref().unwrap_or(&path);
            format!("{} -> {origin}{path}{query}", redirect.status)
        }
        ActionKind::Weighted(_) | ActionKind::Split(_) | ActionKind::Sites(_) => panic!("{action:?}"),
    }
}

fn router_of(config: &GatewayConfig) -> Router {
    config.router(&config.listeners[0]).unwrap().expect("no tables")
}

/// Random numbers that are the same in every run.
struct ConvertRng(u64);

impl ConvertRng {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn of<'v>(&mut self, values: &[&'v str]) -> &'v str {
        values[self.below(values.len())]
    }
}

const NAMES: [&str; 7] = ["a.test", "*.a.test", ".b.test", "c.b.test", "*.c.b.test", "d.test", "\"\""];
const HOSTS: [&str; 9] =
    ["a.test", "x.a.test", "y.x.a.test", "b.test", "c.b.test", "z.c.b.test", "d.test", "e.test", "A.TEST"];
const PATHS: [&str; 10] = ["/", "/a", "/a/", "/a/b", "/a/b/", "/ab", "/b/", "/b/c", "/a/b.c", "/b.c"];
const PATTERNS: [&str; 6] = ["^/a", "[.]c$", "b", "^/(a|b)/", "/b(/|$)", "^/a/b[.]"];
const ANSWERS: [&str; 9] = [
    "return 200 NUMBER;",
    "return 403;",
    "return 301 /to;",
    "return 302 https://$host$request_uri;",
    "return 307 http://other.test/x;",
    "proxy_pass http://127.0.0.1:PORT;",
    "proxy_pass http://127.0.0.1:PORT; proxy_set_header Host $http_host;",
    "proxy_pass http://127.0.0.1:PORT; proxy_set_header Host up.test; proxy_set_header X-A b;",
    "proxy_pass http://127.0.0.1:PORT/up/;",
];

fn generate(draw: &mut ConvertRng) -> String {
    let mut config = String::from("events {}\nhttp {\n");
    let mut number = 0;
    for server in 0..=draw.below(3) {
        let _ = write!(config, "server {{ listen 127.0.0.1:80; server_name {}; ", draw.of(&NAMES));
        if draw.below(8) == 0 {
            let _ = write!(config, "return 200 s{server}; ");
        }
        let mut taken = Vec::new();
        for _ in 0..draw.below(7) {
            number += 1;
            let (location, is_pattern) = match draw.below(6) {
                0 => (format!("= {}", draw.of(&PATHS)), false),
                1 => (format!("^~ {}", draw.of(&PATHS)), false),
                2 => (format!("{} \"{}\"", draw.of(&["~", "~*"]), draw.of(&PATTERNS)), true),
                _ => (draw.of(&PATHS).to_owned(), false),
            };
            let key = location.trim_start_matches("^~ ").to_owned();
            if taken.contains(&key) {
                continue;
            }
            taken.push(key);
            let answer = draw.of(if is_pattern { &ANSWERS[..8] } else { &ANSWERS });
            let answer =
                answer.replace("NUMBER", &number.to_string()).replace("PORT", &(9000 + number).to_string());
            let _ = write!(config, "location {location} {{ {answer} }} ");
        }
        config.push_str("}\n");
    }
    config + "}\n"
}

#[test]
fn a_losslessly_converted_nginx_conf_routes_alike() {
    let mut draw = ConvertRng(0x1234_5678_9abc_def1);
    let (mut exact, mut asked) = (0, 0);
    for _ in 0..400 {
        let text = generate(&mut draw);
        let old = checked("nginx.conf", &text);
        let converted = convert(&old, ConversionTarget::Eddy);
        let new = checked("eddy.yaml", &converted.text);
        if !converted.losses.is_empty() {
            continue;
        }
        exact += 1;
        let router = router_of(&new);
        for host in HOSTS {
            for path in PATHS {
                for target in [path.to_owned(), format!("{path}x"), format!("{path}/B.c?q=1")] {
                    if target.contains("//") {
                        continue;
                    }
                    let (theirs, ours) =
                        (by_sites(&old, host, &target), by_rules(&new, &router, host, &target));
                    asked += 1;
                    assert_eq!(
                        ours.to_lowercase(),
                        theirs.to_lowercase(),
                        "{host}{target}\n{text}\n{}",
                        converted.text
                    );
                }
            }
        }
    }
    assert!(exact > 150 && asked > 30_000, "{exact} configurations, {asked} requests");
}

const DOMAINS: [&str; 8] =
    ["a.test", "*.a.test", "b.test", "*.b.test", "c.b.test", "*", "*.c.b.test", "x.a.test"];
const ENVOY_MATCHES: [&str; 9] = [
    "prefix: 'PATH'",
    "prefix: 'PATH'",
    "path: 'PATH'",
    "prefix: /",
    "safe_regex: {regex: '/a.*'}",
    "safe_regex: {regex: '/[ab]/.*'}",
    "prefix: 'PATH', case_sensitive: false",
    "path: 'PATH', query_parameters: [{name: q, string_match: {exact: '1'}}]",
    "prefix: 'PATH', headers: [{name: ':method', string_match: {exact: GET}}]",
];
const ENVOY_ACTIONS: [&str; 9] = [
    "direct_response: {status: 200, body: {inline_string: 'NUMBER'}}",
    "direct_response: {status: 200, body: {inline_string: 'NUMBER'}}",
    "direct_response: {status: 403}",
    "route: {cluster: one}",
    "route: {cluster: one, prefix_rewrite: /up/}",
    "route: {cluster: one, host_rewrite_literal: up.test}",
    "redirect: {path_redirect: /new, response_code: FOUND}",
    "redirect: {host_redirect: new.test, port_redirect: 8443}",
    "redirect: {prefix_rewrite: /p, https_redirect: true}",
];

/// Generates random Envoy virtual hosts.
fn generate_envoy(draw: &mut ConvertRng) -> String {
    let mut hosts = String::new();
    let mut taken = Vec::new();
    let mut number = 0;
    for _ in 0..=draw.below(4) {
        let domain = draw.of(&DOMAINS);
        if taken.contains(&domain) {
            continue;
        }
        taken.push(domain);
        let mut routes = String::new();
        for _ in 0..=draw.below(6) {
            number += 1;
            let wanted = draw.of(&ENVOY_MATCHES).replace("PATH", draw.of(&PATHS));
            let action = draw.of(&ENVOY_ACTIONS).replace("NUMBER", &number.to_string());
            let _ = write!(routes, "{{match: {{{wanted}}}, {action}}}, ");
        }
        let _ = write!(hosts, "\n    - {{name: same, domains: ['{domain}'], routes: [{routes}]}}");
    }
    envoy_file(&hosts)
}

/// Returns an Envoy configuration with these virtual hosts.
fn envoy_file(hosts: &str) -> String {
    ENVOY.replace("HOSTS", &hosts.replace("\n    ", "\n            "))
}

const ENVOY: &str = "\
static_resources:
  listeners:
  - name: web
    address: {socket_address: {address: 127.0.0.1, port_value: 80}}
    filter_chains:
    - filters:
      - name: hcm
        typed_config:
          '@type': type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          route_config:
            virtual_hosts:
HOSTS
  clusters:
  - name: one
    load_assignment:
      endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: 9000}}}}]}]
";

#[test]
fn losslessly_converted_envoy_routes_route_alike() {
    let mut draw = ConvertRng(0x2545_f491_4f6c_dd1d);
    let (mut exact, mut ranked, mut asked) = (0, 0, 0);
    for _ in 0..300 {
        let text = generate_envoy(&mut draw);
        let old = checked("envoy.yaml", &text);
        let converted = convert(&old, ConversionTarget::Eddy);
        let new = checked("eddy.yaml", &converted.text);
        if !converted.losses.is_empty() {
            continue;
        }
        exact += 1;
        ranked += usize::from(converted.text.contains("rank:"));
        let (theirs, ours) = (router_of(&old), router_of(&new));
        for host in HOSTS {
            for path in PATHS {
                for target in
                    [path.to_owned(), format!("{path}x"), format!("{path}/B.c?q=1"), path.to_uppercase()]
                {
                    if target.contains("//") {
                        continue;
                    }
                    asked += 1;
                    assert_eq!(
                        by_rules(&new, &ours, host, &target),
                        by_rules(&old, &theirs, host, &target),
                        "{host}{target}\n{text}\n{}",
                        converted.text
                    );
                }
            }
        }
    }
    assert!(
        exact > 150 && ranked > 50 && asked > 30_000,
        "{exact} configurations, {ranked} with ranks, {asked}"
    );
}

#[test]
fn features_that_only_envoy_has_are_reported_with_their_position() {
    let hosts = "
    - name: odd
      domains: ['*-x.test', 'a.*', 'a.test:80', a.test]
      routes:
      - {match: {prefix: /a, headers: [{name: x, string_match: {exact: '1'}, invert_match: true}]}, route: {cluster: one}}
      - {match: {prefix: /b}, route: {cluster: one, regex_rewrite: {pattern: {regex: b}, substitution: c}}}
      - {match: {prefix: /c}, redirect: {port_redirect: 8443}}
      - {match: {prefix: /d}, redirect: {path_redirect: '/d?e=1'}}
      - {match: {path: '/%61'}, route: {cluster: one}}
      - {match: {prefix: /, runtime_fraction: {default_value: {numerator: 5}, runtime_key: k}}, route: {cluster: one}}
    - {name: rest, domains: ['*'], routes: [{match: {prefix: /}, direct_response: {status: 200}}]}
";
    let config = checked("envoy.yaml", &envoy_file(hosts));
    for (target, file) in [
        (ConversionTarget::Eddy, "losses-envoy.txt"),
        (ConversionTarget::GatewayApi, "losses-envoy-manifests.txt"),
    ] {
        let converted = convert(&config, target);
        let told: Vec<String> =
            converted.losses.iter().map(|loss| format!("{}: {}", loss.origin, loss.reason)).collect();
        golden(file, &(told.join("\n") + "\n"));
        for (line, word) in [
            (16, "`*-x.test`, `a.*`, `a.test:80`"),
            (17, "path rewrite"),
            (18, "port"),
            (19, "query"),
            (20, "normalised"),
        ] {
            let is_in_response = told
                .iter()
                .any(|told| told.starts_with(&format!("envoy.yaml:{line}:")) && told.contains(word));
            assert!(is_in_response, "line {line}, {word}: {told:#?}");
        }
    }
    let text = convert(&config, ConversionTarget::Eddy).text;
    assert!(text.contains("end-of-a.test"), "{text}");
    checked("eddy.yaml", &text);
}

const RULES: &str = "\
listeners: [{name: web, address: '127.0.0.1:8080', routes: site}]
routes:
  site:
    - {name: users, match: {host: [www.example.com, '*.example.org'], path: {prefix: /user/}, method: [GET, POST], headers: {x-beta: '1'}}, cluster: users, rewrite: {prefix: /, host: users.internal}, request_headers: {set: {x-a: b}, remove: [x-c]}}
    - {name: health, match: {host: www.example.com, path: {exact: /healthz}}, cluster: users, response_headers: {add: {x-d: e}}}
    - {name: old, match: {host: www.example.com, path: {prefix: /old}}, redirect: {status: 301, host: 'new.example.com:8443', prefix: /new}}
    - {name: canary, match: {host: www.example.com}, clusters: [{cluster: users, weight: 95}, {cluster: next, weight: 5}], timeout: 2s}
clusters:
  users: {endpoints: ['10.0.0.1:9001', '10.0.0.2:9001', '[fd00::1]:9002']}
  next: {endpoints: ['next.internal:80']}
";

/// Compares `text` with `tests/converted/NAME`, or writes the file if the variable `UPDATE` is set.
fn golden(name: &str, text: &str) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/converted");
    let path = folder.join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{name} is not as it was; UPDATE=1 accepts it");
}

#[test]
fn rules_round_trip_through_manifests() {
    let config = checked("eddy.yaml", RULES);
    let manifests = convert(&config, ConversionTarget::GatewayApi);
    assert_eq!(manifests.losses, []);
    golden("manifests.yaml", &manifests.text);
    let again = convert(&config, ConversionTarget::Eddy);
    assert_eq!(again.losses, []);
    golden("rules.yaml", &again.text);
    let (old, new) = (router_of(&config), router_of(&checked("eddy.yaml", &again.text)));
    for (one, other) in old.rules().iter().zip(new.rules()) {
        assert_eq!((&one.name, one.origin.line > 0), (&other.name, other.origin.line > 0));
    }
    assert_eq!(old.rules().len(), new.rules().len());
}

#[test]
fn features_that_cannot_be_converted_are_reported_with_their_position() {
    let nginx = "events {}\nhttp {\nmap $uri $x { default 1; }\nserver {\n listen 80;\n server_name a.test ~^b;\n location / { proxy_pass http://127.0.0.1:1; proxy_set_header X-U $uri; }\n location ^~ /a { return 200 a; }\n location /ab { rewrite ^ /b; }\n location ~ c { return 200 $x; }\n error_page 404 /x;\n}\n}\n";
    let converted = convert(&checked("nginx.conf", nginx), ConversionTarget::Eddy);
    let told: Vec<String> =
        converted.losses.iter().map(|loss| format!("{}: {}", loss.origin, loss.reason)).collect();
    golden("losses-nginx.txt", &(told.join("\n") + "\n"));
    for (line, word) in [(4, "~^b"), (7, "X-U"), (8, "^~"), (9, "rewrite"), (10, "$x"), (7, "error_page")] {
        let is_in_response =
            told.iter().any(|told| told.starts_with(&format!("nginx.conf:{line}:")) && told.contains(word));
        assert!(is_in_response, "line {line}, {word}: {told:#?}");
    }
    let rules = RULES
        .replace("cluster: users, response_headers", "rank: 3, respond: {status: 200}, response_headers");
    let rules = rules
        .replace("host: www.example.com}, clusters", "host: '*.example.com', path: {regex: /a.*}}, clusters");
    let converted = convert(&checked("eddy.yaml", &rules), ConversionTarget::GatewayApi);
    let told: Vec<String> =
        converted.losses.iter().map(|loss| format!("{}: {}", loss.origin, loss.reason)).collect();
    golden("losses-manifests.txt", &(told.join("\n") + "\n"));
    for (line, word) in [(5, "fixed responses"), (7, "expression"), (7, "404 in the Gateway API")] {
        let is_in_response =
            told.iter().any(|told| told.starts_with(&format!("eddy.yaml:{line}:")) && told.contains(word));
        assert!(is_in_response, "line {line}, {word}: {told:#?}");
    }
}

const SECURE: &str = "\
listeners:
  - address: 127.0.0.1:8443
    routes: site
    tls:
      certificates: [{chain: a.crt, key: a.key}, {chain: b.crt, key: b.key, ocsp: b.ocsp}]
      strict_names: true
      clients: {authorities: clients.pem, optional: true}
      handshake_timeout: 2s
routes:
  site:
    - cluster: users
clusters:
  users:
    endpoints: [127.0.0.1:9001]
    connections_per_endpoint: 7
    pool: {idle: 3, requests: 9}
    ejection: {failures: 0}
    retry_budget: {floor: 1}
    dns: {refresh_max: 1m}
    health: {http: {path: /healthz, host: users.test}, interval: 5s}
    tls: {server_name: users.test, authorities: own.pem, certificate: {chain: c.crt, key: c.key}, verify: authority}
";

#[test]
fn cluster_tls_health_checks_and_limits_are_converted_or_reported() {
    let config = checked("eddy.yaml", SECURE);
    let converted = convert(&config, ConversionTarget::Eddy);
    assert_eq!(converted.losses, []);
    golden("secure.yaml", &converted.text);
    let again = convert(&checked("eddy.yaml", &converted.text), ConversionTarget::Eddy);
    assert_eq!(again.text, converted.text);
    let converted = convert(&config, ConversionTarget::GatewayApi);
    let told: Vec<&str> = converted.losses.iter().map(|loss| loss.reason.as_str()).collect();
    for word in ["TLS of the listener `127.0.0.1:8443`", "TLS towards its endpoints", "health checks"] {
        assert!(told.iter().any(|told| told.contains(word)), "{word}: {told:#?}");
    }
}

#[test]
fn certificates_that_eddy_yaml_cannot_express_are_reported() {
    let server = |name: &str| {
        format!(
            "server {{\n listen 443 ssl;\n server_name {name};\n ssl_certificate {name}.crt; ssl_certificate_key {name}.key;\n location / {{ return 200; }}\n }}\n"
        )
    };
    let text = format!("events {{}}\nhttp {{\n{}}}\n", server("a.test"));
    let converted = convert(&checked("nginx.conf", &text), ConversionTarget::Eddy);
    assert_eq!(converted.losses, []);
    assert!(converted.text.contains("chain: a.test.crt"), "{}", converted.text);
    let text = format!("events {{}}\nhttp {{\n{}{}}}\n", server("a.test"), server("b.test"));
    let converted = convert(&checked("nginx.conf", &text), ConversionTarget::Eddy);
    let [loss] = converted.losses.as_slice() else { panic!("{:#?}", converted.losses) };
    assert_eq!(
        (loss.origin.line, loss.reason.contains("by the hosts that it contains")),
        (6, true),
        "{loss:?}"
    );
}
