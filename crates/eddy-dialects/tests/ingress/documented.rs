//! Examples of documentation, each with its source, and requests with the expected responses.
//!
//! Names of Services and hosts are those of the text. A Service responds with its name, the target and the host that it
//! got. Left out are examples of settings that eddy refuses, which `refused` tests, and those without routes: metrics,
//! logs, certificates and the controller itself.

use crate::objects::{Ingress, IngressHostRule, Path};

/// An example: its source, its Ingresses, and requests (host and target, with optional headers after a `;`) with the
/// expected responses.
pub(crate) struct IngressExample {
    pub(crate) source: &'static str,
    pub(crate) ingresses: Vec<Ingress>,
    pub(crate) answers: &'static [(&'static str, &'static str)],
}

/// Returns an Ingress of one host, with paths as `path type service`.
pub(crate) fn ingress(name: &str, host: &str, annotations: &[(&str, &str)], paths: &[&str]) -> Ingress {
    let paths = paths.iter().map(|line| {
        let mut words = line.split(' ');
        let mut next = || words.next().unwrap().to_owned();
        let (path, kind, service) = (next(), next(), next());
        let kind = ["Exact", "Prefix", "ImplementationSpecific"]
            .into_iter()
            .find(|known| known.starts_with(&*kind))
            .unwrap();
        Path { path, kind, service }
    });
    Ingress {
        name: name.into(),
        class: "nginx",
        annotations: annotations.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        rules: vec![IngressHostRule { host: host.into(), paths: paths.collect() }],
        ..Ingress::default()
    }
}

