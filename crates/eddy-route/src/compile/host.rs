//! Hosts that rules serve, in one spelling and in order of how specific they are.

use std::cmp::Ordering;
use std::fmt;

use crate::error::RouteProblem;
use crate::rule::HostPattern;

/// A host pattern in its one spelling; the derived order means nothing but sameness.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum HostKey {
    /// A host in lower case, without a final dot.
    Exact(Box<str>),
    /// What the host ends in, with the dot before it: `.example.com`.
    Suffix(Box<str>),
    /// Every host.
    Any,
}

impl HostKey {
    pub(crate) fn check(pattern: &HostPattern) -> Result<Self, RouteProblem> {
        let (written, name) = match pattern {
            HostPattern::Any => return Ok(Self::Any),
            HostPattern::Exact(host) => (host, host.as_str()),
            HostPattern::Suffix(suffix) => {
                let below = suffix.strip_prefix('*').unwrap_or(suffix);
                (suffix, below.strip_prefix('.').unwrap_or(below))
            }
        };
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        if let Some(reason) = host_fault(&name) {
            return Err(RouteProblem::Host { host: written.clone(), reason });
        }
        Ok(match pattern {
            HostPattern::Suffix(_) => Self::Suffix(format!(".{name}").into_boxed_str()),
            HostPattern::Any | HostPattern::Exact(_) => Self::Exact(name.into_boxed_str()),
        })
    }

    /// Whether a folded host (see [`fold_host`]) is served.
    pub(crate) fn matches(&self, host: &[u8]) -> bool {
        match self {
            Self::Exact(exact) => host == exact.as_bytes(),
            Self::Suffix(suffix) => host.len() > suffix.len() && host.ends_with(suffix.as_bytes()),
            Self::Any => true,
        }
    }

    /// More specific hosts first: exact ones, then longer suffixes, then any; by text where no host is in both.
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Exact(a), Self::Exact(b)) => a.cmp(b),
            (Self::Suffix(a), Self::Suffix(b)) => b.len().cmp(&a.len()).then_with(|| a.cmp(b)),
            (Self::Any, Self::Any) => Ordering::Equal,
            (Self::Exact(_), _) | (Self::Suffix(_), Self::Any) => Ordering::Less,
            (_, Self::Exact(_)) | (Self::Any, Self::Suffix(_)) => Ordering::Greater,
        }
    }
}

impl fmt::Display for HostKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(host) => out.write_str(host),
            Self::Suffix(suffix) => write!(out, "*{suffix}"),
            Self::Any => out.write_str("any host"),
        }
    }
}

/// The one spelling of a request's host: lower case, without one final dot. Nearly all hosts come so and are not copied.
pub(crate) fn fold_host<'h>(host: &'h [u8], scratch: &'h mut Vec<u8>) -> &'h [u8] {
    let host = host.strip_suffix(b".").unwrap_or(host);
    if !host.iter().any(u8::is_ascii_uppercase) {
        return host;
    }
    scratch.clear();
    scratch.extend_from_slice(host);
    scratch.make_ascii_lowercase();
    scratch
}

/// What keeps a folded name from being a host name, an IPv4 address or an IPv6 address in brackets.
fn host_fault(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("it is empty");
    }
    if name.len() > HOST_BYTES_MAX {
        return Some("it is longer than 253 bytes");
    }
    if let Some(address) = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let is_address = address.parse::<std::net::Ipv6Addr>().is_ok();
        return if is_address { None } else { Some("the brackets hold no IPv6 address") };
    }
    if name.contains('*') {
        return Some("a \"*\" may only be its first label");
    }
    if name.contains(':') {
        return Some("it has a port, or is an IPv6 address without brackets");
    }
    if name.split('.').any(str::is_empty) {
        return Some("it has an empty label");
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if !name.bytes().all(is_plain) {
        return Some("it has bytes that no host name has");
    }
    None
}

/// Longest host name, RFC 1035 §2.3.4.
const HOST_BYTES_MAX: usize = 253;
