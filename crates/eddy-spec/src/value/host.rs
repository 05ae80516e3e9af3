//! Host names and host patterns.

use std::net::{IpAddr, Ipv6Addr};

use eddy_ids::Shared;
use eddy_route::HostPattern;
use eddy_tls::is_server_name;

use crate::read::{FromScalar, InvalidValue, WordInfo};

/// A host with an optional port, as in a `Host` header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostAndPort(pub Shared<str>);

/// A name that a certificate can be issued for: a host name or an IP address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerName(pub Shared<str>);

/// A host that an ACME authority can certify.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertifiedHost(pub String);

/// URL of an ACME directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryUrl(pub String);

/// An email address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmailAddress(pub String);

impl FromScalar for HostPattern {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        if text == "*" {
            return Ok(Self::Any);
        }
        if let Some(suffix) = text.strip_prefix("*.") {
            return Ok(Self::Suffix(parse_host(suffix)?));
        }
        if text.contains('*') {
            return Err(InvalidValue::reason_with_hint(
                "is not a host: a wildcard replaces whole leading labels",
                "write `'*.example.com'`, or `'*'` for any host",
            ));
        }
        parse_host(text).map(Self::Exact)
    }

    fn info() -> WordInfo {
        let what = "a host such as `www.example.com`, `'*.example.com'` or `'*'`";
        WordInfo {
            pattern: Some(r"^(\*|(\*\.)?[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])$"),
            ..WordInfo::text(what)
        }
    }
}

impl FromScalar for HostAndPort {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        let bare = text.rsplit_once(':').filter(|(_, port)| !port.contains(']'));
        let (host, port) = match bare {
            Some((host, port)) => (host, Some(parse_port(port)?)),
            None => (text, None),
        };
        let host = parse_host(host)?;
        Ok(Self(port.map_or_else(|| host.as_str().into(), |port| format!("{host}:{port}").into())))
    }

    fn info() -> WordInfo {
        let what = "a host such as `www.example.com` or `www.example.com:8443`";
        WordInfo {
            pattern: Some(r"^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$"),
            ..WordInfo::text(what)
        }
    }
}

impl FromScalar for ServerName {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Self(address.to_string().into()));
        }
        let host = parse_host(text)?;
        if !is_server_name(&host) {
            return Err(InvalidValue::reason("is not a name for which a certificate can be issued"));
        }
        Ok(Self(host.into()))
    }

    fn info() -> WordInfo {
        let what = "a host such as `users.internal`, or an IP address";
        WordInfo { pattern: Some(r"^([A-Za-z0-9._-]+|\[?[0-9A-Fa-f:.]+\]?)$"), ..WordInfo::text(what) }
    }
}

impl FromScalar for CertifiedHost {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        if text.contains('*') {
            return Err(InvalidValue::reason_with_hint(
                "cannot be ordered: authorities verify wildcards only by a DNS record",
                "list each host, or get the certificate elsewhere and set `chain` and `key` to its files",
            ));
        }
        let host = parse_host(text)?;
        if host.starts_with('[') || host.parse::<IpAddr>().is_ok() {
            return Err(InvalidValue::reason_with_hint("is an IP address", "write a host name"));
        }
        if !host.contains('.') || !is_server_name(&host) {
            return Err(InvalidValue::reason_with_hint(
                "is not a full host name",
                "write the full name, such as `www.example.com`",
            ));
        }
        Ok(Self(host))
    }

    fn info() -> WordInfo {
        WordInfo { pattern: Some("^[A-Za-z0-9.-]+$"), ..WordInfo::text("a host such as `www.example.com`") }
    }
}

impl FromScalar for DirectoryUrl {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        let Some(rest) = text.strip_prefix("https://") else {
            return Err(InvalidValue::form("the URL must begin with `https://`"));
        };
        let is_plain = rest.bytes().all(|byte| byte.is_ascii_graphic() && !b"@\"<>\\^`{|}#".contains(&byte));
        let (authority, _) = rest.split_once('/').unwrap_or((rest, ""));
        HostAndPort::parse(authority)?;
        if !is_plain || text.len() > URL_BYTES_MAX {
            return Err(InvalidValue::FORM);
        }
        Ok(Self(text.to_owned()))
    }

    fn info() -> WordInfo {
        WordInfo {
            pattern: Some("^https://."),
            ..WordInfo::text("a URL such as `https://ca.example.com/directory`")
        }
    }
}

impl FromScalar for EmailAddress {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && !b",;<>()\"?&#".contains(&byte));
        match text.rsplit_once('@') {
            Some((mailbox, host)) if is_plain && !mailbox.is_empty() && text.len() <= HOST_BYTES_MAX => {
                parse_host(host)?;
                Ok(Self(text.to_owned()))
            }
            Some(_) | None => Err(InvalidValue::FORM),
        }
    }

    fn info() -> WordInfo {
        WordInfo { pattern: Some("^[^@]+@[^@]+$"), ..WordInfo::text("an address such as `ops@example.com`") }
    }
}

