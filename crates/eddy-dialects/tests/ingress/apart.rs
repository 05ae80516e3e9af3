//! Tests of intended differences between eddy and ingress-nginx in the meaning of Ingresses;
//! `docs/reference/divergences.md` lists them.

use eddy_config::GatewayConfig;
use eddy_dialects::{check, check_with};
use eddy_model::{Balance, EndpointAddress};
use eddy_spec::Leniency;
use eddy_spec::problem::{Severity, SourceText};

use crate::documented::ingress;
use crate::eddy::IngressTestRouter;
use crate::objects::{self, Ingress};
use crate::{request, services};

fn source(ingresses: &[Ingress]) -> SourceText {
    SourceText::new("manifests.yaml", &objects::manifests(ingresses, &services(ingresses)))
}

fn config(annotations: &[(&str, &str)]) -> GatewayConfig {
    check(&[source(&[ingress("a", "a.test", annotations, &["/ P web"])])]).unwrap().config
}

/// Returns the error message, with its line.
fn error(source: SourceText) -> (String, u32) {
    let problems = check(&[source]).unwrap_err();
    let error = problems.iter().find(|problem| problem.severity == Severity::Error);
    error.map(|error| (error.message.clone(), error.line)).unwrap()
}

#[test]
fn tls_without_a_certificate_is_refused_or_skipped_with_leniency() {
    let text = source(&[ingress("a", "a.test", &[], &["/ P web"])]).text.to_string();
    for (tls, reason) in [
        ("{hosts: [a.test]}", "`tls` needs a `secretName`"),
        ("{hosts: [a.test], secretName: nowhere}", "nowhere"),
    ] {
        let text = text.replace("  rules:\n", &format!("  tls: [{tls}]\n  rules:\n"));
        let (message, line) = error(SourceText::new("manifests.yaml", &text));
        assert!(message.contains(reason) && line == 8, "{line}: {message}");
        let lenient = check_with(&[SourceText::new("manifests.yaml", &text)], Leniency::Lenient).unwrap();
        assert!(lenient.config.listeners.iter().all(|listener| listener.tls.is_none()));
        assert!(lenient.warnings.iter().any(|warning| warning.message.contains(reason)));
    }
}

#[test]
fn a_key_selects_by_the_consistent_hash_ring_of_nginx() {
    let clusters = config(&[("upstream-hash-by", "$request_uri")]).clusters;
    assert!(clusters.values().any(|cluster| cluster.balance == Balance::Ring), "{clusters:#?}");
}

#[test]
fn ewma_selects_the_less_loaded_of_two() {
    let clusters = config(&[("load-balance", "ewma")]).clusters;
    assert!(clusters.values().any(|cluster| cluster.balance == Balance::LeastRequest), "{clusters:#?}");
}

#[test]
fn service_upstream_resolves_to_the_endpoints() {
    let clusters = config(&[("service-upstream", "true")]).clusters;
    let endpoints: Vec<&EndpointAddress> =
        clusters.values().flat_map(|cluster| &cluster.endpoints).map(|endpoint| &endpoint.address).collect();
    let slice = EndpointAddress::Socket("10.0.0.1:8080".parse().unwrap());
    assert!(endpoints.contains(&&slice), "{endpoints:?}");
}

#[test]
fn paths_with_expressions_are_served_whatever_their_type() {
    let uses = [("use-regex", "true")];
    let ingresses = [ingress("a", "a.test", &uses, &["/a[0-9]+ P web", "/b[0-9]+ E next"])];
    let eddy = IngressTestRouter::of_manifests(&source(&ingresses).text);
    for (line, expected) in
        [("a.test /a12", "200 default-web-80 /a12 a.test"), ("a.test /b3", "200 default-next-80 /b3 a.test")]
    {
        assert_eq!(eddy.ask(&request(line)).as_deref(), Some(expected), "{line}");
    }
}

#[test]
fn a_duplicate_location_is_reported_with_its_line() {
    let ingresses = [ingress("a", "a.test", &[], &["/a P web", "/a/ P next"])];
    let (message, line) = error(source(&ingresses));
    assert!(message.contains("duplicate location") && line == 11, "{line}: {message}");
}

#[test]
fn a_wildcard_is_not_redirected_to_www() {
    let redirects = [("from-to-www-redirect", "true")];
    let eddy =
        IngressTestRouter::of_manifests(&source(&[ingress("a", "*.test", &redirects, &["/ P web"])]).text);
    for host in ["www.test", "a.test"] {
        let expected = format!("200 default-web-80 / {host}");
        assert_eq!(eddy.ask(&request(&format!("{host} /"))), Some(expected));
    }
}
