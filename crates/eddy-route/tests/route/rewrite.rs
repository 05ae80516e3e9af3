//! Rewrites: resulting paths, and that none of them is unsafe.

use eddy_route::{PathForm, RewriteFault, RouteScratch, Router, normalise};
use proptest::prelude::*;

use crate::notation::{router, tables};
use crate::request::RouteTestRequest;

/// Returns the path that the router's only rule produces; `None` if it does not change it.
fn rewritten(router: &Router, path: &str) -> Result<Option<String>, RewriteFault> {
    RouteTestRequest::get("t", path).with(|request| {
        let mut scratch = RouteScratch::new();
        let found = router.lookup(request, &mut scratch).unwrap();
        let mut out = b"left over".to_vec();
        let is_new = found.rewrite(request.path, &mut scratch, &mut out)?;
        assert!(!is_new || found.rule.has_rewrite());
        Ok(is_new.then(|| String::from_utf8(out).unwrap()))
    })
}

fn check(rule: &str, cases: &[(&str, &str)]) {
    let router = router(&format!("rule: {rule}"));
    for (path, expected) in cases {
        assert_eq!(rewritten(&router, path), Ok(Some((*expected).to_owned())), "{path} by {rule}");
    }
}

#[test]
fn prefixes_are_replaced_by_segment() {
    for rule in
        ["prefix=/user/ to-prefix=/new/", "prefix=/user to-prefix=/new", "prefix=/user/ to-prefix=/new"]
    {
        check(rule, &[("/user", "/new"), ("/user/", "/new/"), ("/user/a//b", "/new/a//b")]);
    }
    check("prefix=/user to-prefix=/", &[("/user", "/"), ("/user/", "/"), ("/user/a", "/a")]);
    check("prefix=/ to-prefix=/v1", &[("/", "/v1/"), ("/a", "/v1/a"), ("", "/v1/")]);
    check("to-prefix=/v1", &[("/a", "/v1/a")]);
}

#[test]
fn captures_are_put_into_new_paths() {
    check(
        "template=/u/{id}/{rest...} to=/new/{rest}/of/{id}",
        &[("/u/1/a/b", "/new/a/b/of/1"), ("/u/1", "/new//of/1")],
    );
    check("template=/u/{id} to=/{id}/{id}", &[("/u/a%20b", "/a%20b/a%20b")]);
    check(
        "regex=/(?<year>\\d+)-(\\d+)(x)? to=/{year}/{2}/{3}",
        &[("/2024-05", "/2024/05/"), ("/1-2x", "/1/2/x")],
    );
    check("exact=/a to=/b%c3", &[("/a", "/b%C3")]);
}

#[test]
fn parameters_that_are_not_matched_are_kept() {
    for (rule, path, expected) in [
        ("exact=/a/b to-matched=/n", "/a/b;p", Some("/n;p")),
        ("exact=/a/b to-matched=/n", "/a;p/b", None),
        ("byte-prefix=/a to-matched=/n", "/a/b;p", Some("/n/b;p")),
        ("byte-prefix=//a to-matched=/n", "/;p/a/b", None),
        ("regex=/a/. to-matched=/n", "/a/b;p", Some("/n")),
    ] {
        let mut tables = tables(&format!("table t as envoy\nrule: {rule}"));
        tables[0].reading.path = PathForm::WithoutParameters;
        let router = Router::build(&tables).unwrap();
        assert_eq!(rewritten(&router, path), Ok(expected.map(str::to_owned)), "{path} by {rule}");
    }
}

#[test]
fn rules_without_rewrite_keep_the_path() {
    assert_eq!(rewritten(&router("rule: prefix=/"), "/a"), Ok(None));
    assert_eq!(rewritten(&router("rule: to-prefix=/v1"), "*"), Ok(None));
    assert_eq!(rewritten(&router("rule: to=/v1"), "*"), Ok(None));
}

#[test]
fn rewrites_that_change_the_meaning_of_the_path_are_refused() {
    let dots = router("rule: regex=/x([.]+)y to=/files/{1}");
    assert_eq!(rewritten(&dots, "/x..y"), Err(RewriteFault::NotNormal));
    assert_eq!(rewritten(&dots, "/x...y"), Ok(Some("/files/...".to_owned())));
    let halves = router("rule: regex=/(%)(.)(.)(.*) to=/{1}{3}{2}{4}");
    assert_eq!(rewritten(&halves, "/%20"), Ok(Some("/%02".to_owned())));
    assert_eq!(rewritten(&halves, "/%F2x"), Err(RewriteFault::NotNormal), "an encoded slash comes about");
    assert_eq!(rewritten(&halves, "/%14"), Err(RewriteFault::NotNormal), "an encoded letter comes about");
    let cut = router("rule: regex=/(.)(.*) to=/{1}");
    assert_eq!(rewritten(&cut, "/%20"), Err(RewriteFault::NotNormal));
}

#[test]
fn long_results_are_refused() {
    let router = router("rule: template=/{a} to=/{a}{a}{a}");
    let path = format!("/{}", "a".repeat(6_000));
    assert_eq!(rewritten(&router, &path), Err(RewriteFault::TooLong));
    assert_eq!(RewriteFault::TooLong.reason(), "rewrite_too_long");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rewritten_paths_are_always_normal(path in "/(%20|%C3|%25|[.]|;|/|a|%41|b){0,8}", rule in 0_usize..6) {
        let rules = [
            "regex=/(.*)(.)(.*) to=/{2}{1}/{3}",
            "regex=/(.{0,3})(.*) to=/x/{1}/{2}",
            "regex=(.*) to=/{1}",
            "template=/{a}/{rest...} to=/{rest}{a}",
            "prefix=/a to-prefix=/",
            "regex=/([^%]*)%(.*) to=/{1}/{2}",
        ];
        let mut normal = Vec::new();
        let path = match normalise::eddy(path.as_bytes(), &mut normal) {
            Ok(normalise::Normal::AsIs) => path,
            Ok(normalise::Normal::Changed) => String::from_utf8(normal).unwrap(),
            Err(_) => return Ok(()),
        };
        let router = router(&format!("rule: {}\nelse:", rules[rule]));
        if let Ok(Some(sent)) = rewritten(&router, &path) {
            prop_assert_eq!(normalise::check(sent.as_bytes()), Ok(normalise::Normal::AsIs), "{}", sent);
        }
    }
}
