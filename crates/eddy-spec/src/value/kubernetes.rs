//! Names of Services and other Kubernetes objects, and their ports.

use std::net::IpAddr;

use eddy_ids::Shared;

use super::host::parse_host;
use crate::read::{FromScalar, InvalidValue, WordInfo};

/// An IP address without a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpText(pub IpAddr);

/// A port number as a mapping key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PortKey(pub u16);

/// A Kubernetes object, by namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectName {
    /// Namespace of the object.
    pub namespace: Shared<str>,
    /// Name of the object.
    pub name: Shared<str>,
}

/// A Service, by namespace and name, or one of its ports.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ServiceName {
    /// The Service.
    pub object: ObjectName,
    /// Port number; `None` for all ports.
    pub port: Option<u16>,
}

/// DNS domain of a Kubernetes cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainName(pub Shared<str>);

impl FromScalar for IpText {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        bare.parse().map(Self).map_err(|_| InvalidValue::FORM)
    }

    fn info() -> WordInfo {
        WordInfo {
            pattern: Some(r"^(\[[0-9A-Fa-f:.]+\]|[0-9A-Fa-f:.]+)$"),
            ..WordInfo::text("an address such as `127.0.0.1` or `'::1'`")
        }
    }
}

impl FromScalar for PortKey {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        parse_port(text).map(Self)
    }

    fn info() -> WordInfo {
        WordInfo { pattern: Some("^[0-9]{1,5}$"), ..WordInfo::text("a port such as `80`") }
    }
}

impl FromScalar for ObjectName {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        let Some((namespace, name)) = text.split_once('/') else {
            return Err(InvalidValue::form(format!("write `default/{text}`")));
        };
        let is_plain = |part: &str| {
            let fits =
                |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
            !part.is_empty() && part.len() <= NAME_BYTES_MAX && part.bytes().all(fits)
        };
        if is_plain(namespace) && is_plain(name) {
            Ok(Self { namespace: namespace.into(), name: name.into() })
        } else {
            Err(InvalidValue::FORM)
        }
    }

    fn info() -> WordInfo {
        WordInfo {
            pattern: Some("^[a-z0-9.-]+/[a-z0-9.-]+$"),
            ..WordInfo::text("a namespace and name such as `default/web`")
        }
    }
}

impl FromScalar for ServiceName {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        match text.rsplit_once(':') {
            Some((object, port)) => {
                Ok(Self { object: ObjectName::parse(object)?, port: Some(parse_port(port)?) })
            }
            None => Ok(Self { object: ObjectName::parse(text)?, port: None }),
        }
    }

    fn info() -> WordInfo {
        WordInfo {
            pattern: Some("^[a-z0-9.-]+/[a-z0-9.-]+(:[0-9]{1,5})?$"),
            ..WordInfo::text("a Service such as `default/users` or `default/users:8080`")
        }
    }
}

impl FromScalar for DomainName {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        parse_host(text).map(|host| Self(host.into()))
    }

    fn info() -> WordInfo {
        WordInfo { pattern: Some("^[A-Za-z0-9.-]+$"), ..WordInfo::text("a domain such as `cluster.local`") }
    }
}

fn parse_port(text: &str) -> Result<u16, InvalidValue> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<u16>() {
        Ok(port @ 1..) if is_number => Ok(port),
        Ok(_) | Err(_) => Err(InvalidValue::form("a port is 1 to 65535")),
    }
}

/// Maximum length of an object name.
const NAME_BYTES_MAX: usize = 253;
