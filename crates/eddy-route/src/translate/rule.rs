//! Translation of one rule to another dialect.

use super::OtherDialect;
use crate::rule::{HostPattern, KubernetesPrecedence, Missing, PathPattern, Rule, ValueMatch, ValueTest};

/// Translates a rule; `index` is its position in the files.
///
/// # Errors
/// The feature that the dialect does not support.
pub(super) fn translated_rule(rule: &Rule, index: usize, other: OtherDialect) -> Result<Rule, &'static str> {
    let mut rule = rule.clone();
    rule.hosts = rule.hosts.into_iter().map(|host| translate_host(host, other)).collect::<Result<_, _>>()?;
    rule.path = translate_path(rule.path, other)?;
    if rule.fraction.is_some() && other != OtherDialect::Envoy {
        return Err("a fraction of the requests");
    }
    if matches!(other, OtherDialect::Ingress | OtherDialect::Nginx) {
        let has_more = !rule.methods.is_empty() || !rule.headers.is_empty() || !rule.query.is_empty();
        if has_more {
            return Err("a condition on anything but host and path");
        }
    }
    rule.headers.iter().try_for_each(|test| check_value_translatable(test, other))?;
    rule.query.iter().try_for_each(|test| check_value_translatable(test, other))?;
    rule.claim = (other == OtherDialect::GatewayApi).then(|| claim_of(&rule));
    rule.rank = match other {
        OtherDialect::Nginx => Some(nginx_rank(&rule.path, index)),
        OtherDialect::Eddy => rule.rank,
        OtherDialect::Envoy | OtherDialect::GatewayApi | OtherDialect::Ingress | OtherDialect::Istio => None,
    };
    // The forwarded path does not influence which rule wins.
    rule.rewrite = None;
    Ok(rule)
}

fn translate_host(host: HostPattern, other: OtherDialect) -> Result<HostPattern, &'static str> {
    match (host, other) {
        (host @ (HostPattern::Any | HostPattern::Exact(_)), _) => Ok(host),
        (HostPattern::Suffix(_), OtherDialect::Ingress) => Err("a wildcard for any number of labels"),
        // There, `*` matches at least one byte, in one label or several.
        (HostPattern::Suffix(name), OtherDialect::Envoy | OtherDialect::Istio) => {
            Ok(HostPattern::ByteSuffix(format!(".{}", name.trim_start_matches("*."))))
        }
        (host @ HostPattern::Suffix(_), _) => Ok(host),
        (host @ HostPattern::OneLabel(_), OtherDialect::Ingress | OtherDialect::Nginx) => Ok(host),
        (HostPattern::OneLabel(_), _) => Err("a wildcard for one label"),
        (host @ (HostPattern::ByteSuffix(_) | HostPattern::BytePrefix(_)), OtherDialect::Envoy) => Ok(host),
        (HostPattern::ByteSuffix(_) | HostPattern::BytePrefix(_), _) => {
            Err("a wildcard that is not a whole leading label")
        }
    }
}

fn translate_path(path: PathPattern, other: OtherDialect) -> Result<PathPattern, &'static str> {
    use OtherDialect::{Eddy, Envoy, GatewayApi, Ingress, Istio, Nginx};
    match (path, other) {
        (PathPattern::Any, GatewayApi | Ingress) => Ok(PathPattern::Prefix("/".to_owned())),
        (path @ (PathPattern::Any | PathPattern::Exact(_) | PathPattern::Prefix(_)), _) => Ok(path),
        (PathPattern::Regex(_), Ingress) => Err("a regular expression for the path"),
        (path @ PathPattern::Regex(_), _) => Ok(path),
        (path @ PathPattern::BytePrefix(_), Envoy | Istio | Nginx) => Ok(path),
        (PathPattern::BytePrefix(_), Eddy | GatewayApi | Ingress) => {
            Err("a prefix that ends within a segment")
        }
        (path @ PathPattern::Caseless(_), Envoy | Istio) => Ok(path),
        (PathPattern::Caseless(_), Eddy | GatewayApi | Ingress | Nginx) => Err("a case-insensitive path"),
        (path @ PathPattern::Search(_), Envoy | Istio | Nginx) => Ok(path),
        (PathPattern::Search(_), Eddy | GatewayApi | Ingress) => {
            Err("a regular expression that matches part of the path")
        }
        (path @ PathPattern::Template(_), Eddy | Envoy) => Ok(path),
        (PathPattern::Template(_), GatewayApi | Ingress | Istio | Nginx) => Err("a path template"),
    }
}

fn check_value_translatable(value: &ValueMatch, other: OtherDialect) -> Result<(), &'static str> {
    let ValueMatch { test, is_caseless, is_inverted, missing, .. } = value;
    let is_plain = !is_caseless && !is_inverted && *missing == Missing::Fails;
    let can_be_said = match other {
        OtherDialect::Envoy => true,
        OtherDialect::Eddy => is_plain && !matches!(test, ValueTest::Range(..)),
        OtherDialect::GatewayApi => is_plain && matches!(test, ValueTest::Exact(_) | ValueTest::Regex(_)),
        OtherDialect::Istio => !is_caseless && !matches!(test, ValueTest::Range(..)),
        OtherDialect::Ingress | OtherDialect::Nginx => false,
    };
    if can_be_said { Ok(()) } else { Err("this test of a header or query parameter") }
}

/// Returns the ordering criteria of a rule as if it was written in a single Gateway API route.
fn claim_of(rule: &Rule) -> KubernetesPrecedence {
    KubernetesPrecedence {
        is_grpc: false,
        path_len: u32::try_from(rule.path.text_len()).unwrap_or(u32::MAX),
        method_len: 0,
        created: None,
        object: "".into(),
    }
}

/// Returns the rank: NGINX prefers an exact path, then the first matching expression in file order, then the longest
/// prefix.
fn nginx_rank(path: &PathPattern, index: usize) -> i32 {
    match path {
        PathPattern::Exact(_) => 0,
        PathPattern::Regex(_) | PathPattern::Search(_) => i32::try_from(index + 1).unwrap_or(i32::MAX - 1),
        PathPattern::Any
        | PathPattern::Prefix(_)
        | PathPattern::BytePrefix(_)
        | PathPattern::Caseless(_)
        | PathPattern::Template(_) => i32::MAX,
    }
}
