//! Tests of Ingresses as the API specifies them: the table of the Kubernetes page and the features of
//! ingress-controller-conformance.

use eddy_config::ActionKind;
use eddy_dialects::check;
use eddy_route::{RouteRequest, RouteScratch};
use eddy_spec::problem::SourceText;

use crate::documented::ingress;
use crate::objects::{Ingress, manifests};

/// Returns the Service that responds to a request, or `-`.
fn answer(ingresses: &[Ingress], host: &str, path: &str) -> String {
    let text = manifests(ingresses, &crate::services(ingresses));
    let config = check(&[SourceText::new("manifests.yaml", &text)]).unwrap().config;
    let router = config.router(&config.listeners[0]).unwrap().unwrap();
    let request = RouteRequest {
        host: host.as_bytes(),
        authority: host.as_bytes(),
        path: path.as_bytes(),
        target: path.as_bytes(),
        scheme: b"http",
        method: b"GET",
        ..RouteRequest::default()
    };
    let mut scratch = RouteScratch::new();
    let Some(found) = router.lookup(&request, &mut scratch) else { return "-".to_owned() };
    let ActionKind::Cluster(cluster) = &config.action_of(&config.listeners[0], found.rule).kind else {
        panic!("{}", found.rule.name);
    };
    let name = &config.clusters[*cluster].name;
    name.trim_start_matches("default/").trim_end_matches(":80").to_owned()
}

fn plain(name: &str, host: &str, paths: &[&str]) -> Ingress {
    Ingress { class: "eddy", ..ingress(name, host, &[], paths) }
}

/// An example of the page <https://kubernetes.io/docs/concepts/services-networking/ingress/>: its subject, its
/// Ingresses, and the Service that responds for a host and path.
pub(crate) struct PlainIngressExample {
    pub(crate) source: &'static str,
    pub(crate) ingresses: Vec<Ingress>,
    pub(crate) answers: &'static [(&'static str, &'static str, &'static str)],
}

/// Returns the examples of that page, except its table of paths.
pub(crate) fn shown() -> Vec<PlainIngressExample> {
    let two = |name: &str, first: &Ingress, second: &Ingress| Ingress {
        name: name.into(),
        rules: [first.rules.clone(), second.rules.clone()].concat(),
        ..first.clone()
    };
    vec![
        PlainIngressExample {
            source: "the Ingress resource",
            ingresses: vec![plain("minimal-ingress", "", &["/testpath P test"])],
            answers: &[("any.test", "/testpath/1", "test"), ("any.test", "/", "-")],
        },
        PlainIngressExample {
            source: "hostname wildcards",
            ingresses: vec![two(
                "ingress-wildcard-host",
                &plain("", "foo.bar.com", &["/bar P service1"]),
                &plain("", "*.foo.com", &["/foo P service2"]),
            )],
            answers: &[
                ("foo.bar.com", "/bar", "service1"),
                ("foo.bar.com", "/foo", "-"),
                ("a.foo.com", "/foo/1", "service2"),
                ("a.b.foo.com", "/foo", "-"),
            ],
        },
        PlainIngressExample {
            source: "Ingress backed by a single Service",
            ingresses: vec![Ingress {
                name: "test-ingress".into(),
                class: "eddy",
                default: Some("test".into()),
                ..Ingress::default()
            }],
            answers: &[("any.test", "/any", "test")],
        },
        PlainIngressExample {
            source: "simple fanout",
            ingresses: vec![plain(
                "simple-fanout-example",
                "foo.bar.com",
                &["/foo P service1", "/bar P service2"],
            )],
            answers: &[
                ("foo.bar.com", "/foo", "service1"),
                ("foo.bar.com", "/bar/1", "service2"),
                ("foo.bar.com", "/", "-"),
                ("bar.foo.com", "/foo", "-"),
            ],
        },
        PlainIngressExample {
            source: "name based virtual hosting",
            ingresses: vec![two(
                "name-virtual-host-ingress",
                &plain("", "foo.bar.com", &["/ P service1"]),
                &plain("", "bar.foo.com", &["/ P service2"]),
            )],
            answers: &[
                ("foo.bar.com", "/", "service1"),
                ("bar.foo.com", "/", "service2"),
                ("other.foo.com", "/", "-"),
            ],
        },
        PlainIngressExample {
            source: "name based virtual hosting, with a rule for all other hosts",
            ingresses: vec![two(
                "name-virtual-host-ingress-no-third-host",
                &two(
                    "",
                    &plain("", "first.bar.com", &["/ P service1"]),
                    &plain("", "second.bar.com", &["/ P service2"]),
                ),
                &plain("", "", &["/ P service3"]),
            )],
            answers: &[
                ("first.bar.com", "/", "service1"),
                ("second.bar.com", "/", "service2"),
                ("third.bar.com", "/", "service3"),
            ],
        },
    ]
}

