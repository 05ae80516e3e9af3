//! Cross-check of Ingresses and HTTPRoutes: routes of the real Envoy that follow the text of the API, generated from
//! the same objects without eddy's code, and tested with the same requests.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panicking")]
#![expect(clippy::print_stdout, reason = "a test says what it compared")]

mod gateway;
mod ingress;
mod random;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use eddy_config::{ActionKind, GatewayConfig};
use eddy_dialects::check;
use eddy_e2e::peer::{ENVOY_ANSWERS, EchoUpstream, EnvoyQueries, Reply, bootstrap, envoy_responses};
use eddy_http::{HeadLimits, RequestHead};
use eddy_route::{RouteRequest, RouteScratch, Router};
use eddy_spec::problem::SourceText;
use random::Xorshift64Star;
use serde_json::{Value, json};

/// Objects, and requests for them.
struct ManifestCase {
    manifests: String,
    /// Equivalent virtual hosts of Envoy; no two cases share one.
    hosts: Vec<Value>,
    requests: Vec<String>,
}

/// Resolves a request in eddy to a Service or a status.
struct ManifestRouter {
    config: GatewayConfig,
    router: Router,
}

impl ManifestRouter {
    fn of(manifests: &str) -> Self {
        let checked = check(&[SourceText::new("manifests.yaml", manifests)]);
        let config = checked.unwrap_or_else(|problems| panic!("{problems:#?}\n{manifests}")).config;
        let [listener] = config.listeners.as_slice() else { panic!("{} listeners", config.listeners.len()) };
        let router = config.router(listener).unwrap_or_else(|errors| panic!("{errors:?}\n{manifests}"));
        let router = router.expect("no routes");
        Self { config, router }
    }

    fn ask(&self, text: &str) -> String {
        let bytes = text.as_bytes();
        let mut head = RequestHead::new();
        head.parse(bytes, &HeadLimits::default()).unwrap_or_else(|fault| panic!("{fault:?}: {text}"));
        let request = RouteRequest {
            host: head.host.of(bytes),
            authority: head.authority.of(bytes),
            path: head.path.of(bytes),
            query: head.query.map_or(b"".as_slice(), |query| query.of(bytes)),
            target: head.target.of(bytes),
            scheme: b"http",
            method: head.method_name(bytes),
            fields: head.fields(bytes),
            random: 0,
        };
        let mut scratch = RouteScratch::new();
        let found = self.router.lookup(&request, &mut scratch);
        assert!(self.router.agrees(found, &request, &mut scratch), "the index and the scan disagree: {text}");
        let Some(found) = found else { return "404".to_owned() };
        match &self.config.action_of(&self.config.listeners[0], found.rule).kind {
            ActionKind::Cluster(cluster) => {
                let name = &self.config.clusters[*cluster].name;
                name.trim_start_matches("default/").trim_end_matches(":80").to_owned()
            }
            ActionKind::Respond(respond) => respond.status.to_string(),
            other @ (ActionKind::Weighted(_)
            | ActionKind::Split(_)
            | ActionKind::Redirect(_)
            | ActionKind::Sites(_)) => panic!("{other:?}"),
        }
    }
}

/// Returns the Service that Envoy's response is from, or the status.
fn shown(reply: &Reply) -> String {
    match reply.body.split_once("x-t-service=") {
        Some((_, service)) if reply.status == 200 => service.to_owned(),
        Some(_) | None => reply.status.to_string(),
    }
}

/// Compares the responses to all requests of some cases; `name` is the file of Envoy's recorded responses.
fn compare(name: &str, cases: &[ManifestCase]) {
    let hosts: Vec<&Value> = cases.iter().flat_map(|case| &case.hosts).collect();
    let routes = json!({"name": "site", "virtual_hosts": hosts, "ignore_port_in_host_matching": true});
    let all: Vec<&String> = cases.iter().flat_map(|case| &case.requests).collect();
    let questions = EnvoyQueries {
        config: bootstrap(&routes, &json!({}), &["echo"]),
        requests: all.iter().map(|request| request.as_bytes().to_vec()).collect(),
    };
    let recorded =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/manifests_on_envoy/recorded").join(name);
    let theirs =
        envoy_responses(Some(&recorded), &[questions], &EchoUpstream::start().unwrap(), shown).unwrap();
    let (mut ours, mut manifests, mut kinds) = (Vec::new(), Vec::new(), BTreeMap::new());
    for case in cases {
        let eddy = ManifestRouter::of(&case.manifests);
        for request in &case.requests {
            let answer = eddy.ask(request);
            let kind = if answer == "404" { "404" } else { "a Service" };
            *kinds.entry(kind).or_insert(0_usize) += 1;
            ours.push(Some(answer));
            manifests.push(&case.manifests);
        }
    }
    let different = theirs.compare(&ours, |_, _, _| false).unwrap();
    println!("{name}: {} pairs; {kinds:?}", all.len());
    let shown = different.iter().take(3).map(|different| {
        let told = different.describe(ENVOY_ANSWERS, &ours, |number| all[number].clone());
        let own: BTreeSet<&str> =
            different.numbers.iter().map(|number| manifests[*number].as_str()).collect();
        format!("{told}{}\n", own.into_iter().collect::<String>())
    });
    let shown: String = shown.collect();
    assert!(different.is_empty(), "{} of {} differ:\n{shown}", different.len(), all.len());
    assert!(all.len() >= 3000, "{} pairs", all.len());
    assert!(kinds.values().all(|count| count * 10 > all.len()), "{kinds:?}");
}

/// Returns an Envoy route to a Service.
fn route(matched: Value, service: &str) -> Value {
    // The upstream echoes this field. Direct responses are not used, because Envoy sends only a few of them per
    // connection.
    let field = json!({"header": {"key": "x-t-service", "value": service}});
    json!({"match": matched, "route": {"cluster": "echo"}, "request_headers_to_add": [field]})
}

/// Returns Envoy's match for a prefix of whole path segments.
fn prefix(path: &str) -> Value {
    match path.trim_end_matches('/') {
        "" => json!({"prefix": "/"}),
        path => json!({"path_separated_prefix": path}),
    }
}

/// Returns the manifests of Services with these names.
fn services<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let service = |name| {
        format!(
            "---\n{{apiVersion: v1, kind: Service, metadata: {{name: {name}}}, spec: {{ports: [{{port: 80}}]}}}}\n"
        )
    };
    names.into_iter().map(service).collect()
}

#[test]
fn ingresses_respond_as_the_api_documentation_specifies() {
    let mut random = Xorshift64Star::new(0x51ed_270b);
    let cases: Vec<ManifestCase> = (0..60).map(|number| ingress::case(number, &mut random)).collect();
    compare("ingress.txt", &cases);
}

#[test]
fn http_routes_respond_as_the_api_documentation_specifies() {
    let mut random = Xorshift64Star::new(0x9e37_79b9);
    let cases: Vec<ManifestCase> = (0..60).map(|number| gateway::case(number, &mut random)).collect();
    compare("gateway.txt", &cases);
}
