//! Conformance cases of the Gateway API against the running gateway.
//!
//! `data/gateway_api` holds the manifests and requests of the API's own conformance suite, by test name; each Service
//! is an origin that reports its name. Left out are the tests that need TLS or HTTP/2 (`*-tls-*`, `backendtlspolicy-*`,
//! `httproute-https-listener`, `httproute-backend-protocol-h2c`, and of `httproute-redirect-port-and-scheme` the third
//! part), a cluster that changes (`*-observed-generation-bump`, `gateway-modify-listeners`, `gateway-static-addresses`,
//! `httproute-service-types`, the second case of `httproute-reference-grant`), chance
//! (`httproute-request-percentage-mirror`), and WebSocket (`httproute-backend-protocol-websocket`). Tests of status
//! only are in `eddy-config`. The gRPC tests send paths and headers over HTTP/1.1, without the gRPC content type, so
//! that "unimplemented" is a 404.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::origin::{OriginScript, ScriptStep, TapEvent, TapOrigin, response};
use eddy_e2e::place;
use eddy_e2e::wait::next_look;
use eddy_e2e::wire::{WireClient, WireRequest, WireResponse, within};
use serde_json::Value;

const NAMESPACES: [(&str, &[&str]); 3] = [
    (
        "gateway-conformance-infra",
        &[
            "infra-backend-v1",
            "infra-backend-v2",
            "infra-backend-v3",
            "grpc-infra-backend-v1",
            "grpc-infra-backend-v2",
            "grpc-infra-backend-v3",
        ],
    ),
    ("gateway-conformance-app-backend", &["app-backend-v1", "app-backend-v2"]),
    ("gateway-conformance-web-backend", &["web-backend"]),
];

/// Origins that represent the Services, by namespace and name.
struct Services(BTreeMap<String, TapOrigin>);

impl Services {
    async fn start() -> Result<Self> {
        let mut services = BTreeMap::new();
        for (namespace, names) in NAMESPACES {
            for name in names {
                let name = format!("{namespace}/{name}");
                let own = name.clone();
                services.insert(name, TapOrigin::with(move |asked| answer(&own, asked.request)).await?);
            }
        }
        Ok(Self(services))
    }

    /// Returns Namespaces and Services as manifests; those of the suite have a label that Gateways select by.
    fn manifests() -> String {
        let mut out = String::new();
        for (namespace, names) in NAMESPACES {
            let kind = if namespace.ends_with("-infra") { "infra" } else { "backend" };
            out += &format!(
                "{{apiVersion: v1, kind: Namespace, metadata: {{name: {namespace}, labels: {{gateway-conformance: {kind}}}}}}}\n---\n"
            );
            for name in names {
                out += &format!(
                    "{{apiVersion: v1, kind: Service, metadata: {{name: {name}, namespace: {namespace}}}, spec: {{ports: [{{name: a, port: 8080}}, {{name: b, port: 8081}}]}}}}\n---\n"
                );
            }
        }
        out
    }

    fn endpoints(&self) -> String {
        let entries: Vec<String> =
            self.0.iter().map(|(name, origin)| format!("{name}: ['{}']", origin.address())).collect();
        format!("{{{}}}", entries.join(", "))
    }

    /// Returns clusters for the Services that GRPCRoutes name, because these origins use HTTP/1.1.
    fn clusters(&self) -> String {
        let calls = self.0.iter().filter(|(name, _)| name.contains("/grpc-"));
        let entries: Vec<String> = calls
            .map(|(name, origin)| format!("'{name}:8080': {{endpoints: ['{}']}}", origin.address()))
            .collect();
        format!("{{{}}}", entries.join(", "))
    }

    fn name_at(&self, name: &str) -> Result<&TapOrigin> {
        self.0.get(name).with_context(|| format!("no Service {name}"))
    }
}

/// Returns a response with the origin's name and the received request: the first line of the head, and the fields.
fn answer(name: &str, request: &WireRequest) -> OriginScript {
    let mut body =
        format!("{name}\n{} {}\n", String::from_utf8_lossy(&request.method), request.target_text());
    for (field, value) in &request.fields.0 {
        body += &format!("{}: {}\n", String::from_utf8_lossy(field), String::from_utf8_lossy(value));
    }
    let fields: String = request
        .fields
        .all("x-tap-set")
        .map(|field| format!("{}\r\n", String::from_utf8_lossy(field)))
        .collect();
    let bytes = response(200, &fields, if request.method == b"HEAD" { String::new() } else { body });
    let delay = request.target_text().split("delay=").nth(1).and_then(|text| {
        text.trim_end_matches("ms").parse().ok().or_else(|| {
            let seconds: u64 = text.trim_end_matches('s').parse().ok()?;
            Some(seconds * 1000)
        })
    });
    let pause = delay.map(|delay| ScriptStep::Pause(Duration::from_millis(delay)));
    OriginScript::steps(pause.into_iter().chain([ScriptStep::Send(bytes)]))
}

