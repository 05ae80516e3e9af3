//! Tests of the examples on the Gateway API's own site (`examples/` of sigs.k8s.io/gateway-api v1.4.1): each is
//! accepted and gets requests, or is left out for a documented reason. Also tests of the examples in the guide.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use eddy_config::{ActionKind, GatewayConfig, Redirect};
use eddy_spec::Leniency;

use crate::certificate::secret;
use crate::world::{GatewayRouteDecision, ask, check, told};

/// Examples that eddy refuses, by the beginning of their names, with the message.
const REFUSED: &[(&str, &str)] = &[
    ("experimental/backend-tls", "`tls` is not supported"),
    ("experimental/frontend-cert-validation", "is not supported"),
];

/// Examples that eddy accepts, but that no request can demonstrate.
const NOT_ASKED: &[(&str, &str)] = &[
    ("standard/0-namespaces", "only namespaces"),
    ("standard/backendtlspolicy/", "only a BackendTLSPolicy"),
    ("standard/cross-namespace-routing/0-namespaces", "only namespaces"),
    ("standard/cross-namespace-routing/gateway", "a Gateway without routes"),
    ("standard/gateway-addresses", "a Gateway without routes, at addresses that do not exist here"),
    ("standard/http-redirect-rewrite/gateway-redirect-http-https", "a Gateway without routes"),
    ("standard/http-route-attachment/gateway-", "a Gateway without routes"),
    ("standard/multicluster/0-namespaces", "only namespaces"),
    ("standard/multicluster/httproute-gamma", "its parent is a ServiceImport, so it is not attached"),
    ("standard/reference-grant", "only a ReferenceGrant"),
    ("standard/simple-gateway/gateway", "a Gateway without routes"),
    ("standard/simple-http-https/gateway", "a Gateway without routes"),
    ("standard/tls-", "Gateways without routes"),
    ("standard/wildcard-tls-gateway", "a Gateway without routes"),
    ("experimental/basic-tcp", "a TCP Gateway, which is not served, with a warning"),
    ("experimental/destination-port-matching-tcp", "only a TCPRoute, which is ignored with a warning"),
    (
        "experimental/v1alpha2/tls-routing/gateway",
        "a TLS passthrough Gateway, which is not served, with a warning",
    ),
    ("experimental/v1alpha2/tls-routing/tls-route", "only a TLSRoute, which is ignored with a warning"),
    (
        "experimental/v1alpha3/tls-routing/gateway",
        "a TLS passthrough Gateway, which is not served, with a warning",
    ),
    ("experimental/v1alpha3/tls-routing/tls-route", "only a TLSRoute, which is ignored with a warning"),
];

/// Setting for the examples, whose classes belong to another controller.
const SETTINGS: &str = "kubernetes: {controllers: [acme.io/gateway-controller]}\n";

fn reason(list: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    list.iter().find(|(begin, _)| name.starts_with(begin)).map(|(_, reason)| *reason)
}

/// Returns the sections of a file, each of which begins with `=== NAME`.
fn sections(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split("=== ").skip(1).map(|section| section.split_once('\n').unwrap())
}

