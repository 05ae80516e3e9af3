//! Parsers of addresses: listen addresses, endpoint addresses and address blocks.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use eddy_config::{AddressBlock, ListenAddress};
use eddy_model::EndpointAddress;

use super::host::{parse_host, parse_port};
use crate::read::{FromScalar, InvalidValue, WordInfo};

/// Address of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointAddressText(pub EndpointAddress);

impl FromScalar for ListenAddress {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        match text.strip_prefix("unix:") {
            Some(path) => parse_socket_path(path).map(Self::Unix),
            None => parse_socket_address(text).map(Self::Tcp),
        }
    }

    fn info() -> WordInfo {
        let what = "an address such as `127.0.0.1:8080`, `'[::]:8080'` or `unix:/run/eddy.sock`";
        WordInfo {
            pattern: Some(r"^(unix:/.+|[0-9.]+:[0-9]{1,5}|\[[0-9A-Fa-f:.%]+\]:[0-9]{1,5})$"),
            ..WordInfo::text(what)
        }
    }
}

impl FromScalar for SocketAddr {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        parse_socket_address(text)
    }

    fn info() -> WordInfo {
        WordInfo {
            pattern: Some(r"^([0-9.]+|\[[0-9A-Fa-f:.%]+\]):[0-9]{1,5}$"),
            ..WordInfo::text("an address such as `127.0.0.1:9901`")
        }
    }
}

impl FromScalar for EndpointAddressText {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        if let Some(path) = text.strip_prefix("unix:") {
            return parse_socket_path(path).map(|path| Self(EndpointAddress::Unix(path)));
        }
        if text.contains("://") {
            return Err(InvalidValue::reason_with_hint(
                "is not an endpoint",
                "write `host:port` without a scheme",
            ));
        }
        if let Ok(address) = text.parse::<SocketAddr>() {
            parse_port(&address.port().to_string())?;
            return Ok(Self(EndpointAddress::Socket(address)));
        }
        let Some((host, port)) = text.rsplit_once(':') else {
            return Err(InvalidValue::reason_with_hint("has no port", format!("write `{text}:80`")));
        };
        let port = parse_port(port)?;
        let host = parse_host(host)?;
        if host.starts_with('[') || is_dotted_number(&host) {
            return Err(InvalidValue::reason("is not a valid IP address with a port"));
        }
        Ok(Self(EndpointAddress::Name { host: host.into(), port }))
    }

    fn info() -> WordInfo {
        let what = "an endpoint such as `127.0.0.1:9000`, `name.example:80` or `unix:/run/app.sock`";
        WordInfo {
            pattern: Some(r"^(unix:/.+|([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.%]+\]):[0-9]{1,5})$"),
            ..WordInfo::text(what)
        }
    }
}

impl FromScalar for AddressBlock {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let Ok(address) = address.parse::<IpAddr>() else { return Err(InvalidValue::FORM) };
        let width = if address.is_ipv4() { 32 } else { 128 };
        let prefix_bits = match bits.map(str::parse::<u8>) {
            None => width,
            Some(Ok(bits)) if bits <= width => bits,
            Some(_) => {
                return Err(InvalidValue::reason(format!(
                    "is not an address block: the prefix length is 0 to {width}"
                )));
            }
        };
        let block = Self { address, prefix_bits };
        let first = block.first_address();
        if first != address {
            let hint = format!("write `{first}/{prefix_bits}`");
            return Err(InvalidValue::reason_with_hint("has bits set after its prefix", hint));
        }
        match (address.to_canonical(), prefix_bits.checked_sub(96)) {
            // Peers with an IPv4-mapped address are compared as IPv4.
            (address @ IpAddr::V4(_), Some(prefix_bits)) if block.address.is_ipv6() => {
                Ok(Self { address, prefix_bits })
            }
            _ => Ok(block),
        }
    }

    fn info() -> WordInfo {
        WordInfo {
            pattern: Some(r"^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$"),
            ..WordInfo::text("an address block such as `10.0.0.0/8`")
        }
    }
}

