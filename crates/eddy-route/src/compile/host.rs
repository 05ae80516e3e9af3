//! Host patterns of rules in a canonical form, ordered by specificity.

use std::cmp::Ordering;
use std::fmt;

use crate::error::RouteProblem;
use crate::request::RouteRequest;
use crate::rule::{HostForm, HostPattern};

/// A host pattern in canonical form; its derived traits are for equality only.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum HostKey {
    /// A host in lower case.
    Exact(Box<str>),
    /// End of the host, with at least one byte before it: `.example.com`.
    Suffix(Box<str>),
    /// End of the host, with exactly one label before it.
    OneLabel(Box<str>),
    /// Beginning of the host, with at least one byte after it: `www.example.`.
    Prefix(Box<str>),
    /// Any host.
    Any,
}

impl HostKey {
    /// Returns the key of a pattern; where hosts keep port and dot, it may contain any bytes of an authority.
    pub(crate) fn check(pattern: &HostPattern, form: HostForm) -> Result<Self, RouteProblem> {
        let (written, name) = match pattern {
            HostPattern::Any => return Ok(Self::Any),
            HostPattern::Exact(host) => (host, host.as_str()),
            HostPattern::Suffix(suffix) | HostPattern::OneLabel(suffix) => {
                let below = suffix.strip_prefix('*').unwrap_or(suffix);
                (suffix, below.strip_prefix('.').unwrap_or(below))
            }
            HostPattern::ByteSuffix(text) | HostPattern::BytePrefix(text) => (text, text.as_str()),
        };
        let is_whole = !matches!(pattern, HostPattern::ByteSuffix(_) | HostPattern::BytePrefix(_));
        let name = if form.keeps_dot || !is_whole { name } else { name.strip_suffix('.').unwrap_or(name) };
        let name = name.to_ascii_lowercase();
        let is_strict = is_whole && form == HostForm::default();
        let fault = if is_strict { host_fault(&name) } else { authority_fault(&name) };
        if let Some(reason) = fault {
            return Err(RouteProblem::Host { host: written.clone(), reason });
        }
        let below = || format!(".{name}").into_boxed_str();
        Ok(match pattern {
            HostPattern::Suffix(_) => Self::Suffix(below()),
            HostPattern::OneLabel(_) => Self::OneLabel(below()),
            HostPattern::ByteSuffix(_) => Self::Suffix(name.into_boxed_str()),
            HostPattern::BytePrefix(_) => Self::Prefix(name.into_boxed_str()),
            HostPattern::Any | HostPattern::Exact(_) => Self::Exact(name.into_boxed_str()),
        })
    }

    /// Whether a folded host (see [`HostForm::fold`]) matches.
    pub(crate) fn matches(&self, host: &[u8]) -> bool {
        match self {
            Self::Exact(exact) => host == exact.as_bytes(),
            Self::Suffix(suffix) => host.len() > suffix.len() && host.ends_with(suffix.as_bytes()),
            Self::OneLabel(suffix) => {
                let label = host.strip_suffix(suffix.as_bytes());
                label.is_some_and(|label| !label.is_empty() && !label.contains(&b'.'))
            }
            Self::Prefix(prefix) => host.len() > prefix.len() && host.starts_with(prefix.as_bytes()),
            Self::Any => true,
        }
    }

    /// Orders more specific hosts first: exact ones, then longer suffixes, then longer prefixes, then any host.
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        let length = |key: &Self| if key.class() == 0 { 0 } else { key.text().len() };
        let is_wide = |key: &Self| matches!(key, Self::Suffix(_));
        self.class()
            .cmp(&other.class())
            .then_with(|| length(other).cmp(&length(self)))
            .then_with(|| is_wide(self).cmp(&is_wide(other)))
    }

    fn class(&self) -> u8 {
        match self {
            Self::Exact(_) => 0,
            Self::Suffix(_) | Self::OneLabel(_) => 1,
            Self::Prefix(_) => 2,
            Self::Any => 3,
        }
    }

    /// Returns the literal text of the pattern.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Exact(text) | Self::Suffix(text) | Self::OneLabel(text) | Self::Prefix(text) => text,
            Self::Any => "",
        }
    }
}

impl fmt::Display for HostKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(host) => out.write_str(host),
            Self::Suffix(suffix) => write!(out, "*{suffix}"),
            Self::OneLabel(suffix) => write!(out, "*{suffix} (one label)"),
            Self::Prefix(prefix) => write!(out, "{prefix}*"),
            Self::Any => out.write_str("any host"),
        }
    }
}

impl HostForm {
    /// Returns the part of a request's authority that hosts of this form are compared with: in lower case, and without
    /// the parts that the form ignores. Nearly all hosts are in this form already and are not copied.
    pub(crate) fn fold<'h>(self, request: &RouteRequest<'h>, scratch: &'h mut Vec<u8>) -> &'h [u8] {
        let host = request.host;
        let port =
            if self.keeps_port { request.authority.strip_prefix(host).unwrap_or_default() } else { b"" };
        let whole = if port.is_empty() { host } else { request.authority };
        let bare = if self.keeps_dot { host } else { host.strip_suffix(b".").unwrap_or(host) };
        let is_cut = !port.is_empty() && bare.len() < host.len();
        if !is_cut && !whole.iter().any(u8::is_ascii_uppercase) {
            return if port.is_empty() { bare } else { whole };
        }
        scratch.clear();
        scratch.extend_from_slice(bare);
        scratch.extend_from_slice(port);
        scratch.make_ascii_lowercase();
        scratch
    }
}

/// Returns why a folded name is not a host name, an IPv4 address or an IPv6 address in brackets.
fn host_fault(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("it is empty");
    }
    if name.len() > HOST_BYTES_MAX {
        return Some("it is longer than 253 bytes");
    }
    if let Some(address) = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let is_address = address.parse::<std::net::Ipv6Addr>().is_ok();
        return if is_address { None } else { Some("the brackets do not contain an IPv6 address") };
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
        return Some("it has bytes that are not allowed in a host name");
    }
    None
}

/// Returns why a folded text is not part of an authority.
fn authority_fault(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        return Some("it is empty");
    }
    if text.len() > AUTHORITY_BYTES_MAX {
        return Some("it is longer than 1024 bytes");
    }
    let is_sound = text.bytes().all(|byte| (0x21..0x7f).contains(&byte));
    (!is_sound).then_some("it has bytes that are not allowed in a host name")
}

/// Maximum length of a part of an authority; requests have shorter ones.
const AUTHORITY_BYTES_MAX: usize = 1024;

/// Maximum length of a host name, RFC 1035 §2.3.4.
const HOST_BYTES_MAX: usize = 253;
