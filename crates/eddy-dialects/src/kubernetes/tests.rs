//! Tests of reading manifests and resolving Services.

use eddy_model::EndpointAddress;
use eddy_spec::Leniency;
use eddy_spec::problem::{ProblemReport, SourceText};
use eddy_spec::read::FromNode;
use eddy_spec::spec::KubernetesSpec;
use eddy_spec::value::ObjectName;
use eddy_spec::yaml::{parse, parse_documents};

use super::backend::Backends;
use super::{Objects, PortOrName, Unresolved, read_objects};

fn read<'t>(text: &'t str, report: &mut ProblemReport) -> Objects<'t> {
    let documents = parse_documents(text, 0, report);
    assert!(documents.is_whole, "{text}");
    read_objects(documents.roots, report)
}

fn told(report: ProblemReport) -> Vec<String> {
    let problems = report.into_problems(&[SourceText::new("a.yaml", "")]);
    problems.iter().map(|problem| problem.to_string().replacen("a.yaml:", "", 1)).collect()
}

fn check_problems(text: &str, expected: &[&str]) {
    let mut report = ProblemReport::new();
    let objects = read(text, &mut report);
    Backends::read(&objects, None, &mut report);
    assert_eq!(told(report), expected, "{text}");
}

#[test]
fn documents_and_lists_are_objects_in_their_order() {
    let text = "apiVersion: v1\nkind: Service\nmetadata: {name: a, creationTimestamp: null}\n---\n# nothing\n---\n\
                apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Service, metadata: {name: b, namespace: other}}\n\
                - {apiVersion: v1, kind: NamespaceList, items: [{apiVersion: v1, kind: Namespace, metadata: {name: other, labels: {a: b}}}]}\n";
    let mut report = ProblemReport::new();
    let objects = read(text, &mut report);
    let names: Vec<String> = objects.list.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["Service default/a", "Service other/b", "Namespace other"]);
    assert_eq!(objects.namespace_label("other", "a"), Some("b"));
    assert_eq!((objects.list[1].place.line, objects.list[1].place.column), (10, 3));
    assert_eq!(told(report), [""; 0]);
}

#[test]
fn other_kinds_are_skipped_and_typos_are_reported() {
    check_problems(
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}\n---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: b}}",
        &["1:29: warning: eddy does not read Deployment (apps/v1): 2 objects ignored"],
    );
    check_problems(
        "{apiVersion: v1, kind: service, metadata: {name: a}}",
        &["1:24: error: there is no kind `service` in `v1`\n  hint: did you mean `Service`?"],
    );
    check_problems(
        "{apiVersion: v2, kind: Service, metadata: {name: a}}",
        &["1:14: error: the version `v2` of Service is not supported\n  hint: write `apiVersion: v1`"],
    );
    check_problems("{apiVersion: v1, metadata: {name: a}}", &["1:1: error: an object needs the key `kind`"]);
    check_problems("[a]", &["1:1: error: expected an object with `apiVersion` and `kind`"]);
    check_problems("{apiVersion: v1, kind: Service}", &["1:1: error: a Service needs the key `metadata`"]);
    check_problems(
        "{apiVersion: v1, kind: Service, metadata: {name: A_b}}",
        &[
            "1:50: error: this is not a valid object name: it must consist of lower-case letters, digits and `-`, and begin and end with a letter or digit",
        ],
    );
    check_problems(
        "{apiVersion: v1, kind: Service, metadata: {name: a}}\n---\n{apiVersion: v1, kind: Service, metadata: {name: a}}",
        &[
            "3:50: error: Service default/a is already defined in line 1\n  hint: keep one of them: in a cluster, the later one would replace the earlier one",
        ],
    );
}

#[test]
fn keys_and_types_are_as_strict_as_an_api_server() {
    check_problems(
        "{apiVersion: v1, kind: Service, metadata: {name: a, label: {}}, spec: {port: [], ports: [{port: '80'}]}}",
        &[
            "1:53: error: unknown key `label` in metadata\n  hint: did you mean `labels`?",
            "1:72: error: unknown key `port` in a Service spec\n  hint: did you mean `ports`?",
            "1:97: error: expected a whole number, found the string `80`\n  hint: leave the quotes out",
        ],
    );
    check_problems(
        "{apiVersion: v1, kind: Service, metadata: {name: a, labels: {a: 1, b: yes, c: v1}, creationTimestamp: now}, spc: {}}",
        &[
            "1:65: error: expected a string, found `1` without quotes\n  hint: write \"1\"",
            "1:71: error: expected a string, found `yes` without quotes\n  hint: write \"yes\"",
            "1:103: error: expected a time such as `2026-01-31T12:00:00Z`, found `now`\n  hint: write it as in `2026-01-31T12:00:00Z`",
            "1:109: error: unknown key `spc` in a Service\n  hint: did you mean `spec`?",
        ],
    );
}

