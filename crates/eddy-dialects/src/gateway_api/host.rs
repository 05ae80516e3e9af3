//! Hostnames of listeners and routes, and their intersections.

use eddy_route::HostPattern;
use eddy_spec::problem::{ProblemReport, shown};
use eddy_spec::read::Spanned;

use crate::kubernetes::{ApiText, subdomain_fault};

/// Reads a hostname as the API defines it; an invalid one is reported.
pub(super) fn read_host(text: &Spanned<ApiText>, report: &mut ProblemReport) -> Option<HostPattern> {
    let written = &*text.value.0;
    let (name, is_wildcard) = match written.strip_prefix("*.") {
        Some(name) => (name, true),
        None => (written, false),
    };
    let is_address = name.split('.').all(|label| label.bytes().all(|byte| byte.is_ascii_digit()));
    if subdomain_fault(name).is_some() || is_address {
        let message = format!("`{}` is not a valid hostname", shown(written));
        report
            .error(text.place, message)
            .hint("write it in lower case and without a port, such as `www.example.com` or `*.example.com`");
        return None;
    }
    Some(if is_wildcard { HostPattern::Suffix(name.to_owned()) } else { HostPattern::Exact(name.to_owned()) })
}

/// Returns the hosts that are in both patterns, or `None` when there are none.
pub(super) fn intersection(a: &HostPattern, b: &HostPattern) -> Option<HostPattern> {
    if covers(a, b) {
        Some(b.clone())
    } else if covers(b, a) {
        Some(a.clone())
    } else {
        None
    }
}

/// Whether `outer` contains every host of `inner`. Of two hostnames, one contains the other or they are disjoint.
pub(super) fn covers(outer: &HostPattern, inner: &HostPattern) -> bool {
    match (outer, inner) {
        (HostPattern::Any, _) => true,
        (HostPattern::Exact(outer), HostPattern::Exact(inner)) => outer == inner,
        (HostPattern::Suffix(outer), HostPattern::Exact(inner)) => is_below(inner, outer),
        (HostPattern::Suffix(outer), HostPattern::Suffix(inner)) => inner == outer || is_below(inner, outer),
        _ => false,
    }
}

fn is_below(name: &str, domain: &str) -> bool {
    name.strip_suffix(domain).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
}

/// Returns a hostname as it is written.
pub(super) fn host_text(host: &HostPattern) -> String {
    match host {
        HostPattern::Exact(name) => name.clone(),
        HostPattern::Suffix(name) => format!("*.{name}"),
        // Hostnames of the API are exact names, wildcards or any host.
        HostPattern::Any
        | HostPattern::OneLabel(_)
        | HostPattern::ByteSuffix(_)
        | HostPattern::BytePrefix(_) => "any host".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use eddy_route::HostPattern;

    use super::intersection;

    #[test]
    fn hostnames_intersect_as_the_api_specifies() {
        let host = |text: &str| match text.strip_prefix("*.") {
            _ if text.is_empty() => HostPattern::Any,
            Some(name) => HostPattern::Suffix(name.to_owned()),
            None => HostPattern::Exact(text.to_owned()),
        };
        let check = |a: &str, b: &str, expected: Option<&str>| {
            let expected = expected.map(host);
            assert_eq!(intersection(&host(a), &host(b)), expected, "{a} and {b}");
            assert_eq!(intersection(&host(b), &host(a)), expected, "{b} and {a}");
        };
        check("", "", Some(""));
        check("", "*.a.b", Some("*.a.b"));
        check("test.example.com", "*.example.com", Some("test.example.com"));
        check("foo.test.example.com", "*.example.com", Some("foo.test.example.com"));
        check("example.com", "*.example.com", None);
        check("test.example.net", "*.example.com", None);
        check("*.test.example.com", "*.example.com", Some("*.test.example.com"));
        check("*.example.com", "*.example.com", Some("*.example.com"));
        check("*.ample.com", "*.example.com", None);
        check("a.b", "a.c", None);
    }
}