#[test]
fn examples_of_the_kubernetes_page_respond_as_documented() {
    for PlainIngressExample { source, ingresses, answers } in shown() {
        for (host, path, expected) in answers {
            assert_eq!(answer(&ingresses, host, path), *expected, "{source}: {host}{path}");
        }
    }
}

/// Table of paths of that page, and the additions of the conformance features: paths with their types and Services, a
/// request, and the Service that responds.
pub(crate) const PATHS: &[(&[&str], &str, &str)] = &[
    (&["/ P a"], "/anything", "a"),
    (&["/foo E a"], "/foo", "a"),
    (&["/foo E a"], "/bar", "-"),
    (&["/foo E a"], "/foo/", "-"),
    (&["/foo/ E a"], "/foo", "-"),
    (&["/foo P a"], "/foo", "a"),
    (&["/foo P a"], "/foo/", "a"),
    (&["/foo/ P a"], "/foo", "a"),
    (&["/foo/ P a"], "/foo/", "a"),
    (&["/aaa/bb P a"], "/aaa/bbb", "-"),
    (&["/aaa/bbb P a"], "/aaa/bbb", "a"),
    (&["/aaa/bbb/ P a"], "/aaa/bbb", "a"),
    (&["/aaa/bbb P a"], "/aaa/bbb/", "a"),
    (&["/aaa/bbb P a"], "/aaa/bbb/ccc", "a"),
    (&["/aaa/bbb P a"], "/aaa/bbbxyz", "-"),
    (&["/ P a", "/aaa P b"], "/aaa/ccc", "b"),
    (&["/ P a", "/aaa P b"], "/ccc", "a"),
    (&["/aaa P a"], "/ccc", "-"),
    (&["/foo P a", "/foo E b"], "/foo", "b"),
    (&["/foo E a"], "/FOO", "-"),
    (&["/foo P a"], "/FOO", "-"),
    (&["/ P a", "/aaa P b", "/aaa/bbb P c"], "/aaa/bbb", "c"),
    (&["/foo I a"], "/foo/bar", "a"),
];

#[test]
fn paths_match_as_in_the_table_of_the_kubernetes_page() {
    for (paths, request, expected) in PATHS {
        assert_eq!(
            answer(&[plain("web", "a.test", paths)], "a.test", request),
            *expected,
            "{paths:?} {request}"
        );
    }
}

#[test]
fn hosts_match_as_in_the_kubernetes_page_and_the_conformance_features() {
    for (host, request, expected) in [
        ("*.foo.com", "bar.foo.com", "a"),
        ("*.foo.com", "baz.bar.foo.com", "-"),
        ("*.foo.com", "foo.com", "-"),
        ("foo.bar.com", "foo.bar.com", "a"),
        ("foo.bar.com", "FOO.bar.com", "a"),
        ("foo.bar.com", "subdomain.bar.com", "-"),
        ("", "any.test", "a"),
    ] {
        assert_eq!(answer(&[plain("web", host, &["/ P a"])], request, "/x"), expected, "{host} {request}");
    }
    let both = [plain("wild", "*.foo.com", &["/ P wild"]), plain("exact", "bar.foo.com", &["/ P exact"])];
    assert_eq!(answer(&both, "bar.foo.com", "/"), "exact");
    assert_eq!(answer(&both, "baz.foo.com", "/"), "wild");
}

#[test]
fn unmatched_requests_go_to_the_default_backend_and_the_older_ingress_wins() {
    let default = Ingress { default: Some("rest".into()), ..plain("web", "a.test", &["/a P a"]) };
    for (host, path, expected) in [("a.test", "/a", "a"), ("a.test", "/b", "rest"), ("b.test", "/a", "rest")]
    {
        assert_eq!(answer(std::slice::from_ref(&default), host, path), expected, "{host} {path}");
    }
    let young = Ingress { day: Some(2), ..plain("a", "a.test", &["/ P young"]) };
    let old = Ingress { day: Some(1), ..plain("b", "a.test", &["/ P old"]) };
    assert_eq!(answer(&[young, old], "a.test", "/"), "old");
}