fn data() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data/gateway_api")
}

/// Runs the tests whose names begin with `prefix`. Returns the number of cases.
async fn run(prefix: &str) -> Result<usize> {
    let services = Services::start().await?;
    let all: Value = serde_json::from_str(&std::fs::read_to_string(data().join("cases.json"))?)?;
    let mut count = 0;
    for (name, test) in all.as_object().context("an object")? {
        if name.starts_with(prefix) {
            count += run_test(name, test, &services).await.with_context(|| name.clone())?;
        }
    }
    Ok(count)
}

async fn run_test(name: &str, test: &Value, services: &Services) -> Result<usize> {
    let (gateway, addresses) = start(name, test, services).await?;
    let cases = test["cases"].as_array().context("cases")?;
    for case in cases {
        check(case, &addresses, services).await.with_context(|| format!("{case}"))?;
    }
    gateway.stop().await?;
    Ok(cases.len())
}

/// Starts a gateway with the test's manifests. Also returns the address of each port of each Gateway.
async fn start(
    name: &str,
    test: &Value,
    services: &Services,
) -> Result<(TestGateway, BTreeMap<(String, u64), SocketAddr>)> {
    let mut addresses = BTreeMap::new();
    let mut gateways = Vec::new();
    for (gateway, ports) in test["listeners"].as_object().context("listeners")? {
        let mut listen = Vec::new();
        for port in ports.as_array().into_iter().flatten().filter_map(Value::as_u64) {
            let address = place::any_port();
            listen.push(format!("{port}: '{address}'"));
            addresses.insert((gateway.clone(), port), address);
        }
        gateways.push(format!("{gateway}: {{listen: {{{}}}}}", listen.join(", ")));
    }
    let config = format!(
        "admin: {{address: ADMIN}}\nclusters: {}\nkubernetes:\n  endpoints: {}\n  gateways: {{{}}}\n",
        services.clusters(),
        services.endpoints(),
        gateways.join(", ")
    );
    let folder = place::TempDir::new("manifests")?;
    std::fs::write(folder.join("services.yaml"), Services::manifests())?;
    std::fs::copy(data().join(format!("{name}.yaml")), folder.join("test.yaml"))?;
    let arguments = vec![folder.path().into()];
    let gateway = TestGateway::launch(&config, Launch { arguments, ..Launch::default() }).await?;
    for address in addresses.values_mut() {
        *address = gateway.bound(*address).await?;
    }
    Ok((gateway, addresses))
}

async fn check(
    case: &Value,
    addresses: &BTreeMap<(String, u64), SocketAddr>,
    services: &Services,
) -> Result<()> {
    let gateway = case["gateway"].as_str().context("gateway")?;
    let host = case["host"].as_str();
    let port = host.and_then(|host| host.split_once(':')?.1.parse().ok());
    let mut places = addresses
        .iter()
        .filter(|((name, at), _)| name == gateway && port.is_none_or(|port: u64| port == *at));
    let ((_, _), address) = places
        .next()
        .or_else(|| addresses.iter().find(|((name, _), _)| name == gateway))
        .context("no such listener")?;
    let host = host.map_or_else(|| address.to_string(), ToOwned::to_owned);
    let method = case["method"].as_str().context("method")?;
    let target = case["path"].as_str().context("path")?;
    let mut head = format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\n");
    for (name, value) in pairs(&case["fields"]) {
        head += &format!("{name}: {value}\r\n");
    }
    for (name, value) in pairs(&case["backend_sets"]) {
        head += &format!("X-Tap-Set: {name}: {value}\r\n");
    }
    head += if method == "POST" { "Content-Length: 0\r\n\r\n" } else { "\r\n" };
    let mut client = WireClient::connect(*address).await?;
    client.send(&head).await?;
    let response = within("the answer", client.answer(method)).await??.response;
    check_answer(case, &response)?;
    if let Some(location) = case["location"].as_object() {
        check_location(location, &response, &host)?;
    }
    let backend = case["backend"].as_str();
    let text = response.text();
    let mut lines = text.lines();
    if let Some(backend) = backend.filter(|_| method != "HEAD") {
        ensure!(lines.next() == Some(backend), "it went to {text}");
        check_sent(&case["sent"], &text)?;
    }
    for mirror in case["mirrored"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let origin = services.name_at(mirror)?;
        let path = target.split('?').next().unwrap_or(target).to_owned();
        let is_copy = |event: &TapEvent| matches!(event, TapEvent::Request { request, .. } if request.target_text().starts_with(&path));
        within("the copy", async {
            while !origin.log().look(|events| events.iter().any(is_copy)) {
                next_look().await;
            }
        })
        .await?;
    }
    Ok(())
}

