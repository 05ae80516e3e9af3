//! Host names of Istio objects.

use eddy_spec::problem::{ProblemReport, SourceSpan, shown};
use eddy_spec::value::ObjectName;

/// Returns the host in lower case; an invalid one is reported.
pub(super) fn check_host(host: &str, place: SourceSpan, report: &mut ProblemReport) -> Option<String> {
    let bare = host.strip_prefix("*.").unwrap_or(host);
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let is_name = !bare.is_empty()
        && bare.len() <= 253
        && bare
            .trim_end_matches('.')
            .split('.')
            .all(|label| !label.is_empty() && label.bytes().all(is_letter));
    if host != "*" && !is_name {
        let message = format!("`{}` is not a valid host: write a name, `*`, or `*.` and a name", shown(host));
        report.error(place, message);
        return None;
    }
    Some(host.to_ascii_lowercase())
}

/// Returns the full name of a host; a short name is a Service of the namespace.
pub(super) fn full_name(host: &str, namespace: &str) -> String {
    let host = host.to_ascii_lowercase();
    if host.contains('.') || host == "*" { host } else { format!("{host}.{namespace}.svc.{DOMAIN}") }
}

/// Returns the Service of a full name.
pub(super) fn service_of(host: &str) -> Option<ObjectName> {
    let (name, rest) = host.split_once('.')?;
    let (namespace, domain) = rest.split_once('.')?;
    domain.starts_with("svc.").then(|| ObjectName { namespace: namespace.into(), name: name.into() })
}

/// Returns the narrower of two hosts, if one contains the other.
pub(super) fn intersection<'h>(one: &'h str, other: &'h str) -> Option<&'h str> {
    if is_within(one, other) {
        Some(one)
    } else if is_within(other, one) {
        Some(other)
    } else {
        None
    }
}

/// Whether every host of the first pattern matches the second.
fn is_within(one: &str, other: &str) -> bool {
    match (one.strip_prefix('*'), other.strip_prefix('*')) {
        (Some(one), Some(other)) => one.len() >= other.len() && one.ends_with(other),
        (None, Some(other)) => one.ends_with(other),
        (Some(_), None) => false,
        (None, None) => one == other,
    }
}

/// Cluster domain, as Istio and most clusters use it.
const DOMAIN: &str = "cluster.local";
