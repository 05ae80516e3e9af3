//! Conversion of VirtualService matches into rules.

use eddy_check::{ConditionPositions, RulePositions};
use eddy_ids::Shared;
use eddy_route::{
    CaselessPath, HostPattern, Missing, PathPattern, Rule, SourceLocation, ValueMatch, ValueTest,
};
use eddy_spec::problem::{ProblemReport, SourceSpan};
use eddy_spec::read::Spanned;

use super::gateway::IstioServer;
use super::service::gateway_name;
use super::spec::{MatchSpec, Tests, TextMatchSpec};
use crate::envoy::translated;
use crate::kubernetes::ApiText;

/// Whether a match can hold for requests at a server, as far as that is known when the routes are built.
pub(super) fn is_for(spec: &MatchSpec, server: &IstioServer, namespace: &Shared<str>) -> bool {
    if spec.port.as_ref().is_some_and(|port| port.value.to_u16() != server.port) {
        return false;
    }
    let gateways = spec.gateways.as_ref().map_or(&[][..], |gateways| &gateways.value);
    if !gateways.is_empty() {
        return gateways.iter().any(|gateway| {
            gateway_name(&gateway.value.0, namespace).is_some_and(|name| name == server.gateway)
        });
    }
    // Present only in lenient mode; otherwise these were rejected.
    spec.source_labels.is_none() && spec.source_namespace.is_none()
}

/// Returns a rule for a match, or for all requests when there is none.
pub(super) fn rule_of(
    spec: Option<&Spanned<MatchSpec>>,
    name: String,
    origin: SourceLocation,
    place: SourceSpan,
    report: &mut ProblemReport,
) -> (Rule, RulePositions) {
    let mut rule = Rule::new(&name, origin);
    rule.path = PathPattern::BytePrefix("/".to_owned());
    let mut places = ConditionPositions::default();
    let Some(Spanned { value: spec, .. }) = spec else {
        return (rule, RulePositions { rule: place, conditions: places, rewrite: None });
    };
    if let Some(uri) = &spec.uri {
        places.path = Some(uri.place);
        rule.path = path_of(&uri.value, spec.ignores_case.as_ref().is_some_and(|flag| flag.value));
    }
    match spec.method.as_ref().and_then(|method| method.value.exact.as_ref()) {
        Some(method) => {
            places.method = Some(method.place);
            rule.methods.push(method.value.0.to_string());
        }
        None => add_test(":method", spec.method.as_ref(), &mut rule.headers, &mut places.headers),
    }
    add_test(":authority", spec.authority.as_ref(), &mut rule.headers, &mut places.headers);
    add_test(":scheme", spec.scheme.as_ref(), &mut rule.headers, &mut places.headers);
    add_tests(spec.headers.as_ref(), &mut rule.headers, &mut places.headers, report);
    let first = rule.headers.len();
    add_tests(spec.without_headers.as_ref(), &mut rule.headers, &mut places.headers, report);
    rule.headers.iter_mut().skip(first).for_each(invert);
    add_tests(spec.query.as_ref(), &mut rule.query, &mut places.query, report);
    (rule, RulePositions { rule: place, conditions: places, rewrite: None })
}

/// Whether a rule matches all requests of its hosts; such rules come last.
pub(super) fn is_catch_all(rule: &Rule) -> bool {
    let is_any = match &rule.path {
        PathPattern::BytePrefix(prefix) | PathPattern::Caseless(CaselessPath::BytePrefix(prefix)) => {
            prefix == "/"
        }
        PathPattern::Regex(expression) => expression == ".*",
        PathPattern::Any => true,
        PathPattern::Exact(_)
        | PathPattern::Prefix(_)
        | PathPattern::Caseless(CaselessPath::Exact(_) | CaselessPath::Prefix(_))
        | PathPattern::Search(_)
        | PathPattern::Template(_) => false,
    };
    is_any && rule.methods.is_empty() && rule.headers.is_empty() && rule.query.is_empty()
}

/// Returns the host pattern for a host of a Gateway or VirtualService.
pub(super) fn host_pattern(host: &str) -> HostPattern {
    match host.strip_prefix('*') {
        Some("") => HostPattern::Any,
        Some(rest) => HostPattern::Suffix(rest.strip_prefix('.').unwrap_or(rest).to_owned()),
        None => HostPattern::Exact(host.to_owned()),
    }
}

fn path_of(spec: &TextMatchSpec, ignores_case: bool) -> PathPattern {
    let text = |text: &Spanned<ApiText>| text.value.0.to_string();
    match (&spec.exact, &spec.prefix, &spec.regex) {
        (Some(exact), ..) if ignores_case => PathPattern::Caseless(CaselessPath::Exact(text(exact))),
        (Some(exact), ..) => PathPattern::Exact(text(exact)),
        (None, Some(prefix), _) if ignores_case => {
            PathPattern::Caseless(CaselessPath::BytePrefix(text(prefix)))
        }
        (None, Some(prefix), _) => PathPattern::BytePrefix(text(prefix)),
        (None, None, Some(regex)) => PathPattern::Regex(translated(&regex.value.0)),
        (None, None, None) => PathPattern::BytePrefix("/".to_owned()),
    }
}

fn add_tests(
    tests: Option<&Spanned<Tests>>,
    list: &mut Vec<ValueMatch>,
    places: &mut Vec<SourceSpan>,
    report: &mut ProblemReport,
) {
    for entry in tests.into_iter().flat_map(|tests| &tests.value.0) {
        let name = &*entry.name.value.0;
        if name.starts_with("@request.auth.") {
            report
                .objection(entry.name.place, "matching on token claims is not supported")
                .hint("let a filter verify the token and set a header, and match that header");
            continue;
        }
        add_test(name, entry.value.as_ref(), list, places);
    }
}

fn add_test(
    name: &str,
    test: Option<&Spanned<TextMatchSpec>>,
    list: &mut Vec<ValueMatch>,
    places: &mut Vec<SourceSpan>,
) {
    if let Some(Spanned { value, place }) = test {
        list.push(ValueMatch::new(name, test_of(value)));
        places.push(*place);
    }
}

/// Returns the test of a value. A `regex` of `*` is not an expression: it means that the value is present.
fn test_of(spec: &TextMatchSpec) -> ValueTest {
    let text = |text: &Spanned<ApiText>| text.value.0.to_string();
    match (&spec.exact, &spec.prefix, &spec.regex) {
        (Some(exact), ..) => ValueTest::Exact(text(exact)),
        (None, Some(prefix), _) => ValueTest::Prefix(text(prefix)),
        (None, None, Some(regex)) if &*regex.value.0 == "*" => ValueTest::Present,
        (None, None, Some(regex)) => ValueTest::Regex(translated(&regex.value.0)),
        (None, None, None) => ValueTest::Present,
    }
}

/// Negates a test; a missing value counts as empty.
fn invert(test: &mut ValueMatch) {
    if test.test == ValueTest::Present {
        test.test = ValueTest::Absent;
    } else {
        test.is_inverted = true;
        test.missing = Missing::IsEmpty;
    }
}