/// Parses a host name or address, and returns it in lower case without a final dot; punycode is unchanged.
pub(super) fn parse_host(text: &str) -> Result<String, InvalidValue> {
    if let Some(address) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return match address.parse::<Ipv6Addr>() {
            Ok(address) => Ok(format!("[{address}]")),
            Err(_) => Err(InvalidValue::reason("is not a host: brackets enclose an IPv6 address")),
        };
    }
    if text.contains("://") || text.contains('/') {
        return Err(InvalidValue::reason_with_hint(
            "is not a host",
            "write the host only, without scheme and path",
        ));
    }
    if text.contains(':') {
        let hint = "write the host only, without a port; write an IPv6 address in brackets";
        return Err(InvalidValue::reason_with_hint("is not a host", hint));
    }
    let name = text.strip_suffix('.').unwrap_or(text);
    if name.is_empty() || name.len() > HOST_BYTES_MAX {
        return Err(InvalidValue::reason(format!(
            "is not a host: a host has 1 to {HOST_BYTES_MAX} characters"
        )));
    }
    if !name.is_ascii() {
        return Err(InvalidValue::reason_with_hint(
            "is not a host",
            "write an international name in its `xn--` form",
        ));
    }
    for label in name.split('.') {
        check_label(label)?;
    }
    Ok(name.to_ascii_lowercase())
}

/// Parses a TCP port that can be connected to.
pub(super) fn parse_port(text: &str) -> Result<u16, InvalidValue> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<u16>() {
        Ok(port) if port > 0 && is_number => Ok(port),
        Ok(_) | Err(_) => Err(InvalidValue::reason("has no valid port: a port is 1 to 65535")),
    }
}

fn check_label(label: &str) -> Result<(), InvalidValue> {
    if label.is_empty() || label.len() > LABEL_BYTES_MAX {
        let reason = format!("is not a host: a label has 1 to {LABEL_BYTES_MAX} characters");
        return Err(InvalidValue::reason(reason));
    }
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if !label.bytes().all(is_allowed) {
        return Err(InvalidValue::reason(
            "is not a host: a host consists of letters, digits, `-`, `_` and dots",
        ));
    }
    if label.starts_with('-') || label.ends_with('-') {
        return Err(InvalidValue::reason("is not a host: a label cannot begin or end with `-`"));
    }
    Ok(())
}

/// Maximum length of a host name (RFC 1035 §2.3.4, in its textual form).
const HOST_BYTES_MAX: usize = 253;
/// Maximum length of an ACME directory URL.
const URL_BYTES_MAX: usize = 2048;
/// Maximum length of a label of a host name.
const LABEL_BYTES_MAX: usize = 63;

#[cfg(test)]
mod tests {
    use eddy_route::HostPattern;

    use super::HostAndPort;
    use crate::read::FromScalar;

    #[test]
    fn hosts_are_put_in_lower_case() {
        let check = |text: &str, expected: HostPattern| {
            assert_eq!(HostPattern::parse(text), Ok(expected), "{text}");
        };
        check("WWW.Example.com.", HostPattern::Exact("www.example.com".to_owned()));
        check("*.Example.com", HostPattern::Suffix("example.com".to_owned()));
        check("*", HostPattern::Any);
        check("xn--bcher-kva.example", HostPattern::Exact("xn--bcher-kva.example".to_owned()));
        check("127.0.0.1", HostPattern::Exact("127.0.0.1".to_owned()));
        check("[::1]", HostPattern::Exact("[::1]".to_owned()));
    }

    #[test]
    fn an_invalid_host_is_refused() {
        let long = "a".repeat(64);
        for text in [
            "",
            ".",
            "a..b",
            "-a",
            "a-",
            "w*.example.com",
            "*.",
            "*.*.x",
            "a/b",
            "http://a",
            "a:80",
            &long,
            "bücher.example",
            "a b",
            "[1.2.3.4]",
        ] {
            assert!(HostPattern::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_redirect_host_may_have_a_port() {
        assert_eq!(
            HostAndPort::parse("A.example:8443").map(|host| host.0.to_string()),
            Ok("a.example:8443".to_owned())
        );
        assert_eq!(HostAndPort::parse("[::1]:80").map(|host| host.0.to_string()), Ok("[::1]:80".to_owned()));
        assert_eq!(HostAndPort::parse("[::1]").map(|host| host.0.to_string()), Ok("[::1]".to_owned()));
        assert!(HostAndPort::parse("a.example:0").is_err());
        assert!(HostAndPort::parse("a.example:http").is_err());
        assert!(HostAndPort::parse("a.example:+80").is_err());
    }
}
