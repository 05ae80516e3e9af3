//! The examples of the Gateway API's own site (`examples/` of sigs.k8s.io/gateway-api v1.4.1): each is taken, or left out for
//! a reason that is told. And the examples of the guide.

use std::fs;
use std::path::PathBuf;

use eddy_config::Leniency;

use crate::world::{check, told};

/// Examples that are left out, by the beginning of their names, and what eddy says of them.
const LEFT_OUT: &[(&str, &str)] = &[
    ("standard/cross-namespace-routing/gateway", "`HTTPS` can't be served"),
    ("standard/grpc-routing/gateway", "`HTTPS` can't be served"),
    ("standard/http-redirect-rewrite/gateway-redirect-http-https", "`HTTPS` can't be served"),
    ("standard/simple-http-https/gateway", "`HTTPS` can't be served"),
    ("standard/tls-", "can't be served"),
    ("standard/wildcard-tls-gateway", "can't be served"),
    ("experimental/backend-tls", "`tls` can't be had"),
    ("experimental/basic-tcp", "`TCP` can't be served"),
    ("experimental/frontend-cert-validation", "can't be had"),
    ("experimental/v1alpha2/tls-routing/gateway", "`TLS` can't be served"),
    ("experimental/v1alpha3/tls-routing/gateway", "`TLS` can't be served"),
];

#[test]
fn documented_examples_are_taken_or_left_out_for_a_reason() {
    let text = include_str!("examples.txt");
    let (mut taken, mut left_out) = (0, 0);
    let mut wrong = Vec::new();
    for example in text.split("=== ").skip(1) {
        let (name, manifests) = example.split_once('\n').unwrap();
        let others = surroundings(manifests);
        let outcome = check(&[(name, manifests), ("others.yaml", &others)], Leniency::Strict);
        let reason =
            LEFT_OUT.iter().find(|(left_out, _)| name.starts_with(left_out)).map(|(_, reason)| *reason);
        match (outcome, reason) {
            (Ok(_), None) => taken += 1,
            (Err(problems), Some(reason)) if told(&problems).contains(reason) => left_out += 1,
            (Ok(_), Some(_)) => wrong.push(format!("{name} is taken")),
            (Err(problems), _) => wrong.push(format!("{name}:\n{}", told(&problems))),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(taken >= 40 && left_out > 0, "{taken} taken, {left_out} left out");
}

/// A Gateway for each parent that an example names and does not have.
fn surroundings(manifests: &str) -> String {
    let mut out = "{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: one-more}, spec: {gatewayClassName: eddy, listeners: [{name: http, port: 8099, protocol: HTTP}]}}\n".to_owned();
    let mut names: Vec<&str> = manifests
        .split("parentRefs:")
        .skip(1)
        .filter_map(|rest| rest.split("name: ").nth(1)?.split([',', '}', '\n']).next())
        .collect();
    names.sort_unstable();
    names.dedup();
    for (number, name) in names.into_iter().enumerate() {
        let is_there = manifests.contains(&format!("kind: Gateway\nmetadata: {{name: {name}"));
        if !is_there {
            out += &format!(
                "---\n{{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {{name: {name}}}, spec: {{gatewayClassName: eddy, listeners: [{{name: http, port: {}, protocol: HTTP, allowedRoutes: {{namespaces: {{from: All}}}}}}]}}}}\n",
                8100 + number
            );
        }
    }
    out
}

#[test]
fn examples_of_the_guide_are_taken() {
    let guide = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/gateway-api.md");
    let text = fs::read_to_string(guide).unwrap();
    let blocks: Vec<&str> =
        text.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let [manifests, settings] = blocks.as_slice() else { panic!("{} examples", blocks.len()) };
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