#[test]
fn leniency_turns_ignorable_problems_into_warnings() {
    let mut report = ProblemReport::new();
    let text = "{apiVersion: v1, kind: Service, metadata: {name: a, label: {}, labels: {a: 1}}}";
    report.with(Leniency::Lenient, |report| drop(read(text, report)));
    assert!(!report.has_errors());
    assert_eq!(told(report).len(), 2);
}

const SERVICES: &str = "
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{name: http, port: 80, targetPort: web}, {name: admin, port: 9000}, {name: dns, port: 53, protocol: UDP}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080}, {name: admin, port: 9001}]
endpoints:
- {addresses: [10.0.0.1, 10.0.0.9]}
- {addresses: [10.0.0.2], conditions: {ready: true, serving: true}}
- {addresses: [10.0.0.3], conditions: {ready: false, serving: true, terminating: true}}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-2, labels: {kubernetes.io/service-name: web}}
addressType: IPv6
ports: [{name: http, port: 8081}]
endpoints: [{addresses: ['fd00::1']}, {addresses: ['fd00::1']}]
---
{apiVersion: v1, kind: Service, metadata: {name: ending}, spec: {ports: [{port: 80}]}}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: ending-1, labels: {kubernetes.io/service-name: ending}}
addressType: IPv4
ports: [{name: '', port: 8080}]
endpoints:
- {addresses: [10.0.0.4], conditions: {ready: false, serving: true, terminating: true}}
- {addresses: [10.0.0.5], conditions: {ready: false, serving: false, terminating: true}}
---
{apiVersion: v1, kind: Service, metadata: {name: else}, spec: {type: ExternalName, externalName: else.example.com}}
---
{apiVersion: v1, kind: Service, metadata: {name: bare}, spec: {ports: [{port: 80, targetPort: 8080}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: headless}, spec: {clusterIP: None, ports: [{port: 80, targetPort: 8080}]}}
";

fn check_found(spec: &str, service: &str, port: PortOrName, expected: Result<&str, Unresolved>) {
    let mut report = ProblemReport::new();
    let objects = read(SERVICES, &mut report);
    let tree = parse(spec, 1, &mut report);
    let spec = tree.root.and_then(|root| KubernetesSpec::read(&root, &mut report));
    let backends = Backends::read(&objects, spec.as_ref(), &mut report);
    assert_eq!(told(report), [""; 0]);
    let service = ObjectName { namespace: "default".into(), name: service.into() };
    let found = backends.find(&service, &port).map(|backend| {
        let endpoints = backend.cluster.endpoints.iter().map(|endpoint| match &endpoint.address {
            EndpointAddress::Socket(address) => address.to_string(),
            EndpointAddress::Name { host, port } => format!("{host}:{port}"),
            EndpointAddress::Unix(path) => path.display().to_string(),
        });
        endpoints.collect::<Vec<_>>().join(" ")
    });
    assert_eq!(found.as_deref(), expected.as_ref().map(|text| *text), "{service:?} {port:?}");
}

#[test]
fn services_resolve_to_endpoints() {
    let number = PortOrName::Number;
    check_found("{}", "web", number(80), Ok("10.0.0.1:8080 10.0.0.2:8080 [fd00::1]:8081"));
    check_found("{}", "web", PortOrName::Name("admin".into()), Ok("10.0.0.1:9001 10.0.0.2:9001"));
    check_found("{}", "web", number(8080), Err(Unresolved::Port));
    check_found("{}", "web", number(53), Err(Unresolved::Port));
    check_found("{}", "ending", number(80), Ok("10.0.0.4:8080"));
    check_found("{}", "else", number(8443), Ok("else.example.com:8443"));
    check_found("{}", "bare", number(80), Ok(""));
    check_found("{}", "none", number(80), Err(Unresolved::Service));
    check_found("{dns: cluster.local}", "bare", number(80), Ok("bare.default.svc.cluster.local:80"));
    check_found(
        "{dns: cluster.local}",
        "headless",
        number(80),
        Ok("headless.default.svc.cluster.local:8080"),
    );
    let given = "{endpoints: {default/web: [127.0.0.1:1], 'default/web:9000': ['127.0.0.1:2'], default/none: ['x:3']}}";
    check_found(given, "web", number(80), Ok("127.0.0.1:1"));
    check_found(given, "web", number(9000), Ok("127.0.0.1:2"));
    check_found(given, "web", number(1), Err(Unresolved::Port));
    check_found(given, "none", number(7), Ok("x:3"));
}
