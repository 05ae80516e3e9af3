//! Ingresses as the API says: the table of the Kubernetes page and the features of ingress-controller-conformance.

use eddy_config::{ActionKind, SourceText, check};
use eddy_route::{RouteRequest, RouteScratch, Router};

use crate::documented::ingress;
use crate::objects::{Ingress, manifests};

/// The Service that answers a request, or `-`.
fn answer(ingresses: &[Ingress], host: &str, path: &str) -> String {
    let text = manifests(ingresses, &crate::services(ingresses));
    let config = check(&[SourceText::new("manifests.yaml", &text)]).unwrap().config;
    let router = Router::build(&config.tables).unwrap();
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
    let ActionKind::Cluster(cluster) = &config.actions[found.rule.action as usize].kind else {
        panic!("{}", found.rule.name);
    };
    let name = &config.clusters[*cluster].name;
    name.trim_start_matches("default/").trim_end_matches(":80").to_owned()
}

fn plain(name: &str, host: &str, paths: &[&str]) -> Ingress {
    Ingress { class: "eddy", ..ingress(name, host, &[], paths) }
}

#[test]
fn paths_match_as_the_table_of_the_kubernetes_page_says() {
    for (paths, request, expected) in [
        (&["/ P a"][..], "/anything", "a"),
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
    ] {
        assert_eq!(
            answer(&[plain("web", "a.test", paths)], "a.test", request),
            expected,
            "{paths:?} {request}"
        );
    }
}

#[test]
fn hosts_match_as_the_kubernetes_page_and_the_conformance_features_say() {
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
fn what_no_rule_is_for_goes_to_the_default_backend_and_the_older_ingress_wins() {
    let default = Ingress { default: Some("rest".into()), ..plain("web", "a.test", &["/a P a"]) };
    for (host, path, expected) in [("a.test", "/a", "a"), ("a.test", "/b", "rest"), ("b.test", "/a", "rest")]
    {
        assert_eq!(answer(std::slice::from_ref(&default), host, path), expected, "{host} {path}");
    }
    let young = Ingress { day: Some(2), ..plain("a", "a.test", &["/ P young"]) };
    let old = Ingress { day: Some(1), ..plain("b", "a.test", &["/ P old"]) };
    assert_eq!(answer(&[young, old], "a.test", "/"), "old");
}
