//! Checked configuration of protocol upgrades and `CONNECT`.

use std::time::Duration;

/// Protocol upgrades and `CONNECT` under a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upgrades {
    /// Protocols that a client may switch to.
    pub protocols: Protocols,
    /// Handling of `CONNECT`.
    pub connect: Connect,
    /// Maximum time without data in either direction of a tunnel; `None` for the listener's.
    pub idle_timeout: Option<Duration>,
    /// Whether the configuration allows upgrades or `CONNECT` expressly, rather than by default.
    pub is_explicit: bool,
}

/// Protocols that a client may switch to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protocols {
    /// These protocols, in lower case.
    These(Vec<Box<str>>),
    /// Any protocol that client and endpoint agree on, except HTTP itself.
    Any,
}

/// Handling of `CONNECT`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Connect {
    /// The request is answered 501.
    #[default]
    Refuse,
    /// The request is forwarded to an endpoint of the cluster, which decides.
    Pass,
    /// A tunnel is opened to an endpoint of the cluster, regardless of the requested port.
    Open,
}

/// Protocol that is allowed by default: its handshake proves that the endpoint supports it.
pub const WEBSOCKET: &str = "websocket";

impl Default for Upgrades {
    fn default() -> Self {
        Self { protocols: Protocols::These(vec![WEBSOCKET.into()]), ..Self::none() }
    }
}

impl Upgrades {
    /// Allows no upgrade and refuses `CONNECT`.
    pub fn none() -> Self {
        Self {
            protocols: Protocols::These(Vec::new()),
            connect: Connect::Refuse,
            idle_timeout: None,
            is_explicit: false,
        }
    }

    /// Returns what the configuration allows expressly: names of protocols, or `CONNECT`.
    pub fn express(&self) -> Option<&str> {
        let protocol = match &self.protocols {
            Protocols::These(names) => names.first().map(|name| &**name),
            Protocols::Any => Some("any protocol"),
        };
        let connect = (self.connect != Connect::Refuse).then_some("CONNECT");
        protocol.or(connect).filter(|_| self.is_explicit)
    }

    /// Whether a client may switch to `protocol`, compared without case.
    pub fn allow(&self, protocol: &[u8]) -> bool {
        match &self.protocols {
            Protocols::These(names) => {
                names.iter().any(|name| protocol.eq_ignore_ascii_case(name.as_bytes()))
            }
            Protocols::Any => !is_http(protocol),
        }
    }
}

/// Whether `protocol` is another form of HTTP: its requests would pass uninspected.
pub fn is_http(protocol: &[u8]) -> bool {
    let name = protocol.split(|byte| *byte == b'/').next().unwrap_or_default();
    [b"h2c".as_slice(), b"h2", b"h3", b"http", b"https", b"tls"]
        .iter()
        .any(|http| name.eq_ignore_ascii_case(http))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_websocket_is_allowed_by_default_and_http_never() {
        let usual = Upgrades::default();
        assert!(usual.allow(b"WebSocket") && !usual.allow(b"websocket/13") && !usual.allow(b""));
        assert!(!Upgrades::none().allow(b"websocket"));
        let any = Upgrades { protocols: Protocols::Any, ..Upgrades::none() };
        assert!(any.allow(b"SPDY/3.1") && any.allow(b"websocket"));
        for http in ["h2c", "H2C", "HTTP/2.0", "h2c/1", "TLS/1.0"] {
            assert!(!any.allow(http.as_bytes()), "{http}");
        }
    }
}
