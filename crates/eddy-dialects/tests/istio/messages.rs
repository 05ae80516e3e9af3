//! Tests of error and warning messages and their positions.

use eddy_dialects::check_with;
use eddy_spec::Leniency;
use eddy_spec::problem::{Severity, SourceText};

use crate::eddy::{IstioTestRouter, told};

const GATEWAY: &str = "{apiVersion: networking.istio.io/v1, kind: Gateway, metadata: {name: gateway}, spec: {servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ['*']}]}}\n---\n\
{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}]}}\n---\n\
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: web-1, labels: {kubernetes.io/service-name: web}}, addressType: IPv4, ports: [{port: 80}], endpoints: [{addresses: [10.0.0.1]}]}\n---\n";

/// A DestinationRule with a subset.
const SUBSETS: &str = "---\n{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: web}, spec: {host: web, subsets: [{name: v1, labels: {version: v1}}]}}\n";

/// Returns manifests with a VirtualService with this spec in line 7.
fn service(spec: &str) -> String {
    format!(
        "{GATEWAY}{{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {{name: web}}, spec: {spec}}}\n"
    )
}

fn route(route: &str) -> String {
    service(&format!(
        "{{hosts: [a.test], gateways: [gateway], http: [{{route: [{{destination: {{host: web}}}}], {route}}}]}}"
    ))
}

fn of_match(matching: &str) -> String {
    route(&format!("match: [{{{matching}}}]"))
}

/// Returns the messages about manifests, errors and warnings.
fn said(text: &str, leniency: Leniency) -> (bool, String) {
    match check_with(&[SourceText::new("a.yaml", text)], leniency) {
        Ok(checked) => (true, told(&checked.warnings)),
        Err(problems) => (false, told(&problems)),
    }
}

#[test]
fn unsupported_features_are_refused_by_name_and_ignored_with_leniency() {
    let gateway = |server: &str| {
        format!(
            "{}---\n{{apiVersion: networking.istio.io/v1, kind: Gateway, metadata: {{name: other}}, spec: {{servers: [{server}]}}}}\n",
            service("{hosts: [a.test], gateways: [gateway], http: [{route: [{destination: {host: web}}]}]}")
        )
    };
    for (text, expected) in [
        (
            gateway(
                "{port: {number: 443, protocol: HTTPS}, hosts: ['*'], tls: {mode: SIMPLE, credentialName: a}}",
            ),
            "there is no Secret `default/a`",
        ),
        (
            gateway("{port: {number: 443, protocol: HTTPS}, hosts: ['*'], tls: {mode: PASSTHROUGH}}"),
            "of mode `PASSTHROUGH`",
        ),
        (
            gateway("{port: {number: 443, protocol: TLS}, hosts: ['*'], tls: {mode: PASSTHROUGH}}"),
            "does not support `TLS` servers",
        ),
        (gateway("{port: {number: 3306, protocol: TCP}, hosts: ['*']}"), "does not support `TCP` servers"),
        (
            service("{hosts: [a.test], gateways: [gateway], tcp: [{route: [{destination: {host: web}}]}]}"),
            "support `tcp` routes",
        ),
        (
            service(
                "{hosts: [a.test], gateways: [gateway], tls: [{match: [{port: 443, sniHosts: [a]}], route: []}]}",
            ),
            "support `tls` routes",
        ),
        (of_match("sourceLabels: {app: x}"), "`sourceLabels` matches the receiving proxy"),
        (of_match("sourceNamespace: x"), "`sourceNamespace` matches the receiving proxy"),
        (of_match("headers: {'@request.auth.claims.group': {exact: a}}"), "token claims"),
        (route("headers: {request: {set: {x-a: '%REQ(x-b)%'}}}"), "`%...%` in the value of `x-a`"),
        (route("fault: {abort: {grpcStatus: UNAVAILABLE}}"), "only with an HTTP status"),
        (
            route("retries: {attempts: 1, retryOn: 'retriable-headers'}"),
            "does not retry on `retriable-headers`",
        ),
        (
            format!(
                "{}{SUBSETS}",
                service(
                    "{hosts: [a.test], gateways: [gateway], http: [{route: [{destination: {host: web, subset: v1}}]}]}"
                )
            ),
            "no manifest has their labels",
        ),
        (
            service("{hosts: [a.test], gateways: [gateway], http: [{delegate: {name: none}}]}"),
            "there is no delegate `default/none`",
        ),
    ] {
        let (is_taken, problems) = said(&text, Leniency::Strict);
        assert!(!is_taken && problems.contains(expected), "{expected}:\n{problems}\n{text}");
        let (is_taken, problems) = said(&text, Leniency::Lenient);
        assert!(is_taken && problems.contains(expected), "lenient, {expected}:\n{problems}\n{text}");
    }
}

