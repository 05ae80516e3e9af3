//! Tests of the conformance cases, up to the selection of a rule; complete exchanges are tested in the end-to-end
//! tests.

use std::fs;
use std::path::PathBuf;

use eddy_spec::Leniency;
use serde_json::Value;

use crate::world::{ask, check, told};

/// Services of the conformance suite.
const SERVICES: &[(&str, &[&str])] = &[
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

fn data() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/e2e/data/gateway_api")
}

fn services() -> String {
    let mut out = String::new();
    for (namespace, names) in SERVICES {
        let kind = if namespace.ends_with("-infra") { "infra" } else { "backend" };
        out += &format!(
            "{{apiVersion: v1, kind: Namespace, metadata: {{name: {namespace}, labels: {{gateway-conformance: {kind}}}}}}}\n---\n"
        );
        for name in *names {
            out += &format!(
                "{{apiVersion: v1, kind: Service, metadata: {{name: {name}, namespace: {namespace}}}, spec: {{ports: [{{name: a, port: 8080}}, {{name: b, port: 8081}}]}}}}\n---\n"
            );
        }
    }
    out
}

#[test]
fn the_rule_of_each_case_wins() {
    let all: Value = serde_json::from_str(&fs::read_to_string(data().join("cases.json")).unwrap()).unwrap();
    let mut count = 0;
    let mut wrong: Vec<String> = Vec::new();
    for (name, test) in all.as_object().unwrap() {
        let text = fs::read_to_string(data().join(format!("{name}.yaml"))).unwrap();
        let gateways = test["listeners"].as_object().unwrap();
        // Each Gateway gets an address of its own.
        let address = |gateway: &str| {
            let number = gateways.keys().position(|key| key == gateway).unwrap();
            format!("127.0.1.{}", number + 1)
        };
        let places: Vec<String> =
            gateways.keys().map(|gateway| format!("{gateway}: {{address: {}}}", address(gateway))).collect();
        let config = format!("kubernetes: {{gateways: {{{}}}}}\n", places.join(", "));
        let checked =
            check(&[("eddy.yaml", &config), ("services.yaml", &services()), (name, &text)], Leniency::Strict);
        let checked = match checked {
            Ok(checked) => checked,
            Err(problems) => {
                wrong.push(format!("{name}:\n{}", told(&problems)));
                continue;
            }
        };
        for case in test["cases"].as_array().unwrap() {
            count += 1;
            let gateway = case["gateway"].as_str().unwrap();
            let host = case["host"].as_str().unwrap_or("gateway.test");
            // A port in the request's host that no listener has is ignored.
            let named = host.split_once(':').and_then(|(_, port)| port.parse::<u64>().ok());
            let ports = gateways[gateway].as_array().unwrap();
            let port = ports.iter().find(|port| port.as_u64() == named).unwrap_or(&ports[0]);
            let mut head = format!(
                "{} {} HTTP/1.1\r\nHost: {host}\r\n",
                case["method"].as_str().unwrap(),
                case["path"].as_str().unwrap()
            );
            for (field, value) in case["fields"].as_object().into_iter().flatten() {
                head += &format!("{field}: {}\r\n", value.as_str().unwrap());
            }
            let outcome = ask(&checked.config, &format!("{}:{port}", address(gateway)), &head);
            let status = case["status"].to_string();
            let is_right = match case["backend"].as_str() {
                Some(backend) => outcome.does.starts_with(&format!("{backend}:")),
                // A timeout is observable only in an exchange.
                None if status == "504" || status == "204" => outcome.rule.is_some(),
                None if status == "200" => outcome.does.contains('/'),
                None => outcome.does.split(' ').next() == Some(&*status),
            };
            if !is_right {
                wrong.push(format!("{name}: {case}\n  {outcome:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 200, "{count}");
}
