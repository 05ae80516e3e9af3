//! Examples of Istio's documentation in our own words, with requests and the expected results, and the page that lists
//! them.

use std::fmt::Write as _;
use std::path::Path;

use eddy_builtin::BuiltinConfig;
use eddy_config::{Action, ActionKind};

use crate::eddy::{AnswerWithAction, IstioRouteAnswer, IstioTestRouter};

/// Examples of the documentation that are left out, with the reason.
const LEFT_OUT: &[(&str, &str)] = &[
    ("Gateway: `tls` (simple, mutual, passthrough), certificates by `credentialName`", TLS),
    ("Gateway: a server of protocol `TLS`, `TCP` or `MONGO`", "eddy serves only HTTP from manifests"),
    ("VirtualService: `tls` with `sniHosts`", "eddy does not support TCP and TLS routes in manifests"),
    (
        "VirtualService: `tcp`, and traffic shifting of TCP",
        "eddy does not support TCP and TLS routes in manifests",
    ),
    (
        "VirtualService: `sourceLabels`, `sourceNamespace`",
        "they match the workload of a sidecar; refused by name",
    ),
    ("VirtualService: `@request.auth.claims`", "matching on token claims is not supported; refused by name"),
    (
        "VirtualService: `gateways: [mesh]` and examples without a Gateway",
        "only for sidecars; the examples above have a Gateway added",
    ),
    ("DestinationRule: `consistentHash`", "tested in `secure.rs`"),
    (
        "DestinationRule: `connectionPool`, `outlierDetection`",
        "ignored with a warning; `clusters` of eddy.yaml sets eddy's own limits",
    ),
    ("DestinationRule: `tls`", "tested in `secure.rs`"),
    ("DestinationRule: `portLevelSettings`", "eddy applies one policy to all ports; refused by name"),
    (
        "ServiceEntry: `resolution: NONE`, `addresses`, `workloadSelector`",
        "a gateway has no original destination, and eddy does not discover workloads",
    ),
    (
        "Sidecar, EnvoyFilter, WorkloadEntry, WorkloadGroup, ProxyConfig",
        "they configure other proxies; ignored with a warning",
    ),
    (
        "Telemetry, AuthorizationPolicy, RequestAuthentication, PeerAuthentication, WasmPlugin",
        "not part of the traffic API; ignored with a warning",
    ),
    ("fault: `grpcStatus`", "eddy aborts requests only with an HTTP status; refused by name"),
];

const TLS: &str = "tested in `secure.rs`";

/// An example: its section of the documentation, its subject, its manifests, and requests with the expected results.
pub(crate) struct IstioExample {
    pub(crate) section: &'static str,
    pub(crate) shows: &'static str,
    pub(crate) manifests: String,
    pub(crate) asked: Vec<(&'static str, &'static str)>,
}

/// Returns all examples, in order.
pub(crate) fn all() -> Vec<IstioExample> {
    include_str!("examples.txt").split("\n=== ").skip(1).map(example).collect()
}

fn example(text: &'static str) -> IstioExample {
    let (title, rest) = text.split_once('\n').unwrap();
    let (section, shows) = title.split_once(" | ").unwrap();
    let (manifests, asked) = rest.split_once("\n>>>\n").unwrap();
    let mut manifests: String = manifests.lines().map(written_out).collect();
    if !manifests.contains("kind: Gateway") {
        manifests.push_str(GATEWAY);
    }
    manifests.push_str(&services());
    let lines = asked.lines().map(str::trim).filter(|line| !line.is_empty());
    IstioExample {
        section,
        shows,
        manifests,
        asked: lines.map(|line| line.split_once(" => ").unwrap()).collect(),
    }
}

