//! Tests of Ingresses, whose results are compared with independent models: the configuration that ingress-nginx would
//! write, on the real NGINX, and routes that follow the text of the API, on the real Envoy.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panicking")]

mod apart;
#[path = "../kubernetes/certificate.rs"]
mod certificate;
mod controller;
mod documented;
mod eddy;
mod generate;
mod objects;
mod page;
#[path = "../nginx/peer.rs"]
mod peer;
mod plain;
#[path = "../nginx/site.rs"]
mod site;

use documented::{IngressExample, ingress, of_ingress_nginx};
use eddy::IngressTestRouter;
use eddy_config::ActionKind;
use eddy_dialects::{check, check_with};
use eddy_spec::Leniency;
use eddy_spec::problem::{Severity, SourceText};
use generate::IngressCaseGenerator;
use objects::Ingress;
use peer::NginxProcess;
use test_peers::{NGINX, all_present, present_or_partial};

/// Returns the number of host groups to compare: `EDDY_INGRESS_GROUPS`, or `usual`.
fn groups(usual: usize) -> usize {
    let groups = std::env::var_os("EDDY_INGRESS_GROUPS");
    groups.and_then(|groups| groups.to_str()?.parse().ok()).unwrap_or(usual)
}

/// Returns the Services that the Ingresses name.
fn services(ingresses: &[Ingress]) -> Vec<String> {
    let paths = ingresses.iter().flat_map(|ingress| &ingress.rules).flat_map(|rule| &rule.paths);
    let mut services: Vec<String> = paths.map(|path| path.service.clone()).collect();
    services.extend(ingresses.iter().filter_map(|ingress| ingress.default.clone()));
    services.sort();
    services.dedup();
    services
}

/// Parses `host target`, or `host target;Field: value,Field: value`, into a request.
fn request(line: &str) -> String {
    let (line, fields) = line.split_once(';').unwrap_or((line, ""));
    let (host, target) = line.split_once(' ').unwrap();
    let fields: String = fields.split_terminator(',').map(|field| format!("{field}\r\n")).collect();
    format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n")
}

#[test]
fn documented_examples_of_ingress_nginx_respond_as_documented() {
    let examples = of_ingress_nginx();
    assert!(examples.len() >= 40, "{} examples", examples.len());
    for IngressExample { source, ingresses, answers } in examples {
        let eddy = IngressTestRouter::of_manifests(&objects::manifests(&ingresses, &services(&ingresses)));
        let nginx = present_or_partial(&[NGINX])
            .unwrap()
            .then(|| NginxProcess::start(&controller::nginx_conf(&ingresses)));
        let mut client = nginx.as_ref().map(NginxProcess::connect);
        for (line, expected) in answers {
            let request = request(line);
            assert_eq!(eddy.ask(&request).as_deref(), Some(*expected), "{source}: {line}");
            if let Some(client) = &mut client {
                assert_eq!(client.ask(&request), *expected, "{source}: {line}, in NGINX");
            }
        }
    }
}

#[test]
fn a_weighted_canary_is_selected_at_random() {
    let weight = [("canary", "true"), ("canary-weight", "3"), ("canary-weight-total", "1000")];
    let ingresses =
        [ingress("a", "a.test", &[], &["/ P prod"]), ingress("b", "a.test", &weight, &["/ P next"])];
    let text = objects::manifests(&ingresses, &services(&ingresses));
    let config = check(&[SourceText::new("manifests.yaml", &text)]).unwrap().config;
    let shares = config.sites[0]
        .actions
        .iter()
        .find_map(|action| if let ActionKind::Weighted(shares) = &action.kind { Some(shares) } else { None });
    let shares: Vec<(&str, u32)> =
        shares.unwrap().iter().map(|share| (&*config.clusters[share.cluster].name, share.weight)).collect();
    assert_eq!(shares, [("default-prod-80", 997), ("default-next-80", 3)]);
}

/// Annotations that protect: leniency does not ignore them.
const GUARDS: [&str; 9] = [
    "auth-tls-secret",
    "auth-type",
    "auth-url",
    "auth-urls",
    "configuration-snippet",
    "denylist-source-range",
    "enable-modsecurity",
    "server-snippet",
    "whitelist-source-range",
];

