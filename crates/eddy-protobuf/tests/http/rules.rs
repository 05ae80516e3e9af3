//! HTTP rules from descriptors.

use eddy_protobuf::{HttpIndexOptions, HttpRouteLookup};

use crate::descriptors::{TestHttpRule, index};
use crate::{library, library_with, route};

fn problems(rules: &[TestHttpRule<'_>]) -> Vec<String> {
    index(rules).unwrap_err().iter().map(ToString::to_string).collect()
}

#[test]
fn invalid_http_rules_are_reported_with_their_method() {
    let get = |path| TestHttpRule(2, path, "", "", &[]);
    let check = |rule: TestHttpRule<'_>, expected: &str| assert_eq!(problems(&[rule]), [expected]);
    check(get("/{b}"), "t.S.M0 (/{b}): \"b\" is not a field of t.M");
    check(get("/{m.x}"), "t.S.M0 (/{m.x}): \"x\" is not a field of t.M");
    check(
        get("/{r}"),
        "t.S.M0 (/{r}): the field \"r\" can't be set from the path: it is repeated, or a message",
    );
    check(
        get("/{m}"),
        "t.S.M0 (/{m}): the field \"m\" can't be set from the path: it is repeated, or a message",
    );
    check(
        get("/{a.n}"),
        "t.S.M0 (/{a.n}): the field \"a.n\" can't be set from the path: it is repeated, or a message",
    );
    check(get("/{a}/{a}"), "t.S.M0 (/{a}/{a}): the field \"a\" occurs twice in the path");
    check(
        get("a"),
        "t.S.M0 (a): the path is not a valid template: a template begins with a slash (at byte 0)",
    );
    check(TestHttpRule(0, "", "*", "", &[]), "t.S.M0: a rule has no path");
    check(TestHttpRule(4, "/a", "b", "", &[]), "t.S.M0 (/a): \"b\" is not a field of t.M");
    check(TestHttpRule(4, "/a", "", "b", &[]), "t.S.M0 (/a): \"b\" is not a field of t.M");
    check(
        TestHttpRule(4, "/{a}", "a", "", &[]),
        "t.S.M0 (/{a}): the field \"a\" is in the path, so it can't be the body",
    );
    let nested = [TestHttpRule(2, "/b", "", "", &[TestHttpRule(2, "/c", "", "", &[])])];
    check(
        TestHttpRule(2, "/a", "", "", &nested),
        "t.S.M0 (/b): a binding of additional_bindings has additional_bindings itself",
    );
    let conflicts = problems(&[
        get("/{a}/x"),
        get("/{m.a}/x"),
        get("/y/{a=**}"),
        TestHttpRule(8, "/y/**", "", "", &[]),
        get("/y/**"),
    ]);
    assert_eq!(
        conflicts,
        [
            "t.S.M1 (/{m.a}/x): the rule matches the same requests as /t.S/M0",
            "t.S.M4 (/y/**): the rule matches the same requests as /t.S/M2"
        ],
    );
    // All problems are reported at once.
    assert_eq!(problems(&[get("/{b}"), get("/ok"), get("x")]).len(), 2);
}

#[test]
fn services_are_selected_by_name() {
    let descriptors = include_bytes!("../../../../examples/transcoding/library.binpb");
    let schema = eddy_protobuf::Schema::from_descriptors(descriptors).unwrap();
    let options =
        HttpIndexOptions { services: vec!["library.v1.Libary".to_owned()], ..HttpIndexOptions::default() };
    let errors = eddy_protobuf::HttpIndex::new(schema.into(), options).unwrap_err();
    assert_eq!(
        errors.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["library.v1.Libary: the descriptors do not define this service; they define: library.v1.Library"],
    );
}

#[test]
fn literal_segments_take_precedence_over_variables() {
    let get = |path| TestHttpRule(2, path, "", "", &[]);
    let index = index(&[
        get("/a/{a}"),
        get("/a/b"),
        get("/a/{a=**}"),
        get("/a/{a}/c"),
        get("/a/b/d"),
        get("/{a=**}:go"),
        get("/a/{a}:go"),
        TestHttpRule(4, "/a/b/c", "*", "", &[]),
    ])
    .unwrap();
    let check = |path: &str, expected: Option<&str>| {
        let found = match index.find("GET", path.as_bytes()) {
            HttpRouteLookup::Route(route) => Some(&*route.template),
            HttpRouteLookup::Methods(_) | HttpRouteLookup::None => None,
        };
        assert_eq!(found, expected, "{path}");
    };
    check("/a/b", Some("/a/b"));
    check("/a/%62", Some("/a/b"));
    check("/a/x", Some("/a/{a}"));
    check("/a/", Some("/a/{a=**}"));
    check("/a", Some("/a/{a=**}"));
    check("/a/b/d", Some("/a/b/d"));
    // Backtracks from a branch that does not match.
    check("/a/b/c", Some("/a/{a}/c"));
    check("/a/b/e/f", Some("/a/{a=**}"));
    check("/x/y:go", Some("/{a=**}:go"));
    check("/a/x:go", Some("/a/{a}:go"));
    check("/a/x:stop", Some("/a/{a}"));
    check("/a/:go", Some("/a/{a}"));
    check("/b", None);
    check("a/b", None);
    check("", None);
}

#[test]
fn allowed_methods_of_a_path_are_listed() {
    let index = library();
    let HttpRouteLookup::Methods(methods) = index.find("POST", b"/v1/shelves/1/books/2") else { panic!() };
    assert_eq!(methods, ["DELETE", "GET", "PATCH", "PUT"]);
    assert!(matches!(index.find("GET", b"/v2"), HttpRouteLookup::None));
    assert_eq!(&*route(&index, "PURGE", "/v1/cache").path, "/library.v1.Library/PurgeCache");
    assert!(matches!(index.find("POST", b"/library.v1.Library/CountBooks"), HttpRouteLookup::None));
    let index =
        library_with(HttpIndexOptions { has_methods_without_rule: true, ..HttpIndexOptions::default() });
    assert_eq!(
        &*route(&index, "POST", "/library.v1.Library/CountBooks").path,
        "/library.v1.Library/CountBooks"
    );
    assert!(matches!(index.find("POST", b"/library.v1.Library/GetBook"), HttpRouteLookup::None));
}