/// Expands an abbreviated line. `$vs NAME SPEC` is a VirtualService bound to the Gateway `gateway`; `$subsets HOST` is
/// a DestinationRule with the subsets `v1`, `v2` and `v3`, each with the Pods of that version.
fn written_out(line: &str) -> String {
    let object = |kind: &str, name: &str, spec: &str| {
        format!(
            "{{apiVersion: networking.istio.io/v1, kind: {kind}, metadata: {{name: {name}}}, spec: {spec}}}\n"
        )
    };
    if let Some((name, spec)) = line.strip_prefix("$vs ").and_then(|rest| rest.split_once(" {")) {
        return object("VirtualService", name, &format!("{{gateways: [gateway], {spec}"));
    }
    if let Some(host) = line.strip_prefix("$subsets ") {
        let subsets: String = (1..=3)
            .map(|version| format!("{{name: v{version}, labels: {{version: v{version}}}}}, "))
            .collect();
        return format!(
            "---\n{}",
            object("DestinationRule", "subsets", &format!("{{host: {host}, subsets: [{subsets}]}}"))
        );
    }
    format!("{line}\n")
}

/// Gateway of examples that have none of their own.
const GATEWAY: &str = "
---
{apiVersion: networking.istio.io/v1, kind: Gateway, metadata: {name: gateway}, spec: {servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ['*']}]}}
";

/// Returns the Services of all examples, each with Pods of three versions.
fn services() -> String {
    let mut out = String::new();
    for (namespace, names) in [
        ("default", &["reviews", "ratings", "productpage", "details", "httpbin", "helloworld", "mirror"][..]),
        ("prod", &["reviews", "ratings"]),
        ("bookinfo", &["productpage", "reviews"]),
    ] {
        for name in names {
            let _ = write!(
                out,
                "---\n{{apiVersion: v1, kind: Service, metadata: {{name: {name}, namespace: {namespace}}}, spec: {{ports: [{{name: http, port: 80, targetPort: 8080}}]}}}}\n\
                 ---\n{{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {{name: {name}-1, namespace: {namespace}, labels: {{kubernetes.io/service-name: {name}}}}}, \
                 addressType: IPv4, ports: [{{name: http, port: 8080}}], endpoints: ["
            );
            for version in 1..=3 {
                let _ = write!(
                    out,
                    "{{addresses: [10.0.0.{version}], targetRef: {{kind: Pod, name: {name}-v{version}}}}}, "
                );
            }
            out.push_str("]}\n");
            for version in 1..=3 {
                let _ = writeln!(
                    out,
                    "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: {name}-v{version}, namespace: {namespace}, labels: {{app: {name}, version: v{version}}}}}}}"
                );
            }
        }
    }
    out
}