fn parse_socket_address(text: &str) -> Result<SocketAddr, InvalidValue> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    if text.parse::<IpAddr>().is_ok() {
        return Err(InvalidValue::reason_with_hint(
            "has no port",
            "write for example `127.0.0.1:8080` or `'[::1]:8080'`",
        ));
    }
    match text.rsplit_once(':') {
        Some(("", port)) => Err(InvalidValue::form(format!(
            "write `0.0.0.0:{port}` for every IPv4 address, `'[::]:{port}'` for every address"
        ))),
        Some(("*", port)) => Err(InvalidValue::form(format!("write `'[::]:{port}'` for every address"))),
        Some(("localhost", port)) => {
            Err(InvalidValue::form(format!("write `127.0.0.1:{port}` or `'[::1]:{port}'`")))
        }
        Some(_) | None => Err(InvalidValue::FORM),
    }
}

fn parse_socket_path(path: &str) -> Result<PathBuf, InvalidValue> {
    if !path.starts_with('/') {
        return Err(InvalidValue::reason_with_hint(
            "has no absolute path",
            "write for example `unix:/run/eddy.sock`",
        ));
    }
    if path.len() > SOCKET_PATH_BYTES_MAX || path.contains('\0') {
        return Err(InvalidValue::reason(format!(
            "is too long: a socket path has at most {SOCKET_PATH_BYTES_MAX} bytes"
        )));
    }
    Ok(PathBuf::from(path))
}

/// Whether a host looks like an IPv4 address; as a name it could never be resolved.
fn is_dotted_number(host: &str) -> bool {
    host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Maximum length of a Unix socket path on Linux, without the final zero.
const SOCKET_PATH_BYTES_MAX: usize = 107;

#[cfg(test)]
mod tests {
    use eddy_config::{AddressBlock, ListenAddress};
    use eddy_model::EndpointAddress;

    use super::EndpointAddressText;
    use crate::read::FromScalar;

    #[test]
    fn listen_addresses() {
        for text in ["127.0.0.1:8080", "0.0.0.0:80", "[::]:80", "127.0.0.1:0", "unix:/run/x.sock"] {
            assert_eq!(ListenAddress::parse(text).map(|address| address.to_string()), Ok(text.to_owned()));
        }
        let long = format!("unix:/{}", "a".repeat(107));
        for text in [
            "",
            "8080",
            ":8080",
            "localhost:80",
            "127.0.0.1",
            "::1",
            "1.2.3.4:99999",
            "unix:x",
            "unix:",
            &long,
        ] {
            assert!(ListenAddress::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn endpoints() {
        let name = EndpointAddress::Name { host: "api.internal".into(), port: 80 };
        assert_eq!(EndpointAddressText::parse("API.internal.:80"), Ok(EndpointAddressText(name)));
        assert!(matches!(
            EndpointAddressText::parse("[::1]:80"),
            Ok(EndpointAddressText(EndpointAddress::Socket(_)))
        ));
        for text in [
            "",
            "a",
            "a:0",
            "a:",
            "127.0.0.1:0",
            "256.1.1.1:80",
            "[::x]:80",
            "http://a:80",
            "a b:80",
            "1:2:80",
        ] {
            assert!(EndpointAddressText::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn blocks() {
        for (text, bits) in [
            ("10.0.0.0/8", 8),
            ("127.0.0.1", 32),
            ("::1", 128),
            ("0.0.0.0/0", 0),
            ("fd00::/8", 8),
            ("::/0", 0),
        ] {
            assert_eq!(AddressBlock::parse(text).map(|block| block.prefix_bits), Ok(bits), "{text}");
        }
        for text in ["10.0.0.1/8", "10.0.0.0/33", "::/129", "10/8", "x", "10.0.0.0/", "10.0.0.0/-1"] {
            assert!(AddressBlock::parse(text).is_err(), "{text}");
        }
    }
}