fn check_answer(case: &Value, response: &WireResponse) -> Result<()> {
    let status = case["status"].as_u64().context("status")?;
    ensure!(u64::from(response.status) == status, "answered {}: {}", response.status, response.text());
    for (name, value) in pairs(&case["answer"]["fields"]) {
        let all: Vec<String> =
            response.fields.all(&name).map(|value| String::from_utf8_lossy(value).into_owned()).collect();
        ensure!(all.join(",") == value, "{name} is {all:?}");
    }
    for name in case["answer"]["absent"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        ensure!(response.fields.count(name) == 0, "{name} is there");
    }
    Ok(())
}

/// Checks the path, host and fields that the Service received.
fn check_sent(sent: &Value, text: &str) -> Result<()> {
    let mut lines = text.lines().skip(1);
    let target = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
    let fields: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": ").or_else(|| Some((line.strip_suffix(':')?, ""))))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let all = |name: &str| -> Vec<&str> {
        let name = name.to_ascii_lowercase();
        fields.iter().filter(|(field, _)| *field == name).map(|(_, value)| value.as_str()).collect()
    };
    if let Some(path) = sent["path"].as_str() {
        ensure!(target == path, "the path is {target}");
    }
    if let Some(host) = sent["host"].as_str() {
        ensure!(all("host") == [host], "the host is {:?}", all("host"));
    }
    for (name, value) in pairs(&sent["fields"]) {
        ensure!(all(&name).join(",") == value, "{name} is {:?}", all(&name));
    }
    for name in sent["absent"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        ensure!(all(name).is_empty(), "{name} is {:?}", all(name));
    }
    Ok(())
}

fn check_location(
    expected: &serde_json::Map<String, Value>,
    response: &WireResponse,
    host: &str,
) -> Result<()> {
    let location = response.fields.text("location");
    let Some((scheme, rest)) = location.split_once("://") else { bail!("the location is {location}") };
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let (name, port) = authority.split_once(':').unwrap_or((authority, ""));
    let text = |key: &str| expected.get(key).and_then(Value::as_str);
    let own = host.split(':').next().unwrap_or(host);
    ensure!(text("scheme").is_none_or(|wanted| wanted == scheme), "the location is {location}");
    ensure!(name == text("host").unwrap_or(own), "the location is {location}");
    ensure!(text("path").is_none_or(|wanted| wanted == path), "the location is {location}");
    // The default port of the scheme may be written, but eddy never does.
    let wanted = text("port").filter(|port| !matches!((scheme, *port), ("http", "80") | ("https", "443")));
    ensure!(port == wanted.unwrap_or_default(), "the location is {location}");
    Ok(())
}

fn pairs(value: &Value) -> Vec<(String, String)> {
    let pairs = value.as_object().into_iter().flatten();
    pairs.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned())).collect()
}

#[tokio::test]
async fn conformance_of_matches_and_hostnames() -> Result<()> {
    let mut count = 0;
    for prefix in [
        "gateway-",
        "grpcroute-",
        "httproute-h",
        "httproute-l",
        "httproute-m",
        "httproute-n",
        "httproute-path",
        "httproute-q",
    ] {
        count += run(prefix).await?;
    }
    ensure!(count > 100, "only {count} cases");
    Ok(())
}

#[tokio::test]
async fn conformance_of_filters() -> Result<()> {
    let mut count = 0;
    for prefix in ["httproute-re", "httproute-cors", "httproute-t"] {
        count += run(prefix).await?;
    }
    ensure!(count > 50, "only {count} cases");
    Ok(())
}

#[tokio::test]
async fn conformance_of_references() -> Result<()> {
    let mut count = 0;
    for prefix in
        ["httproute-cross", "httproute-e", "httproute-i", "httproute-pa", "httproute-s", "httproute-w"]
    {
        count += run(prefix).await?;
    }
    ensure!(count > 10, "only {count} cases");
    Ok(())
}
