//! The request to be explained.

use std::fmt::Write;

use anyhow::{anyhow, bail, ensure};
use eddy_config::{GatewayConfig, ListenAddress, ListenerConfig};
use eddy_http::{HeadLimits, RequestHead};

use super::Question;

/// Request to be explained, as a client would send it.
pub(super) struct ExplainRequest {
    pub(super) bytes: Vec<u8>,
    pub(super) head: RequestHead,
    port: Option<u16>,
    is_secure: Option<bool>,
}

impl ExplainRequest {
    /// Builds the request of a question.
    ///
    /// # Errors
    /// When the request is invalid.
    pub(super) fn parse(question: &Question) -> anyhow::Result<Self> {
        let url = Url::parse(&question.url);
        let mut fields = String::new();
        let mut has_host = false;
        for field in &question.fields {
            let Some((name, value)) = field.split_once(':') else {
                bail!("\"{field}\" is not a header; write it as 'name: value'");
            };
            has_host |= name.eq_ignore_ascii_case("host");
            let _ = write!(fields, "{name}: {}\r\n", value.trim());
        }
        // Only HTTP/1.0 has requests without a host.
        let version = if has_host || url.authority.is_some() { "HTTP/1.1" } else { "HTTP/1.0" };
        let host = match url.authority {
            Some(authority) if !has_host => format!("Host: {authority}\r\n"),
            _ => String::new(),
        };
        let text = format!("{} {} {version}\r\n{host}{fields}\r\n", question.method, url.target);
        ensure!(
            text.matches("\r\n").count() == fields.matches("\r\n").count() + host.matches("\r\n").count() + 2,
            "line breaks cannot be sent in a request"
        );
        let bytes = text.into_bytes();
        let mut head = RequestHead::new();
        head.parse(&bytes, &HeadLimits::default()).map_err(|fault| {
            anyhow!("the request is invalid: {} (a client would get {})", fault.reason(), fault.status())
        })?;
        Ok(Self { bytes, head, port: url.port, is_secure: url.is_secure })
    }

    /// Whether port and scheme of the URL allow this listener. They exclude it only if they match another listener.
    pub(super) fn may_arrive_at(&self, listener: &ListenerConfig, config: &GatewayConfig) -> bool {
        let has_port = |listener: &ListenerConfig, port: u16| matches!(listener.address, ListenAddress::Tcp(address) if address.port() == port);
        if let Some(port) = self.port
            && config.listeners.iter().any(|other| has_port(other, port))
        {
            return has_port(listener, port);
        }
        let is_of = |listener: &ListenerConfig, is_secure: bool| listener.tls.is_some() == is_secure;
        self.is_secure.is_none_or(|is_secure| {
            is_of(listener, is_secure) || !config.listeners.iter().any(|other| is_of(other, is_secure))
        })
    }
}

/// URL, split as a client does before it sends a request.
struct Url<'a> {
    authority: Option<&'a str>,
    port: Option<u16>,
    /// Whether the scheme is `https` rather than `http`; `None` without a scheme.
    is_secure: Option<bool>,
    target: String,
}

impl<'a> Url<'a> {
    fn parse(text: &'a str) -> Self {
        // A fragment is never sent.
        let text = text.split('#').next().unwrap_or_default();
        let (is_secure, rest) = match (text.strip_prefix("http://"), text.strip_prefix("https://")) {
            (Some(rest), _) => (Some(false), rest),
            (None, Some(rest)) => (Some(true), rest),
            (None, None) => (None, text),
        };
        if rest.starts_with('/') || rest == "*" {
            return Self { authority: None, port: None, is_secure, target: rest.to_owned() };
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(end);
        let target = if target.starts_with('/') { target.to_owned() } else { format!("/{target}") };
        let port = authority.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        Self { authority: Some(authority), port, is_secure, target }
    }
}
