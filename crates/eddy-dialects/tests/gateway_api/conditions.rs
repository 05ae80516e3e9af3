//! Tests of the conditions of objects with parts that are not served: protocols that eddy does not support, parameters
//! that cannot be resolved, and backend references of routes without a served listener.

use eddy_dialects::Checked;
use eddy_spec::Leniency;

use crate::world::{accepted, check, told};

const ROUTE: &str = "---\n{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: all}, spec: {parentRefs: [{name: web}], rules: [{backendRefs: [{name: web, port: 80}]}]}}\n\
                     ---\n{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}]}}\n";

fn gateway(name: &str, class: &str, rest: &str) -> String {
    format!(
        "---\n{{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {{name: {name}}}, spec: {{gatewayClassName: {class}, {rest}}}}}\n"
    )
}

fn statuses(checked: &Checked) -> Vec<String> {
    let shown = checked.statuses.iter().map(ToString::to_string);
    shown.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn a_listener_of_an_unknown_protocol_is_not_served_and_the_rest_is() {
    let listeners = "listeners: [{name: http, port: 80, protocol: HTTP}, {name: invalid, port: 1111, protocol: INVALID}, \
                     {name: udp, port: 53, protocol: UDP, allowedRoutes: {kinds: [{kind: UDPRoute}]}}, \
                     {name: through, port: 443, protocol: TLS, tls: {mode: Passthrough}}]";
    let checked = accepted(&(gateway("web", "eddy", listeners) + ROUTE));
    assert_eq!(checked.config.listeners.len(), 1);
    let expected = [
        "Gateway default/web: Accepted (ListenersNotValid), Programmed",
        "  listener http: Accepted, Programmed, ResolvedRefs, 1 route",
        "  listener invalid: not Accepted (UnsupportedProtocol: the protocol `INVALID` is not supported), not Programmed (Invalid), ResolvedRefs, 0 routes",
        "  listener udp: not Accepted (UnsupportedProtocol: the protocol `UDP` is not supported), not Programmed (Invalid), ResolvedRefs, 0 routes",
        "  listener through: not Accepted (UnsupportedProtocol: the protocol `TLS` is not supported), not Programmed (Invalid), ResolvedRefs, 0 routes",
    ];
    assert_eq!(statuses(&checked)[..5], expected);
    let kinds: Vec<_> =
        checked.statuses[0].parts[1..].iter().map(|part| part.supported_kinds.clone()).collect();
    assert_eq!(kinds, [Some(vec!["HTTPRoute", "GRPCRoute"]), Some(vec![]), Some(vec![]), Some(vec![])]);
    let warnings = told(&checked.warnings);
    assert!(warnings.contains("this listener is not served") && warnings.contains("`INVALID`"), "{warnings}");
    // Without other listeners there is nothing to listen on.
    let alone = gateway("web", "eddy", "listeners: [{name: invalid, port: 1111, protocol: INVALID}]");
    let problems = told(&check(&[("a.yaml", &alone)], Leniency::Strict).unwrap_err());
    assert!(
        problems.contains("the manifests define no listener") && problems.contains("`INVALID`"),
        "{problems}"
    );
}

#[test]
fn a_gateway_with_unresolved_parameters_is_not_served() {
    let http = |port: u16| format!("listeners: [{{name: http, port: {port}, protocol: HTTP}}]");
    let parameters = "parametersRef: {group: example.com, kind: Parameters, name: none}";
    let own = format!("{}, infrastructure: {{labels: {{a: b}}, {parameters}}}", http(81));
    let class = |name: &str, controller: &str| {
        format!(
            "---\n{{apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, metadata: {{name: {name}}}, spec: {{controllerName: {controller}, {parameters}}}}}\n"
        )
    };
    let text = gateway("web", "eddy", &http(80))
        + &gateway("own", "eddy", &own)
        + &gateway("by-class", "tuned", &http(82))
        + &gateway("of-another", "another", &http(83))
        + &class("tuned", "eddy-gateway.github.io/eddy")
        + &class("another", "example.com/other")
        + &class("strange", "example.com/strange")
        + ROUTE;
    let settings = "kubernetes: {controllers: [example.com/other]}\n";
    let checked = check(&[("eddy.yaml", settings), ("a.yaml", &text)], Leniency::Strict);
    let checked = checked.unwrap_or_else(|problems| panic!("{}", told(&problems)));
    let mut served: Vec<String> =
        checked.config.listeners.iter().map(|listener| listener.name.to_string()).collect();
    served.sort();
    // Parameters for another controller make no difference.
    assert_eq!(served, ["default/of-another/http", "default/web/http"]);
    let lines = statuses(&checked);
    let line = |start: &str| lines.iter().find(|line| line.starts_with(start)).cloned().unwrap_or_default();
    let why = "the parameters in a `Parameters` can't be read: eddy supports no kind of parameters";
    assert_eq!(
        line("GatewayClass tuned"),
        format!("GatewayClass tuned: not Accepted (InvalidParameters: {why})")
    );
    assert_eq!(line("GatewayClass another"), "GatewayClass another: Accepted");
    assert_eq!(line("GatewayClass strange"), "");
    let end = "not Programmed (Invalid: no listener is served)";
    assert_eq!(
        line("Gateway default/own"),
        format!("Gateway default/own: not Accepted (InvalidParameters: {why}), {end}")
    );
    assert_eq!(
        line("Gateway default/by-class"),
        format!(
            "Gateway default/by-class: not Accepted (InvalidParameters: GatewayClass `tuned`: {why}), {end}"
        )
    );
    assert_eq!(line("Gateway default/web"), "Gateway default/web: Accepted, Programmed");
    let warnings = told(&checked.warnings);
    assert!(warnings.contains("are ignored: they are for `example.com/other`"), "{warnings}");
    assert!(!warnings.contains("strange"), "{warnings}");
}

#[test]
fn references_of_routes_are_resolved_whether_or_not_they_are_served() {
    let listeners = "listeners: [{name: http, port: 80, protocol: HTTP, hostname: a.test}, {name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: none}]}}]";
    let route = |name: &str, parent: &str, service: &str| {
        format!(
            "---\n{{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {{name: {name}}}, spec: {{parentRefs: [{{name: {parent}}}], hostnames: [b.test], rules: [{{backendRefs: [{{name: {service}, port: 80}}]}}]}}}}\n"
        )
    };
    let text = gateway("web", "eddy", listeners)
        + &route("unserved", "'web', sectionName: https", "gone")
        + &route("unserved-well", "'web', sectionName: https", "web")
        + &route("unattached", "'web', sectionName: http", "gone")
        + &route("astray", "no-gateway", "gone")
        + "---\n{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}]}}\n";
    let checked = accepted(&text);
    let lines = statuses(&checked);
    let missing = "not ResolvedRefs (BackendNotFound: there is no Service `default/gone`)";
    for (route, accepted, resolved) in [
        ("unserved", "Accepted", missing),
        ("unserved-well", "Accepted", "ResolvedRefs"),
        ("unattached", "not Accepted (NoMatchingListenerHostname", missing),
        ("astray", "not Accepted (NoMatchingParent", missing),
    ] {
        let at = lines.iter().position(|line| *line == format!("HTTPRoute default/{route}")).unwrap();
        let conditions = lines[at + 1].split_once(": ").unwrap().1;
        assert!(conditions.starts_with(accepted) && conditions.ends_with(resolved), "{route}: {conditions}");
    }
    let told = told(&checked.warnings);
    assert_eq!(told.matches("there is no Service `default/gone`").count(), 3, "{told}");
}