#[test]
fn unsupported_features_are_refused_with_a_reason() {
    for (annotation, value, reason) in [
        ("configuration-snippet", "more_set_headers \"a: b\";", "snippets can contain any directive"),
        ("server-snippet", "return 1;", "snippets can contain any directive"),
        ("auth-url", "http://a", "external authentication"),
        ("auth-type", "basic", "would not be authenticated"),
        ("whitelist-source-range", "10.0.0.0/8", "would be admitted"),
        ("denylist-source-range", "10.0.0.0/8", "would be admitted"),
        ("auth-urls", "http://a", "no annotation `auth-urls`"),
        ("backend-protocol", "GRPC", "does not support `GRPC`"),
        ("affinity", "cookie", "session affinity"),
        ("ssl-passthrough", "true", "terminates the TLS of Ingresses"),
        ("auth-tls-secret", "default/ca", "does not request client certificates"),
        ("proxy-ssl-secret", "default/own", "to endpoints of Ingresses without TLS"),
        ("custom-http-errors", "404", "needs `default-backend`"),
        ("upstream-hash-by-subset", "true", "not to a subset of endpoints"),
        ("enable-modsecurity", "true", "ModSecurity"),
        ("limit-rps", "5", "would not be limited"),
        ("rewrite-targets", "/", "no annotation `rewrite-targets`"),
    ] {
        let ingresses = [ingress("a", "a.test", &[(annotation, value)], &["/ P web"])];
        let source =
            [SourceText::new("manifests.yaml", &objects::manifests(&ingresses, &services(&ingresses)))];
        let problems = check(&source).unwrap_err();
        let found = problems.iter().find(|problem| problem.message.contains(reason));
        let found = found.unwrap_or_else(|| panic!("{annotation}: {problems:#?}"));
        assert_eq!((found.severity, found.line), (Severity::Error, 7), "{annotation}");
        let lenient = check_with(&source, Leniency::Lenient);
        if GUARDS.contains(&annotation) {
            let problems = lenient.unwrap_err();
            assert!(problems.iter().any(|problem| problem.message.contains(reason)), "{annotation}");
        } else {
            let warnings = lenient.unwrap().warnings;
            assert!(warnings.iter().any(|problem| problem.message.contains(reason)), "{annotation}");
        }
    }
    // A setting that is switched off requires nothing.
    let ingresses = [ingress("a", "a.test", &[("ssl-passthrough", "false")], &["/ P web"])];
    IngressTestRouter::of_manifests(&objects::manifests(&ingresses, &services(&ingresses)));
}

#[test]
fn mutated_manifests_are_accepted_or_refused() {
    let mut maker = IngressCaseGenerator::new(77);
    let mut taken = 0;
    for round in 0..100 {
        let case = maker.case(1);
        let text = objects::manifests(&case.ingresses, &case.services);
        for _ in 0..10 {
            let mutated = maker.mutate(&text);
            let source = [SourceText::new("manifests.yaml", &mutated)];
            match check(&source) {
                Ok(_) => taken += 1,
                Err(problems) => {
                    let is_in_response = problems.iter().any(|problem| problem.severity == Severity::Error);
                    assert!(is_in_response, "round {round}:\n{mutated}");
                }
            }
        }
    }
    println!("{taken} of 1000 mutated manifests are taken");
    assert!((20..=900).contains(&taken), "{taken} of 1000");
}

#[test]
fn ingresses_respond_as_in_ingress_nginx() {
    if !all_present(&[NGINX]).unwrap() {
        return;
    }
    let mut maker = IngressCaseGenerator::new(0x2545_f491_4f6c_dd1d);
    let (mut different, mut compared, mut answers) = (Vec::new(), 0, std::collections::BTreeMap::new());
    for _ in 0..groups(100).div_ceil(25) {
        let case = maker.case(25);
        let manifests = objects::manifests(&case.ingresses, &case.services);
        let conf = controller::nginx_conf(&case.ingresses);
        let eddy = IngressTestRouter::of_manifests(&manifests);
        let nginx = NginxProcess::start(&conf);
        let mut client = nginx.connect();
        for (host, target, fields) in &case.requests {
            let request = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n");
            let Some(ours) = eddy.ask(&request) else { continue };
            let theirs = client.ask(&request);
            compared += 1;
            *answers.entry(theirs.chars().take(3).collect::<String>()).or_insert(0) += 1;
            if ours != theirs {
                different.push(format!("{host} {target} {fields}\n  eddy  {ours}\n  nginx {theirs}\n"));
            }
        }
    }
    println!("{compared} pairs; {answers:?}; {:?}", maker.counts);
    assert!(compared > 10_000, "{compared} pairs");
    for kind in [
        "Exact",
        "Prefix",
        "pattern",
        "rewrite-target",
        "use-regex",
        "canary",
        "www",
        "alias",
        "default backend",
    ] {
        assert!(maker.counts.get(kind).is_some_and(|count| *count >= 10), "{kind} is rare");
    }
    assert!(answers["200"] * 3 > compared, "few requests come through");
    let shown: Vec<&str> = different.iter().take(10).map(String::as_str).collect();
    assert!(different.is_empty(), "{} of {compared} differ:\n{}", different.len(), shown.join("\n"));
}
