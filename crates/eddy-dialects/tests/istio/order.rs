//! Tests of the order of rules, and of the reasons for it.

use eddy_dialects::check;
use eddy_spec::problem::SourceText;

const GATEWAYS: &str = "
{apiVersion: networking.istio.io/v1, kind: Gateway, metadata: {name: gateway, namespace: edge}, spec: {servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ['*']}]}}
---
{apiVersion: networking.istio.io/v1, kind: Gateway, metadata: {name: other, namespace: edge}, spec: {servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ['*']}]}}
";

/// Returns a VirtualService that responds with its name to every path below `/`, except for one path of its own.
fn service(namespace: &str, name: &str, more: &str, metadata: &str) -> String {
    format!(
        "---\n{{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {{name: {name}, namespace: {namespace}{metadata}}}, \
         spec: {{hosts: [a.test], {more}, http: [{{name: own, match: [{{uri: {{prefix: /a}}}}], directResponse: {{status: 200}}}}]}}}}\n"
    )
}

/// Returns the rules in order, each with the reason why it follows the one before.
fn order(services: &[String]) -> Vec<(String, String)> {
    let text = format!("{GATEWAYS}{}", services.concat());
    let config =
        check(&[SourceText::new("a.yaml", &text)]).unwrap_or_else(|problems| panic!("{problems:#?}")).config;
    let router = config.router(&config.listeners[0]).unwrap().expect("no routes");
    let ordered = router.ordered();
    let name = |name: &str| name.trim_end_matches("/own.0").to_owned();
    ordered
        .iter()
        .map(|ranked| (name(&ranked.rule.rule), ranked.reason.clone().unwrap_or_default()))
        .collect()
}

#[test]
fn the_deciding_step_is_reported() {
    let bound = "gateways: [edge/gateway]";
    let private = "gateways: [edge/gateway], exportTo: ['.']";
    let old = ", creationTimestamp: '2026-01-01T00:00:00Z'";
    let young = ", creationTimestamp: '2026-01-02T00:00:00Z'";
    let services = [
        service("team", "z-old", bound, old),
        service("team", "b", bound, young),
        service("edge", "b", bound, young),
        service("team", "a", bound, young),
        service("edge", "private", private, young),
        service("team", "unborn", bound, ""),
        service("team", "other", "gateways: [edge/other]", old),
    ];
    let expected = [
        ("edge/private", ""),
        (
            "team/unborn",
            "by `exportTo`, edge/private is private to the namespace, team/unborn is exported to all namespaces",
        ),
        ("team/z-old", "only age decides: team/unborn, which has no creation time, is older than team/z-old"),
        ("team/a", "only age decides: team/z-old is older than team/a"),
        ("edge/b", "only the name decides: \"team/a\" comes before \"edge/b\""),
        ("team/b", "only the name decides: \"edge/b\" comes before \"team/b\""),
        ("team/other", "only their Gateways decide: that of team/b comes before that of team/other"),
    ];
    let found = order(&services);
    let found: Vec<(&str, &str)> =
        found.iter().map(|(name, reason)| (name.as_str(), reason.as_str())).collect();
    assert_eq!(found, expected);
}