/// Returns the examples of ingress-nginx.
pub(crate) fn of_ingress_nginx() -> Vec<IngressExample> {
    vec![
        IngressExample {
            source: "examples/rewrite: rewrite target",
            ingresses: vec![ingress(
                "rewrite",
                "rewrite.bar.com",
                &[("use-regex", "true"), ("rewrite-target", "/$2")],
                &["/something(/|$)(.*) I http-svc"],
            )],
            answers: &[
                ("rewrite.bar.com /something", "200 default-http-svc-80 / rewrite.bar.com"),
                ("rewrite.bar.com /something/", "200 default-http-svc-80 / rewrite.bar.com"),
                ("rewrite.bar.com /something/new", "200 default-http-svc-80 /new rewrite.bar.com"),
                ("rewrite.bar.com /somethingelse", "404"),
            ],
        },
        IngressExample {
            source: "examples/rewrite: app root",
            ingresses: vec![ingress(
                "approot",
                "approot.bar.com",
                &[("app-root", "/app1")],
                &["/ P http-svc"],
            )],
            answers: &[
                ("approot.bar.com /", "302 -> http://approot.bar.com/app1"),
                ("approot.bar.com /app1", "200 default-http-svc-80 /app1 approot.bar.com"),
            ],
        },
        IngressExample {
            source: "ingress-path-matching: regular expression support",
            ingresses: vec![ingress(
                "test-ingress",
                "test.com",
                &[("use-regex", "true")],
                &["/foo/.* I test"],
            )],
            answers: &[
                ("test.com /foo/bar", "200 default-test-80 /foo/bar test.com"),
                ("test.com /FOO/bar", "200 default-test-80 /FOO/bar test.com"),
                ("test.com /foo", "404"),
            ],
        },
        IngressExample {
            source: "ingress-path-matching: path priority",
            ingresses: vec![
                ingress("test-ingress-1", "test.com", &[], &["/foo/bar P service1"]),
                ingress(
                    "test-ingress-2",
                    "test.com",
                    &[("rewrite-target", "/$1")],
                    &["/foo/bar/(.+) I service3"],
                ),
            ],
            answers: &[
                ("test.com /foo/bar/1", "200 default-service3-80 /1 test.com"),
                ("test.com /foo/bar/", "200 default-service1-80 /foo/bar/ test.com"),
                ("test.com /foo/bar", "200 default-service1-80 /foo/bar test.com"),
            ],
        },
        IngressExample {
            source: "ingress-path-matching: warning, use of regular expressions on one path for a whole host",
            ingresses: vec![ingress(
                "test-ingress-3",
                "test.com",
                &[("use-regex", "true")],
                &["/foo/bar/bar I test", "/foo/bar/[A-Z0-9]{3} I test"],
            )],
            answers: &[
                ("test.com /foo/bar/bar", "200 default-test-80 /foo/bar/bar test.com"),
                ("test.com /foo/bar/abc", "200 default-test-80 /foo/bar/abc test.com"),
                ("test.com /foo/bar/ab", "404"),
            ],
        },
        IngressExample {
            source: "Before You Migrate: regex matches are prefix-based and case-insensitive",
            ingresses: vec![ingress(
                "regex",
                "regex.test",
                &[("use-regex", "true")],
                &["/[A-Z]{3} I httpbin"],
            )],
            answers: &[
                ("regex.test /uuid", "200 default-httpbin-80 /uuid regex.test"),
                ("regex.test /UUI", "200 default-httpbin-80 /UUI regex.test"),
                ("regex.test /1abc", "404"),
            ],
        },
        IngressExample {
            source: "Before You Migrate: use-regex applies to all paths of a host across all Ingresses",
            ingresses: vec![
                ingress("regex", "all.test", &[("use-regex", "true")], &["/status/[0-9]+ I httpbin"]),
                ingress("exact", "all.test", &[], &["/Header E other"]),
            ],
            answers: &[("all.test /headers", "200 default-other-80 /headers all.test")],
        },
        IngressExample {
            source: "Before You Migrate: rewrite-target implies regex",
            ingresses: vec![
                ingress("rewrite", "implied.test", &[("rewrite-target", "/uuid")], &["/api P httpbin"]),
                ingress("exact", "implied.test", &[], &["/IP E other"]),
            ],
            answers: &[
                ("implied.test /ip/more", "200 default-other-80 /ip/more implied.test"),
                ("implied.test /apis", "200 default-httpbin-80 /uuid implied.test"),
            ],
        },
        IngressExample {
            source: "Before You Migrate: a missing trailing slash is redirected",
            ingresses: vec![ingress("slash", "slash.test", &[], &["/my-path/ E httpbin"])],
            answers: &[("slash.test /my-path", "301 -> http://slash.test/my-path/")],
        },
        IngressExample {
            source: "Before You Migrate: URLs are normalised before they are matched",
            ingresses: vec![ingress("normal", "normal.test", &[], &["/uuid E httpbin", "/a P other"])],
            answers: &[
                ("normal.test /ip/../uuid", "200 default-httpbin-80 /ip/../uuid normal.test"),
                ("normal.test ////uuid", "200 default-httpbin-80 ////uuid normal.test"),
                ("normal.test /%61/x", "200 default-other-80 /%61/x normal.test"),
            ],
        },
        IngressExample {
            source: "annotations: canary-by-header",
            ingresses: vec![
                ingress("main", "canary.test", &[], &["/ P prod"]),
                ingress(
                    "canary",
                    "canary.test",
                    &[("canary", "true"), ("canary-by-header", "X-Canary")],
                    &["/ P next"],
                ),
            ],
            answers: &[
                ("canary.test /;X-Canary: always", "200 default-next-80 / canary.test"),
                ("canary.test /;X-Canary: never", "200 default-prod-80 / canary.test"),
                ("canary.test /;X-Canary: other", "200 default-prod-80 / canary.test"),
            ],
        },
        IngressExample {
            source: "annotations: canary-by-header-value",
            ingresses: vec![
                ingress("main", "canary.test", &[], &["/ P prod"]),
                ingress(
                    "canary",
                    "canary.test",
                    &[("canary", "true"), ("canary-by-header", "region"), ("canary-by-header-value", "eu")],
                    &["/ P next"],
                ),
            ],
            answers: &[
                ("canary.test /;Region: eu", "200 default-next-80 / canary.test"),
                ("canary.test /;Region: always", "200 default-prod-80 / canary.test"),
            ],
        },
        IngressExample {
            source: "annotations: canary-by-header-pattern",
            ingresses: vec![
                ingress("main", "canary.test", &[], &["/ P prod"]),
                ingress(
                    "canary",
                    "canary.test",
                    &[
                        ("canary", "true"),
                        ("canary-by-header", "region"),
                        ("canary-by-header-pattern", "^eu-[0-9]+$"),
                    ],
                    &["/ P next"],
                ),
            ],
            answers: &[
                ("canary.test /;Region: eu-12", "200 default-next-80 / canary.test"),
                ("canary.test /;Region: eu", "200 default-prod-80 / canary.test"),
            ],
        },
        IngressExample {
            source: "annotations: canary-by-cookie",
            ingresses: vec![
                ingress("main", "canary.test", &[], &["/ P prod"]),
                ingress(
                    "canary",
                    "canary.test",
                    &[("canary", "true"), ("canary-by-cookie", "beta")],
                    &["/ P next"],
                ),
            ],
            answers: &[
                ("canary.test /;Cookie: beta=always", "200 default-next-80 / canary.test"),
                ("canary.test /;Cookie: beta=never", "200 default-prod-80 / canary.test"),
                ("canary.test /", "200 default-prod-80 / canary.test"),
            ],
        },
        IngressExample {
            source: "annotations: canary-weight for all requests",
            ingresses: vec![
                ingress("main", "canary.test", &[], &["/ P prod"]),
                ingress(
                    "canary",
                    "canary.test",
                    &[("canary", "true"), ("canary-weight", "100")],
                    &["/ P next"],
                ),
            ],
            answers: &[("canary.test /", "200 default-next-80 / canary.test")],
        },
        IngressExample {
            source: "annotations: canary-weight for no requests",
            ingresses: vec![
                ingress("main", "canary.test", &[], &["/ P prod"]),
                ingress(
                    "canary",
                    "canary.test",
                    &[("canary", "true"), ("canary-weight", "0")],
                    &["/ P next"],
                ),
            ],
            answers: &[("canary.test /", "200 default-prod-80 / canary.test")],
        },
        IngressExample {
            source: "annotations: precedence canary-by-header -> canary-by-cookie -> canary-weight",
            ingresses: vec![
                ingress("main", "canary.test", &[], &["/ P prod"]),
                ingress(
                    "canary",
                    "canary.test",
                    &[
                        ("canary", "true"),
                        ("canary-by-header", "x"),
                        ("canary-by-cookie", "x"),
                        ("canary-weight", "100"),
                    ],
                    &["/ P next"],
                ),
            ],
            answers: &[
                ("canary.test /;X: never", "200 default-prod-80 / canary.test"),
                ("canary.test /;X: other,Cookie: x=never", "200 default-prod-80 / canary.test"),
                ("canary.test /;X: always,Cookie: x=never", "200 default-next-80 / canary.test"),
                ("canary.test /", "200 default-next-80 / canary.test"),
            ],
        },
        IngressExample {
            source: "annotations: upstream-vhost",
            ingresses: vec![ingress(
                "vhost",
                "vhost.test",
                &[("upstream-vhost", "inner.test")],
                &["/ P web"],
            )],
            answers: &[("vhost.test /a", "200 default-web-80 /a inner.test")],
        },
        IngressExample {
            source: "annotations: permanent-redirect",
            ingresses: vec![ingress(
                "perm",
                "perm.test",
                &[("permanent-redirect", "https://www.google.com")],
                &["/ P web"],
            )],
            answers: &[("perm.test /a?b", "301 -> https://www.google.com")],
        },
        IngressExample {
            source: "annotations: permanent-redirect-code",
            ingresses: vec![ingress(
                "perm",
                "perm.test",
                &[("permanent-redirect", "https://www.google.com"), ("permanent-redirect-code", "308")],
                &["/ P web"],
            )],
            answers: &[("perm.test /", "308 -> https://www.google.com")],
        },
        IngressExample {
            source: "annotations: temporal-redirect",
            ingresses: vec![ingress(
                "temp",
                "temp.test",
                &[("temporal-redirect", "https://www.google.com")],
                &["/ P web"],
            )],
            answers: &[("temp.test /", "302 -> https://www.google.com")],
        },
        IngressExample {
            source: "annotations: temporal-redirect takes precedence over permanent-redirect",
            ingresses: vec![ingress(
                "both",
                "both.test",
                &[("temporal-redirect", "https://one.test"), ("permanent-redirect", "https://two.test")],
                &["/ P web"],
            )],
            answers: &[("both.test /", "302 -> https://one.test")],
        },
        IngressExample {
            source: "annotations: from-to-www-redirect to the host without www",
            ingresses: vec![ingress("www", "foo.test", &[("from-to-www-redirect", "true")], &["/ P web"])],
            answers: &[
                ("foo.test /a", "200 default-web-80 /a foo.test"),
                ("www.foo.test /a?b", "308 -> http://foo.test/a?b"),
                ("www.foo.test /a/", "308 -> http://foo.test/a"),
            ],
        },
        IngressExample {
            source: "annotations: from-to-www-redirect to the host with www",
            ingresses: vec![ingress(
                "www",
                "www.foo.test",
                &[("from-to-www-redirect", "true")],
                &["/ P web"],
            )],
            answers: &[("foo.test /a", "308 -> http://www.foo.test/a")],
        },
        IngressExample {
            source: "annotations: from-to-www-redirect with both hosts defined",
            ingresses: vec![
                ingress("www", "foo.test", &[("from-to-www-redirect", "true")], &["/ P web"]),
                ingress("other", "www.foo.test", &[], &["/ P other"]),
            ],
            answers: &[("www.foo.test /a", "200 default-other-80 /a www.foo.test")],
        },
        IngressExample {
            source: "annotations: server-alias",
            ingresses: vec![ingress(
                "alias",
                "alias.test",
                &[("server-alias", "one.test,two.test")],
                &["/ P web"],
            )],
            answers: &[
                ("one.test /", "200 default-web-80 / one.test"),
                ("two.test /", "200 default-web-80 / two.test"),
                ("three.test /", "404"),
            ],
        },
        IngressExample {
            source: "annotations: server-alias does not replace the host of another server",
            ingresses: vec![
                ingress("alias", "alias.test", &[("server-alias", "one.test")], &["/ P web"]),
                ingress("one", "one.test", &[], &["/ P other"]),
            ],
            answers: &[("one.test /", "200 default-other-80 / one.test")],
        },
        IngressExample {
            source: "annotations: force-ssl-redirect",
            ingresses: vec![ingress("force", "force.test", &[("force-ssl-redirect", "true")], &["/ P web"])],
            answers: &[
                ("force.test /a?b", "308 -> https://force.test/a?b"),
                ("force.test /a/", "308 -> https://force.test/a"),
            ],
        },
        IngressExample {
            source: "annotations: preserve-trailing-slash",
            ingresses: vec![ingress(
                "force",
                "force.test",
                &[("force-ssl-redirect", "true"), ("preserve-trailing-slash", "true")],
                &["/ P web"],
            )],
            answers: &[("force.test /a/", "308 -> https://force.test/a/")],
        },
        IngressExample {
            source: "annotations: ssl-redirect without a certificate",
            ingresses: vec![ingress("plain", "plain.test", &[("ssl-redirect", "true")], &["/ P web"])],
            answers: &[("plain.test /a", "200 default-web-80 /a plain.test")],
        },
        IngressExample {
            source: "annotations: backend-protocol, proxy timeouts, body size and buffering",
            ingresses: vec![ingress(
                "proxy",
                "proxy.test",
                &[
                    ("backend-protocol", "HTTP"),
                    ("proxy-connect-timeout", "10"),
                    ("proxy-read-timeout", "120"),
                    ("proxy-send-timeout", "120"),
                    ("proxy-body-size", "8m"),
                    ("proxy-buffering", "on"),
                    ("proxy-buffers-number", "4"),
                    ("proxy-buffer-size", "8k"),
                    ("proxy-http-version", "1.1"),
                    ("proxy-next-upstream", "error timeout http_502"),
                    ("proxy-next-upstream-tries", "2"),
                    ("proxy-redirect-from", "off"),
                    ("client-body-buffer-size", "1M"),
                ],
                &["/ P web"],
            )],
            answers: &[("proxy.test /a", "200 default-web-80 /a proxy.test")],
        },
        IngressExample {
            source: "annotations: load-balance",
            ingresses: vec![ingress("balance", "balance.test", &[("load-balance", "ewma")], &["/ P web"])],
            answers: &[("balance.test /a", "200 default-web-80 /a balance.test")],
        },
        IngressExample {
            source: "annotations: upstream-hash-by",
            ingresses: vec![ingress(
                "hash",
                "hash.test",
                &[("upstream-hash-by", "$request_uri")],
                &["/ P web"],
            )],
            answers: &[("hash.test /a?b", "200 default-web-80 /a?b hash.test")],
        },
        IngressExample {
            source: "annotations: proxy-redirect-from and proxy-redirect-to",
            ingresses: vec![ingress(
                "redirect",
                "redirect.test",
                &[
                    ("proxy-redirect-from", "http://inner.test/"),
                    ("proxy-redirect-to", "http://redirect.test/"),
                ],
                &["/ P web"],
            )],
            answers: &[("redirect.test /a", "200 default-web-80 /a redirect.test")],
        },
        IngressExample {
            source: "annotations: service-upstream",
            ingresses: vec![ingress(
                "service",
                "service.test",
                &[("service-upstream", "true")],
                &["/ P web"],
            )],
            answers: &[("service.test /a", "200 default-web-80 /a service.test")],
        },
        IngressExample {
            source: "annotations: x-forwarded-prefix with rewrite-target",
            ingresses: vec![ingress(
                "prefix",
                "prefix.test",
                &[("rewrite-target", "/$1"), ("x-forwarded-prefix", "/path")],
                &["/path/?(.*) I web"],
            )],
            answers: &[("prefix.test /path/a", "200 default-web-80 /a prefix.test")],
        },
        IngressExample {
            source: "annotations: enable-access-log, enable-rewrite-log and satisfy",
            ingresses: vec![ingress(
                "logs",
                "logs.test",
                &[("enable-access-log", "true"), ("enable-rewrite-log", "true"), ("satisfy", "any")],
                &["/ P web"],
            )],
            answers: &[("logs.test /a", "200 default-web-80 /a logs.test")],
        },
        IngressExample {
            source: "user-guide/basic-usage: host based routing",
            ingresses: vec![
                ingress("ingress-myservicea", "myservicea.foo.org", &[], &["/ P myservicea"]),
                ingress("ingress-myserviceb", "myserviceb.foo.org", &[], &["/ P myserviceb"]),
            ],
            answers: &[
                ("myservicea.foo.org /", "200 default-myservicea-80 / myservicea.foo.org"),
                ("myserviceb.foo.org /a", "200 default-myserviceb-80 /a myserviceb.foo.org"),
                ("other.foo.org /", "404"),
            ],
        },
        IngressExample {
            source: "user-guide/default-backend: requests that no host matches",
            ingresses: vec![
                ingress("web", "web.test", &[], &["/a P web"]),
                Ingress {
                    name: "all".into(),
                    class: "nginx",
                    default: Some("fallback".into()),
                    ..Ingress::default()
                },
            ],
            answers: &[("other.test /x", "200 default-fallback-80 /x other.test"), ("web.test /b", "404")],
        },
        IngressExample {
            source: "how-it-works: the default backend of an Ingress serves its hosts' other paths",
            ingresses: vec![Ingress {
                default: Some("own".into()),
                ..ingress("web", "web.test", &[], &["/a P web"])
            }],
            answers: &[("web.test /b", "200 default-own-80 /b web.test"), ("other.test /b", "404")],
        },
        IngressExample {
            source: "how-it-works: if two Ingresses have the same path and host, the older wins",
            ingresses: vec![
                Ingress { day: Some(2), ..ingress("a", "same.test", &[], &["/ P young"]) },
                Ingress { day: Some(1), ..ingress("b", "same.test", &[], &["/ P old"]) },
            ],
            answers: &[("same.test /", "200 default-old-80 / same.test")],
        },
        IngressExample {
            source: "how-it-works: a wildcard matches one label of a host",
            ingresses: vec![ingress("wild", "*.foo.test", &[], &["/ P web"])],
            answers: &[
                ("a.foo.test /", "200 default-web-80 / a.foo.test"),
                ("a.b.foo.test /", "404"),
                ("foo.test /", "404"),
            ],
        },
        IngressExample {
            source: "user-guide/ingress-path-matching: Exact and Prefix of one path",
            ingresses: vec![ingress("both", "both.test", &[], &["/foo E exact", "/foo P below"])],
            answers: &[
                ("both.test /foo", "200 default-exact-80 /foo both.test"),
                ("both.test /foo/", "200 default-below-80 /foo/ both.test"),
                ("both.test /foobar", "404"),
            ],
        },
    ]
}