#[test]
fn problems_are_reported_with_line_and_column() {
    for (text, expected) in [
        (of_match("url: {exact: /a}"), "a.yaml:7:182"),
        (of_match("url: {exact: /a}"), "`url`"),
        (of_match("uri: {regex: '('}"), "not well formed"),
        (of_match("port: 70000"), "70000"),
        (route("timeout: 5"), "a time such as `5s`"),
        (route("redirect: {uri: /x}"), "exactly one of"),
        (
            service("{hosts: [a.test], gateways: [gateway], http: [{match: [{uri: {exact: /a}}]}]}"),
            "exactly one of",
        ),
        (
            service("{hosts: [a.test], gateways: [gateway], http: [{redirect: {redirectCode: 304}}]}"),
            "is not a redirect status",
        ),
        (
            service("{hosts: [a.test], gateways: [gateway], http: [{redirect: {scheme: ftp}}]}"),
            "`ftp` is not a supported scheme",
        ),
        (
            service(
                "{hosts: [a.test], gateways: [gateway], http: [{redirect: {port: 1, derivePort: FROM_REQUEST_PORT}}]}",
            ),
            "can't be combined",
        ),
        (service("{hosts: [a.test], gateways: [gateway], http: [{directResponse: {status: 100}}]}"), "100"),
        (
            service(
                "{hosts: [a.test], gateways: [gateway], http: [{directResponse: {status: 200, body: {bytes: '?'}}}]}",
            ),
            "Base64",
        ),
        (service("{hosts: [a..test], gateways: [gateway], http: []}"), "is not a valid host"),
        (service("{hosts: ['a.*.test'], gateways: [gateway], http: []}"), "is not a valid host"),
        (service("{gateways: [gateway], http: []}"), "needs `hosts`"),
        (
            service(
                "{hosts: [a.test], gateways: [gateway], http: [{route: [{destination: {host: web}, weight: 0}, {destination: {host: web}}]}]}",
            ),
            "greater than 0",
        ),
        (route("headers: {request: {set: {'a b': '1'}}}"), "a b"),
        (route("corsPolicy: {allowOrigins: [{exact: nothing}]}"), "is not an origin"),
        (route("fault: {delay: {percentage: {value: 101}, fixedDelay: 1s}}"), "101"),
        (service("{gateway: [gateway]}"), "`gateway`"),
    ] {
        let (is_taken, problems) = said(&text, Leniency::Strict);
        assert!(!is_taken && problems.contains(expected), "{expected}:\n{problems}\n{text}");
    }
}

#[test]
fn settings_that_istio_would_ignore_are_reported() {
    let two = |first: &str, second: &str| {
        service(&format!(
            "{{hosts: [a.test], gateways: [gateway], http: [{{{first}, route: [{{destination: {{host: web}}}}]}}, {{{second}, route: [{{destination: {{host: web}}}}]}}]}}"
        ))
    };
    for (text, expected) in [
        (two("name: all", "match: [{uri: {prefix: /a}}]"), "Istio ignores this route"),
        (two("match: [{uri: {prefix: /}}, {uri: {prefix: /a}}]", "name: rest"), "Istio ignores this route"),
        (two("match: [{uri: {prefix: /a}}]", "match: [{uri: {exact: /a/b}}]"), "can never"),
        (service("{hosts: [a.test], http: [{route: [{destination: {host: web}}]}]}"), "only for the mesh"),
        (
            service("{hosts: [a.test], gateways: [none], http: [{route: [{destination: {host: web}}]}]}"),
            "have no server of `default/none`",
        ),
        (
            service(
                "{hosts: [a.test], gateways: [gateway], exportTo: [other], http: [{route: [{destination: {host: web}}]}]}",
            ),
            "`exportTo` hides",
        ),
        (
            service("{http: [{route: [{destination: {host: web}}]}]}"),
            "no VirtualService delegates to this one",
        ),
        (
            service("{hosts: [a.test], gateways: [gateway], http: [{route: [{destination: {host: gone}}]}]}"),
            "there is no Service `default/gone`",
        ),
        (
            service(
                "{hosts: [a.test], gateways: [gateway], http: [{route: [{destination: {host: web.default}}]}]}",
            ),
            "Istio does not complete a name with a dot",
        ),
        (
            service(
                "{hosts: [a.test], gateways: [gateway], http: [{route: [{destination: {host: web, subset: v9}}]}]}",
            ),
            "has a subset `v9`",
        ),
        (
            service(
                "{hosts: [a.test], gateways: [gateway], http: [{route: [{destination: {host: web, port: {number: 81}}}]}]}",
            ),
            "no port 81",
        ),
        (
            service(
                "{hosts: [a.test], gateways: [gateway], http: [{redirect: {uri: /b}, rewrite: {uri: /c}}]}",
            ),
            "`rewrite` has no effect with `redirect`",
        ),
        (route("retries: {attempts: 20}"), "at most 10 times"),
    ] {
        let (is_taken, problems) = said(&text, Leniency::Strict);
        assert!(is_taken && problems.contains(expected), "{expected}:\n{problems}\n{text}");
    }
}

