//! Scalar values of protocol upgrades and `CONNECT`.

use eddy_config::{Connect, is_http};

use super::choice::{Meaning, keywords};
use crate::read::{FromScalar, Misfit, WordInfo};

/// A protocol that clients may switch to, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpgradeName(pub Box<str>);

/// Handling of `CONNECT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectName(pub Connect);

impl FromScalar for UpgradeName {
    fn parse(text: &str) -> Result<Self, Misfit> {
        let is_token = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
        };
        let parts: Vec<&str> = text.split('/').collect();
        if parts.len() > 2 || text.len() > NAME_BYTES_MAX || !parts.into_iter().all(is_token) {
            return Err(Misfit::FORM);
        }
        if is_http(text.as_bytes()) {
            let reason = "would tunnel HTTP requests past rules and filters; clients can use HTTP/2 without an upgrade";
            return Err(Misfit::reason(reason));
        }
        Ok(Self(text.to_ascii_lowercase().into()))
    }

    fn info() -> WordInfo {
        let pattern = "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}(/[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64})?$";
        WordInfo { pattern: Some(pattern), ..WordInfo::text("a protocol such as `websocket` or `spdy/3.1`") }
    }
}

keywords! {
    ConnectName: CONNECTS;
}

/// Maximum length of a protocol name in bytes.
const NAME_BYTES_MAX: usize = 64;

const CONNECTS: &[Meaning<ConnectName>] = &[
    ("refuse", ConnectName(Connect::Refuse), "the response is 501"),
    ("pass", ConnectName(Connect::Pass), "it is forwarded to an endpoint, which opens or refuses the tunnel"),
    (
        "open",
        ConnectName(Connect::Open),
        "eddy opens the tunnel to an endpoint of the cluster, regardless of the target in the request",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocols_are_tokens_and_never_http() {
        for (text, name) in [("websocket", "websocket"), ("SPDY/3.1", "spdy/3.1"), ("tcp", "tcp")] {
            assert_eq!(UpgradeName::parse(text), Ok(UpgradeName(name.into())));
        }
        for text in ["", "/", "a/", "/1", "a/b/c", "a b", "a,b", "w\u{fc}"] {
            assert_eq!(UpgradeName::parse(text), Err(Misfit::FORM), "{text}");
        }
        for text in ["h2c", "H2C", "HTTP/2.0", "tls/1.3"] {
            assert!(matches!(UpgradeName::parse(text), Err(Misfit::Reason { .. })), "{text}");
        }
    }
}
