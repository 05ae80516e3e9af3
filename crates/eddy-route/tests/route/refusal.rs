//! Rejected rules: the problem, its location, and that all problems are reported at once.

use eddy_route::{PathPattern, RouteProblem, Router};

use crate::notation::{empty_rule, tables};

/// Returns the messages of all problems of these rules.
fn messages(rules: &str) -> Vec<String> {
    let errors = Router::build(&tables(rules)).unwrap_err();
    for error in &errors {
        assert!(error.hint().len() > 10, "every problem has a hint");
        assert!(!error.to_string().ends_with('.'));
    }
    errors.iter().map(ToString::to_string).collect()
}

fn check(rule: &str, expected: &str) {
    assert_eq!(
        messages(&format!("rule: {rule}")),
        [format!("site.yaml:1: rule \"rule\": {expected}")],
        "{rule}"
    );
}

#[test]
fn hosts() {
    check("host=a.t:80", "\"a.t:80\" is not a host: it has a port, or is an IPv6 address without brackets");
    check("host=a..t", "\"a..t\" is not a host: it has an empty label");
    check("host=a.*.t", "\"a.*.t\" is not a host: a \"*\" may only be its first label");
    check("host=*.", "\"*.\" is not a host: it is empty");
    check("host=é.t", "\"é.t\" is not a host: it has bytes that are not allowed in a host name");
    check("host=[::g]", "\"[::g]\" is not a host: the brackets do not contain an IPv6 address");
    check(
        &format!("host={}", "a.".repeat(127) + "aa"),
        &format!("\"{}\" is not a host: it is longer than 253 bytes", "a.".repeat(127) + "aa"),
    );
    let sound = "a: host=[::1] host=127.0.0.1 host=a_b.t host=xn--a-b.t host=t.\nb: host=*.t host=*.t.";
    assert!(Router::build(&tables(sound)).is_ok());
}

#[test]
fn paths() {
    check("exact=a", "the path \"a\" can match no request: path_not_absolute");
    check("prefix=/a/../b", "the path \"/a/../b\" can match no request: path_dot_segment");
    check("exact=/é", "the path \"/é\" can match no request: path_non_ascii_byte");
    check("template=/a%2F/{b}", "the path \"/a%2F/{b}\" can match no request: path_encoded_slash");
    check("template=/v{b}", "the template \"/v{b}\" is not well formed: a capture must be a whole segment");
    check(
        "template=/{}",
        "the template \"/{}\" is not well formed: a capture name must consist of letters, digits and _",
    );
    check(
        "template=/{a}/{a}",
        "the template \"/{a}/{a}\" is not well formed: two captures have the same name",
    );
    check(
        "template=/{a...}/b",
        "the template \"/{a...}/b\" is not well formed: only the last capture may match the rest of the path",
    );
}

#[test]
fn regexes() {
    check("regex=/(", "the regular expression \"/(\" is not well formed: unclosed group at column 2");
    check(
        "regex=/(?=a)",
        "the regular expression \"/(?=a)\" is not well formed: look-around, including look-ahead and look-behind, is not supported at column 2",
    );
    check(
        "regex=/\\pL",
        "the regular expression \"/\\pL\" is not well formed: Unicode not allowed here at column 2",
    );
    check(
        "regex=/a{1,1000}{1,1000}",
        "the regular expression \"/a{1,1000}{1,1000}\" is too large when compiled",
    );
    check(
        "header=x:regex:[",
        "the regular expression \"[\" is not well formed: unclosed character class at column 1",
    );
}

#[test]
fn conditions() {
    check("method=G@T", "\"G@T\" is not a method");
    check("method=", "\"\" is not a method");
    check("header=a@b:present", "\"a@b\" is not a header name");
    check("query=:present", "a query match needs a name");
    let many = "header=x:present ".repeat(65);
    check(&many, "the rule has 65 header matches, more than 64");
}

#[test]
fn rewrites() {
    check("exact=/a to-prefix=/b", "a prefix rewrite needs a prefix path");
    check("to=/a?b", "the rewrite \"/a?b\" is not a path: it has a query or fragment");
    check("to=a", "the rewrite \"a\" is not a path: it must begin with \"/\"");
    check("to=/a/..", "the rewrite \"/a/..\" is not a path: requests with such a path are rejected");
    check("to=/{a", "the rewrite \"/{a\" is not a path: a \"{\" is not closed");
    check("to=/a}", "the rewrite \"/a}\" is not a path: a \"}\" has no matching \"{\"");
    check("to=/{a}", "the rewrite uses \"{a}\", which the path does not capture; it captures nothing");
    check(
        "template=/{b}/{c...} to=/{a}",
        "the rewrite uses \"{a}\", which the path does not capture; it captures {b}, {c}",
    );
    check(
        "regex=/(a)(?<b>c) to=/{0}",
        "the rewrite uses \"{0}\", which the path does not capture; it captures {1}, {b}",
    );
}

#[test]
fn all_problems_are_reported_in_file_order() {
    let problems = messages("one: host=a..t method=@ exact=x\nfine: exact=/\ntwo: regex=( header=@:present");
    let lines: Vec<&str> = problems.iter().map(|problem| problem.split(": rule").next().unwrap()).collect();
    assert_eq!(lines, ["site.yaml:1", "site.yaml:1", "site.yaml:1", "site.yaml:3", "site.yaml:3"]);
}

#[test]
fn a_control_byte_in_a_path_is_refused() {
    let mut rule = empty_rule("rule", 1);
    for path in ["/a\0", "/a\r\n", "/a b"] {
        rule.path = PathPattern::Exact(path.to_owned());
        let mut tables = tables("x:");
        tables[0].rules = vec![rule.clone()];
        let errors = Router::build(&tables).unwrap_err();
        assert!(matches!(errors[0].problem, RouteProblem::Path { .. }), "{path:?}");
    }
}
