//! Tests of Istio's Gateways and VirtualServices: examples of the documentation, refused settings and their positions,
//! broken manifests, and generated manifests whose results are compared with those of the real Envoy, with the routes
//! that Istio would give its gateway.
//!
//! Envoy's responses are kept in `recorded/` and are used where Envoy is not installed. With `EDDY_REQUIRE_PEERS=1` its
//! absence is a failure; `UPDATE=1` records new responses.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panicking")]

#[path = "../kubernetes/certificate.rs"]
mod certificate;
mod draw;
mod eddy;
mod examples;
mod generate;
mod guide;
mod hostile;
mod lowering;
mod messages;
mod order;
mod secure;

use std::collections::BTreeMap;
use std::path::Path;

use eddy::{IstioRouteAnswer, IstioTestRouter};
use eddy_e2e::peer::{self, ENVOY_ANSWERS, EchoUpstream, Envoy, EnvoyQueries};
use eddy_spec::Leniency;
use generate::{IstioCase, IstioCaseGenerator};
use serde_json::json;
use test_peers::PeerAnswers;

/// Returns the number of host groups to compare: `EDDY_ISTIO_GROUPS`, or `usual`.
fn groups(usual: usize) -> usize {
    let groups = std::env::var_os("EDDY_ISTIO_GROUPS");
    groups.and_then(|groups| groups.to_str()?.parse().ok()).unwrap_or(usual)
}

/// Returns eddy's result in the common format; `None` if its parser refuses the request.
fn ours(eddy: &IstioTestRouter, request: &str) -> Option<String> {
    Some(match eddy.ask(80, request).answer {
        IstioRouteAnswer::None => "404".to_owned(),
        IstioRouteAnswer::Refused => return None,
        IstioRouteAnswer::Text { status: 503, body } if body.starts_with("no endpoints") => "503".to_owned(),
        IstioRouteAnswer::Text { status, body } => format!("{status} {body}"),
        IstioRouteAnswer::Redirect { status, location } => format!("{status} {location}"),
        IstioRouteAnswer::Sent { to, target, host, fields, response } => {
            let (cluster, _) = &to[0];
            if cluster == "503" {
                return Some("503".to_owned());
            }
            format!("200 {} {target} {host}{} |{}", istio_name(cluster), in_order(fields), in_order(response))
        }
    })
}

/// Returns Envoy's result in the common format.
fn theirs(reply: &peer::Reply) -> String {
    if let Some(location) = reply.field("location") {
        return format!("{} {location}", reply.status);
    }
    let Some(cluster) = reply.field("x-cluster").filter(|cluster| *cluster != "-") else {
        return format!("{} {}", reply.status, reply.body).trim_end().to_owned();
    };
    if reply.status == 503 {
        return "503".to_owned();
    }
    let mut words = reply.body.split(' ').skip(1);
    let (target, host) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let pair = |field: &str| field.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    let fields = words.filter_map(pair).collect();
    let own = reply.fields.iter().filter(|(name, _)| name.starts_with("x-t-")).cloned().collect();
    format!("{} {cluster} {target} {host}{} |{}", reply.status, in_order(fields), in_order(own))
}

/// Formats headers sorted by name; those of one name keep their order.
fn in_order(mut fields: Vec<(String, String)>) -> String {
    fields.sort_by(|(a, _), (b, _)| a.cmp(b));
    fields.iter().map(|(name, value)| format!(" {name}={value}")).collect()
}

/// Converts the name of a cluster in eddy to Istio's form.
fn istio_name(cluster: &str) -> String {
    let (namespace, rest) = cluster.split_once('/').unwrap();
    let (name, port) = rest.split_once(':').unwrap();
    format!("outbound|{port}||{name}.{namespace}.svc.cluster.local")
}

/// Whether the results differ only in the `:80` that Envoy keeps after the host when it redirects a whole host to
/// `https`; no server speaks TLS at that port.
fn keeps_the_port(ours: &str, theirs: &str) -> bool {
    theirs.starts_with("301 https://") && theirs.replacen(":80/", "/", 1) == ours
}