#[test]
fn gateways_for_different_proxies_at_one_address_are_reported() {
    let gateway = |name: &str, label: &str| {
        format!(
            "{{apiVersion: networking.istio.io/v1, kind: Gateway, metadata: {{name: {name}}}, spec: {{selector: {{istio: {label}}}, servers: [{{port: {{number: 80, protocol: HTTP}}, hosts: ['*']}}]}}}}\n---\n"
        )
    };
    let same = format!("{}{}", gateway("one", "ingress"), gateway("two", "ingress"));
    assert_eq!(said(&same, Leniency::Strict), (true, String::new()));
    let (is_taken, problems) =
        said(&format!("{}{}", gateway("one", "ingress"), gateway("two", "internal")), Leniency::Strict);
    assert!(is_taken && problems.contains("its `selector` differs from that of `default/one`"), "{problems}");
}

#[test]
fn subsets_select_endpoints_by_their_labels() {
    let pods = "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}]}}\n---\n\
        {apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: web-1, labels: {kubernetes.io/service-name: web}}, addressType: IPv4, ports: [{port: 80}], endpoints: [{addresses: [10.0.0.1], targetRef: {kind: Pod, name: a}}, {addresses: [10.0.0.2], targetRef: {kind: Pod, name: b}}]}\n---\n\
        {apiVersion: v1, kind: Pod, metadata: {name: a, labels: {version: v1}}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: b, labels: {version: v2}}}\n---\n\
        {apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: web}, spec: {host: web, trafficPolicy: {loadBalancer: {simple: RANDOM}}, subsets: [{name: v2, labels: {version: v2}}, {name: v3, labels: {version: v3}}]}}\n---\n";
    let service = |subset: &str| {
        format!(
            "{pods}{{apiVersion: networking.istio.io/v1, kind: Gateway, metadata: {{name: gateway}}, spec: {{servers: [{{port: {{number: 80, protocol: HTTP}}, hosts: ['*']}}]}}}}\n---\n\
        {{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {{name: web}}, spec: {{hosts: [a.test], gateways: [gateway], http: [{{route: [{{destination: {{host: web, subset: {subset}}}}}]}}]}}}}\n"
        )
    };
    let eddy = IstioTestRouter::of(&service("v2"));
    assert_eq!(eddy.config.clusters.len(), 1);
    let cluster = eddy.config.clusters.first().unwrap();
    assert_eq!((&*cluster.name, cluster.endpoints.len()), ("default/web:80/v2", 1));
    assert_eq!(format!("{:?}", cluster.balance), "Random");
    assert!(format!("{:?}", cluster.endpoints[0].address).contains("10.0.0.2"));
    let none = IstioTestRouter::of(&service("v3"));
    assert!(none.config.clusters.first().unwrap().endpoints.is_empty());
    assert!(told(&none.warnings).contains("has no known endpoints"), "{}", told(&none.warnings));
}

#[test]
fn an_unsupported_condition_is_an_error_with_its_line() {
    let problems =
        check_with(&[SourceText::new("a.yaml", &of_match("sourceNamespace: x"))], Leniency::Strict)
            .unwrap_err();
    let found = problems.iter().find(|problem| problem.message.contains("sourceNamespace")).unwrap();
    assert_eq!((found.severity, found.line), (Severity::Error, 7));
}
