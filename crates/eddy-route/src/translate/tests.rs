use super::{OtherDialect, translate};
use crate::normalise::{Normal, Normaliser};
use crate::rule::{
    Dialect, HostPattern, PathPattern, RouteTable, Rule, SourceLocation, ValueMatch, ValueTest,
};
use crate::{RouteRequest, RouteScratch, Router};

/// Creates a table from name, host (may be empty) and path of each rule, in order.
fn table(rules: &[(&str, &str, PathPattern)]) -> RouteTable {
    let mut table = RouteTable::new("site", Dialect::Eddy);
    for (line, (name, host, path)) in (1..).zip(rules) {
        let mut rule = Rule::new(name, SourceLocation { file: "a.yaml".into(), line });
        rule.hosts = match host.strip_prefix("*.") {
            _ if host.is_empty() => Vec::new(),
            Some(domain) => vec![HostPattern::Suffix(domain.to_owned())],
            None => vec![HostPattern::Exact((*host).to_owned())],
        };
        rule.path = path.clone();
        table.rules.push(rule);
    }
    table
}

/// Returns the winner of a request in each dialect, in the order of [`OtherDialect::ALL`]; `-` for none.
fn winners(table: &RouteTable, host: &str, path: &str) -> String {
    let mut normal = Vec::new();
    let path = match Normaliser::Eddy.apply(path.as_bytes(), &mut normal).unwrap() {
        Normal::AsIs => path.as_bytes(),
        Normal::Changed => &normal,
    };
    let winner = |other| {
        let router = Router::build(&[translate([table], other).table]).unwrap();
        let request = RouteRequest {
            host: host.split(':').next().unwrap().as_bytes(),
            authority: host.as_bytes(),
            path,
            target: path,
            scheme: b"http",
            method: b"GET",
            ..RouteRequest::default()
        };
        let mut scratch = RouteScratch::new();
        router
            .lookup(&request, &mut scratch)
            .map_or_else(|| "-".to_owned(), |found| found.rule.name.to_string())
    };
    OtherDialect::ALL.map(winner).join(" ")
}

fn prefix(path: &str) -> PathPattern {
    PathPattern::Prefix(path.to_owned())
}

#[test]
fn rules_follow_the_precedence_of_each_dialect() {
    let rules = table(&[
        ("all", "", prefix("/")),
        ("short", "", prefix("/a")),
        ("regex", "", PathPattern::Regex("/a/.*".to_owned())),
        ("long", "", prefix("/a/b")),
        ("exact", "", PathPattern::Exact("/a/b".to_owned())),
    ]);
    // eddy, envoy, gateway-api, ingress, istio, nginx.
    assert_eq!(winners(&rules, "x.test", "/a/b"), "exact all exact exact short exact");
    assert_eq!(winners(&rules, "x.test", "/a/b/c"), "long all regex long short regex");
    assert_eq!(winners(&rules, "x.test", "/c"), "all all all all all all");
}

#[test]
fn only_some_dialects_fall_through_to_less_specific_hosts() {
    let rules = table(&[("own", "www.x.test", prefix("/own")), ("other", "", prefix("/"))]);
    assert_eq!(winners(&rules, "www.x.test", "/other"), "other - - other - -");
    assert_eq!(winners(&rules, "www.x.test:80", "/own"), "own other own own own own");
}

#[test]
fn rules_that_a_dialect_cannot_express_are_reported() {
    let mut rules = table(&[
        ("template", "", PathPattern::Template("/a/{id}".to_owned())),
        ("wild", "*.x.test", prefix("/")),
        ("field", "", prefix("/")),
    ]);
    rules.rules[2].headers.push(ValueMatch::new("x-a", ValueTest::Prefix("b".to_owned())));
    let unsaid = |other| {
        let names = translate([&rules], other).unsaid;
        names.iter().map(|unsaid| unsaid.rule.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        OtherDialect::ALL.map(unsaid),
        ["", "", "template field", "template wild field", "template", "template field"]
    );
    let unsaid = translate([&rules], OtherDialect::Ingress).unsaid;
    assert_eq!(unsaid[1].reason, "a wildcard for any number of labels");
}