/// Returns the answers of Envoy to the requests of a case, with the routes that Istio would give it; `recorded` is the
/// file with its recorded answers.
fn envoy_responses(case: &IstioCase, recorded: Option<&Path>) -> PeerAnswers {
    let clusters = case.clusters();
    let routes = lowering::routes(&case.objects, 80, &clusters);
    let names: Vec<&str> = clusters.iter().map(String::as_str).collect();
    let questions = EnvoyQueries {
        config: peer::bootstrap(&routes, &json!({"normalize_path": true}), &names),
        requests: case.requests.iter().map(|request| request.as_bytes().to_vec()).collect(),
    };
    let upstream = EchoUpstream::with_fields(&eddy::UPSTREAM_FIELDS).unwrap();
    peer::envoy_responses(recorded, &[questions], &upstream, theirs).unwrap()
}

/// Sends the requests of a case to both and reports the differences; returns the number of pairs compared.
fn compare(case: &IstioCase, recorded: Option<&Path>, shown: &mut BTreeMap<String, usize>) -> usize {
    let manifests = case.manifests();
    let eddy = IstioTestRouter::read(&manifests, Leniency::Lenient)
        .unwrap_or_else(|problems| panic!("{}", eddy::told(&problems)));
    let ours: Vec<Option<String>> = case.requests.iter().map(|request| ours(&eddy, request)).collect();
    let different = envoy_responses(case, recorded)
        .compare(&ours, |_, ours, theirs| keeps_the_port(ours, theirs))
        .unwrap();
    let refused = ours.iter().filter(|ours| ours.is_none()).count();
    let compared = ours.len() - refused;
    for ours in ours.iter().flatten() {
        *shown.entry(ours.chars().take(3).collect()).or_default() += 1;
    }
    let request = |number: usize| case.requests[number].escape_debug().to_string();
    let told = different.iter().take(8).map(|different| different.describe(ENVOY_ANSWERS, &ours, request));
    let told: String = told.collect();
    assert!(different.is_empty(), "{} of {compared} differ:\n{told}\n{manifests}", different.len());
    assert!(refused * 20 < compared, "eddy refuses {refused} requests");
    compared
}

#[test]
fn generated_manifests_respond_as_envoy_with_the_routes_of_istio() {
    let mut maker = IstioCaseGenerator::new(0x2545_f491_4f6c_dd1d);
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/istio/recorded/generated.txt");
    let mut shown = BTreeMap::new();
    let compared = compare(&maker.case(120), Some(&recorded), &mut shown);
    println!("{compared} pairs; {shown:?}; {:?}", maker.counts);
    assert!(compared > 3000, "{compared} pairs");
    for kind in [
        "exact",
        "prefix",
        "regex",
        "ignoreUriCase",
        "headers",
        "withoutHeaders",
        "queryParams",
        "method",
        "authority",
        "scheme",
        "port",
        "gateways",
        "delegate",
        "exportTo",
        "redirect",
        "direct response",
        "rewrite",
        "regex rewrite",
        "rewrite of the host",
        "shares",
        "header edits",
        "changes of a destination",
        "host with a namespace",
    ] {
        assert!(maker.counts.get(kind).is_some_and(|count| *count >= 10), "{kind} is rare");
    }
    assert!(shown["200"] * 3 > compared, "few requests come through");
}

/// Long version: `EDDY_ISTIO_GROUPS` groups, from other seeds.
#[test]
#[ignore = "takes minutes, and needs the real Envoy"]
fn many_generated_manifests_respond_as_envoy() {
    assert!(Envoy::find().unwrap().is_some(), "this test needs the real Envoy");
    let (mut compared, mut shown) = (0, BTreeMap::new());
    for seed in 1..=groups(2000).div_ceil(200) as u64 {
        let case = IstioCaseGenerator::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)).case(200);
        compared += compare(&case, None, &mut shown);
    }
    println!("{compared} pairs, 0 unexplained differences; {shown:?}");
}