#[test]
fn documented_examples_respond_as_documented_or_are_excluded_with_a_reason() {
    let mut answers: BTreeMap<&str, &str> = sections(include_str!("answers.txt")).collect();
    let (mut wrong, mut asked, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    let secret = secret("SECRET", &["example.com"]);
    for (name, manifests) in sections(include_str!("examples.txt")) {
        let manifests = attached(manifests);
        let others = surroundings(&manifests, &secret);
        let texts = [("eddy.yaml", SETTINGS), (name, &manifests), ("others.yaml", &others)];
        let outcome = check(&texts, Leniency::Strict);
        let lines = answers.remove(name);
        match (outcome, reason(REFUSED, name), lines) {
            (Ok(checked), None, Some(lines)) => {
                for line in lines.lines() {
                    wrong.extend(differs(&checked.config, line).map(|told| format!("{name}: {told}")));
                }
                asked.push((name, lines.lines().count()));
            }
            (Ok(_), None, None) => match reason(NOT_ASKED, name) {
                Some(reason) => left_out.push((name, reason)),
                None => wrong.push(format!("{name} is asked nothing, and nothing says why")),
            },
            (Err(problems), Some(reason), None) if told(&problems).contains(reason) => {
                left_out.push((name, reason));
            }
            (Err(problems), ..) => wrong.push(format!("{name}:\n{}", told(&problems))),
            (Ok(_), Some(_), _) => wrong.push(format!("{name} is taken")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(answers.is_empty(), "no such examples: {:?}", answers.keys());
    assert!(asked.len() >= 40, "{} examples are asked", asked.len());
    check_page(&asked, &left_out);
}

fn check_page(asked: &[(&str, usize)], left_out: &[(&str, &str)]) {
    let requests: usize = asked.iter().map(|(_, count)| count).sum();
    let mut page = format!(
        "# Examples of the Gateway API\n\n\
         This page is generated by a test (`crates/eddy-dialects/tests/gateway_api`): {} examples of the API's own site \
         (`examples/` of <https://github.com/kubernetes-sigs/gateway-api>, v1.4.1) get {requests} requests. Services, \
         Secrets and Gateways that they refer to but do not contain are added.\n\n\
         | example | requests |\n|---|--:|\n",
        asked.len()
    );
    for (name, count) in asked {
        let _ = writeln!(page, "| {name} | {count} |");
    }
    page.push_str("\n## Left out\n\n| example | why |\n|---|---|\n");
    for (name, reason) in left_out {
        let _ = writeln!(page, "| {name} | {reason} |");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/gateway-api-examples.md");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let published = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        page, published,
        "docs/reference/gateway-api-examples.md is not as it was; UPDATE=1 accepts it"
    );
}

/// Returns the difference from a line of `answers.txt`, if any.
fn differs(config: &GatewayConfig, line: &str) -> Option<String> {
    let (asked, expected) = line.split_once(" => ").unwrap();
    let mut words = asked.split(' ');
    let (authority, target) = (words.next().unwrap(), words.next().unwrap());
    let (mut method, mut fields) = ("GET", String::new());
    for word in words {
        match word.split_once('=') {
            Some((name, value)) => fields += &format!("{name}: {value}\r\n"),
            None => method = word,
        }
    }
    let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
    let is_meant = |address: &str| match port {
        "" => !address.ends_with(":8099"),
        port => address.ends_with(&format!(":{port}")),
    };
    let addresses = config.listeners.iter().map(|listener| listener.address.to_string());
    let address = addresses.into_iter().find(|address| is_meant(address));
    let Some(address) = address else { return Some(format!("{line}\n  nothing listens there")) };
    let head = format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\n{fields}");
    let outcome = ask(config, &address, &head);
    let answer = answer(config, &outcome, host, target.split('?').next().unwrap());
    (answer != expected).then(|| format!("{line}\n  {answer}"))
}

/// Formats the result of a request: its destination, the host and path if they are rewritten, and the mirrors.
fn answer(config: &GatewayConfig, outcome: &GatewayRouteDecision, host: &str, path: &str) -> String {
    let mut text = outcome.does.clone();
    let Some(action) = &outcome.action else { return text };
    if let ActionKind::Redirect(Redirect { scheme, host: to, port, status, .. }) = &action.kind {
        let to = to.as_deref().unwrap_or(host);
        let port = port.map_or(String::new(), |port| format!(":{port}"));
        let path = outcome.path.as_deref().unwrap_or(path);
        return format!("{status} -> {}://{to}{port}{path}", scheme.as_deref().unwrap_or("http"));
    }
    for mirror in &action.mirrors {
        text += &format!(" and {}", config.clusters[mirror.cluster].name);
    }
    for other in [&action.host_rewrite.as_ref().map(ToString::to_string), &outcome.path].into_iter().flatten()
    {
        text += &format!(" {other}");
    }
    text
}

/// Returns the manifests with a Gateway as the parent of each route that names none.
fn attached(manifests: &str) -> String {
    let documents = manifests.trim_end().split("\n---\n").map(|document| {
        let is_route = document.lines().any(|line| matches!(line, "kind: HTTPRoute" | "kind: GRPCRoute"));
        if is_route && !document.contains("parentRefs:") {
            document.replacen("\nspec:\n", "\nspec:\n  parentRefs:\n  - {name: surrounding}\n", 1)
        } else {
            document.to_owned()
        }
    });
    documents.collect::<Vec<_>>().join("\n---\n") + "\n"
}

/// Returns the objects that an example refers to but does not contain: Gateways, Services and Secrets; and a Gateway,
/// so that there is a listener.
fn surroundings(manifests: &str, secret: &str) -> String {
    let gateway = |name: &str, namespace: &str, listeners: &str| {
        format!(
            "---\n{{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {{name: {name}, namespace: {namespace}}}, spec: {{gatewayClassName: eddy, listeners: [{listeners}]}}}}\n"
        )
    };
    let mut out = gateway("one-more", "default", "{name: http, port: 8099, protocol: HTTP}");
    let (mut gateways, mut services, mut secrets) = (BTreeSet::new(), BTreeMap::new(), BTreeSet::new());
    secrets.insert(("default".to_owned(), "surrounding".to_owned()));
    for document in manifests.split("\n---\n") {
        let own = document.split("metadata:").nth(1).and_then(|rest| rest.lines().next());
        let own = own.and_then(|line| value(line, "namespace")).unwrap_or("default");
        let mut list = "";
        for line in document.lines() {
            let item = line.trim_start();
            if !item.starts_with("- {") {
                list = item.trim_start_matches("- ");
            }
            let item = list.strip_prefix("backendRef: ").unwrap_or(item);
            let Some(name) = value(item, "name") else { continue };
            let is_ours =
                value(item, "group").is_none_or(|group| matches!(group, "''" | "gateway.networking.k8s.io"));
            let place = (value(item, "namespace").unwrap_or(own).to_owned(), name.to_owned());
            match list.split(':').next() {
                _ if !is_ours => {}
                Some("parentRefs") => drop(gateways.insert(place)),
                Some("certificateRefs") => drop(secrets.insert(place)),
                Some("backendRefs" | "backendRef") => {
                    let ports: &mut BTreeSet<&str> = services.entry(place).or_default();
                    ports.extend(value(item, "port"));
                }
                _ => {}
            }
        }
    }
    gateways.retain(|(_, name)| !manifests.contains(&format!("kind: Gateway\nmetadata: {{name: {name}")));
    for (number, (namespace, name)) in gateways.iter().enumerate() {
        secrets.insert((namespace.clone(), "surrounding".to_owned()));
        let (plain, secure) = (8100 + number, 8200 + number);
        let open = "allowedRoutes: {namespaces: {from: All}}";
        let listeners = format!(
            "{{name: http, port: {plain}, protocol: HTTP, {open}}}, {{name: https, port: {secure}, protocol: HTTPS, {open}, tls: {{certificateRefs: [{{name: surrounding}}]}}}}"
        );
        out += &gateway(name, namespace, &listeners);
    }
    for ((namespace, name), ports) in services {
        let ports: Vec<String> =
            ports.iter().map(|port| format!("{{name: p{port}, port: {port}}}")).collect();
        let _ = writeln!(
            out,
            "---\n{{apiVersion: v1, kind: Service, metadata: {{name: {name}, namespace: {namespace}}}, spec: {{ports: [{}]}}}}",
            ports.join(", ")
        );
    }
    for (namespace, name) in secrets {
        out += &secret.replace("SECRET", &format!("{name}, namespace: {namespace}"));
    }
    out
}

/// Returns the value of a key in a mapping on one line.
fn value<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    let at = line.find(&format!("{key}: "))?;
    let rest = line.get(at + key.len() + 2..)?;
    rest.split([',', '}']).next().filter(|value| !value.is_empty())
}

#[test]
fn examples_of_the_guide_are_accepted() {
    let guide = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/gateway-api.md");
    let text = fs::read_to_string(guide).unwrap();
    let blocks: Vec<&str> =
        text.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let [manifests, settings, ..] = blocks.as_slice() else { panic!("{} examples", blocks.len()) };
    let checked = check(&[("a.yaml", manifests)], Leniency::Strict)
        .unwrap_or_else(|problems| panic!("{}", told(&problems)));
    assert_eq!(told(&checked.warnings), "");
    let listener = &checked.config.listeners[0];
    assert_eq!(
        (&*listener.name, listener.address.to_string()),
        ("default/web/http", "127.0.0.1:8080".to_owned())
    );
    assert_eq!(checked.config.clusters.len(), 1);
    check(&[("eddy.yaml", settings), ("a.yaml", manifests)], Leniency::Strict)
        .unwrap_or_else(|problems| panic!("{}", told(&problems)));
}
