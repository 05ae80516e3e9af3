//! Authorities: `host[:port]` of a `Host` field or an absolute target.

use std::net::Ipv6Addr;

use crate::octet::{find_name_end, is_host_name};
use crate::span::Span;

/// A validated authority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Authority {
    /// `host` or `host:port`; a colon without a port is removed.
    pub(super) whole: Span,
    /// Host without port; an IPv6 address with its brackets.
    pub(super) host: Span,
}

/// Parses the authority in `span`; `None` when it has no valid host.
///
/// Stricter than the grammar: no user information, no percent-encoding (some implementations read `%2e` as a dot), no
/// comma (two `Host` fields merged by an intermediary look like this), no empty label except after a final dot.
/// Port 0 is rejected.
///
/// # Spec
/// [RFC 3986 §3.2](https://www.rfc-editor.org/rfc/rfc3986#section-3.2),
/// [RFC 9110 §4.2](https://www.rfc-editor.org/rfc/rfc9110#section-4.2)
pub(super) fn parse_authority(bytes: &[u8], span: Span) -> Option<Authority> {
    let text = span.of(bytes);
    let start = span.start as usize;
    let host_len = if text.first() == Some(&b'[') { literal_len(text)? } else { name_len(text)? };
    let host = Span::new(start, start + host_len);
    match text.get(host_len..)? {
        [] | [b':'] => Some(Authority { whole: host, host }),
        [b':', port @ ..] if is_port(port) => Some(Authority { whole: span, host }),
        _ => None,
    }
}

/// Returns the length of the registered name or IPv4 address at the beginning of `text`.
fn name_len(text: &[u8]) -> Option<usize> {
    let len = find_name_end(text);
    let is_name = (1..=HOST_BYTES_MAX).contains(&len) && is_host_name(text.get(..len)?);
    is_name.then_some(len)
}

/// Returns the length of the IPv6 address in brackets at the beginning of `text`.
fn literal_len(text: &[u8]) -> Option<usize> {
    let end = text.iter().take(HOST_BYTES_MAX).position(|&byte| byte == b']')?;
    let address = str::from_utf8(text.get(1..end)?).ok()?;
    address.parse::<Ipv6Addr>().ok()?;
    Some(end + 1)
}

fn is_port(text: &[u8]) -> bool {
    let value = text.iter().try_fold(0_u32, |value, byte| {
        byte.is_ascii_digit().then(|| value.saturating_mul(10).saturating_add(u32::from(byte - b'0')))
    });
    text.len() <= 5 && value.is_some_and(|port| (1..=65535).contains(&port))
}

/// Maximum host length, bytes: a full domain name with a final dot.
pub(super) const HOST_BYTES_MAX: usize = 255;