/// Parses `PORT METHOD host target[; Field: value]*` into a port and a request; the port is optional.
fn request(line: &str) -> (u16, String) {
    let mut parts = line.split("; ");
    let mut words: Vec<&str> = parts.next().unwrap().split(' ').collect();
    let port = words[0].parse().ok();
    if port.is_some() {
        words.remove(0);
    }
    let [method, host, target] = words[..] else { panic!("{line}") };
    let fields: String = parts.map(|field| format!("{field}\r\n")).collect();
    (port.unwrap_or(80), format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n"))
}

/// Formats the result, including what the route says about how the request is sent.
fn said(eddy: &IstioTestRouter, told: &AnswerWithAction<'_>) -> String {
    let mut out = match &told.answer {
        IstioRouteAnswer::None => "404".to_owned(),
        IstioRouteAnswer::Refused => "400".to_owned(),
        IstioRouteAnswer::Text { status, body } => format!("{status} {body}").trim_end().to_owned(),
        IstioRouteAnswer::Redirect { status, location } => format!("{status} {location}"),
        IstioRouteAnswer::Sent { to, target, host, fields, response } => {
            let to: Vec<String> = to
                .iter()
                .map(|(name, weight)| match to.len() {
                    1 => short(name),
                    _ => format!("{} {weight}", short(name)),
                })
                .collect();
            let mut out = format!("{} {target} {host}", to.join(" | "));
            for (name, value) in fields {
                let _ = write!(out, " {name}={value}");
            }
            let own = response
                .iter()
                .filter(|field| !crate::eddy::UPSTREAM_FIELDS.contains(&(&*field.0, &*field.1)));
            for (name, value) in own {
                let _ = write!(out, " response:{name}={value}");
            }
            out
        }
    };
    if let Some(action) = told.action {
        out.push_str(&policies(eddy, action));
    }
    out
}

/// Returns the name alone for a Service with the namespace `default` and port 80.
fn short(cluster: &str) -> String {
    cluster.trim_start_matches("default/").replacen(":80", "", 1)
}

fn policies(eddy: &IstioTestRouter, action: &Action) -> String {
    let mut out = String::new();
    if let Some(timeout) = action.timeout {
        let _ = write!(out, ", timeout {timeout:?}");
    }
    if action.retry.attempts != 2 && matches!(action.kind, ActionKind::Cluster(_) | ActionKind::Split(_)) {
        let _ = write!(out, ", {} retries", action.retry.attempts);
    }
    if !action.retry.statuses.is_empty() {
        let _ = write!(out, " on {} statuses", action.retry.statuses.len());
    }
    if let Some(timeout) = action.attempt_timeout {
        let _ = write!(out, ", each {timeout:?}");
    }
    for mirror in &action.mirrors {
        let _ = write!(
            out,
            ", copied to {} {}%",
            short(&eddy.config.clusters[mirror.cluster].name),
            f64::from(mirror.numerator) * 100.0 / f64::from(mirror.denominator)
        );
    }
    for builtin in action.filters.iter().filter_map(|filter| filter.builtin.as_deref()) {
        if let BuiltinConfig::Cors(cors) = builtin {
            let (origins, credentials, age) = (&cors.origins, cors.has_credentials, cors.max_age);
            let _ = write!(out, ", cors for {origins:?} credentials {credentials} age {age:?}");
        } else if let BuiltinConfig::Fault(fault) = builtin {
            let percent = |share: eddy_builtin::RequestFraction| f64::from(share.0) / 10_000.0;
            if let Some(delay) = fault.delay {
                let _ = write!(out, ", delay {:?} of {}%", delay.time, percent(delay.share));
            }
            if let Some(abort) = fault.abort {
                let _ = write!(out, ", abort {} of {}%", abort.status, percent(abort.share));
            }
        }
    }
    out
}

#[test]
fn documented_examples_respond_as_documented() {
    let examples = all();
    assert!(examples.len() >= 40, "{} examples", examples.len());
    let mut wrong = Vec::new();
    for IstioExample { section, shows, manifests, asked } in examples {
        let eddy = IstioTestRouter::of(&manifests);
        assert!(!asked.is_empty(), "{section} | {shows}");
        for (line, expected) in asked {
            let (port, text) = request(line);
            let answer = said(&eddy, &eddy.ask(port, &text));
            if answer != expected {
                wrong.push(format!(
                    "{section} | {shows}\n  {line}\n  expected {expected}\n  answer   {answer}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_generated_page_of_examples_is_up_to_date() {
    let examples = all();
    let mut page = format!(
        "# Examples of Istio's documentation\n\n\
         This page is generated by a test. {} examples, modelled on those of <https://istio.io/latest/docs/>, have\n\
         requests and the documented responses (`crates/eddy-dialects/tests/istio/examples.txt`), and eddy gives these responses.\n\
         Another test compares eddy with Istio's own proxy on generated manifests, request by request.\n\n\
         | section | subject | requests |\n|---|---|---|\n",
        examples.len()
    );
    for IstioExample { section, shows, asked, .. } in &examples {
        let _ = writeln!(page, "| {section} | {shows} | {} |", asked.len());
    }
    page.push_str("\n## Left out\n\n| example | why |\n|---|---|\n");
    for (example, why) in LEFT_OUT {
        let _ = writeln!(page, "| {example} | {why} |");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/istio-examples.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(page, expected, "docs/reference/istio-examples.md is not as it was; UPDATE=1 accepts it");
}
