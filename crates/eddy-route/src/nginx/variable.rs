//! Variables in values.

use std::collections::HashMap;

/// A variable: a property of the request, or a slot that the configuration sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Variable {
    /// `$uri`, `$document_uri`: current path, decoded.
    Uri,
    /// `$args`, `$query_string`: current query.
    Args,
    /// `$is_args`: `?` if there is a query.
    IsArgs,
    /// `$request_uri`: path and query as sent.
    RequestUri,
    /// `$request`: the request line.
    Request,
    /// `$request_method`.
    RequestMethod,
    /// `$request_id`: 32 random hexadecimal digits.
    RequestId,
    /// `$host`: requested host in lower case, else the name of the server.
    Host,
    /// `$server_name`: the first name of the server.
    ServerName,
    /// `$server_addr`.
    ServerAddr,
    /// `$server_port`.
    ServerPort,
    /// `$server_protocol`: `HTTP/1.1`.
    ServerProtocol,
    /// `$scheme`.
    Scheme,
    /// `$https`: `on` or empty.
    Https,
    /// `$remote_addr`.
    RemoteAddr,
    /// `$remote_port`.
    RemotePort,
    /// `$proxy_host`: host and port as `proxy_pass` names them.
    ProxyHost,
    /// `$proxy_port`.
    ProxyPort,
    /// `$proxy_add_x_forwarded_for`.
    ProxyAddForwardedFor,
    /// `$http2`: `h2` over TLS, `h2c` in clear text, else empty.
    Http2,
    /// `$ssl_...`: properties of the client's TLS connection.
    Tls(TlsVariable),
    /// A variable that is always empty in eddy, as in an NGINX that does not use the related feature.
    Nothing,
    /// `$1` and so on: a group of the expression that matched last.
    Group(usize),
    /// `$http_NAME`; the name in lower case with `_` for `-`.
    Header(Box<[u8]>),
    /// `$arg_NAME`.
    Argument(Box<[u8]>),
    /// `$cookie_NAME`.
    Cookie(Box<[u8]>),
    /// A variable of the configuration: from `set`, `map`, or a named group.
    Slot(u32),
}

/// Property of the client's TLS connection; empty without TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsVariable {
    /// `$ssl_protocol`: `TLSv1.3`.
    Protocol,
    /// `$ssl_cipher`, by its OpenSSL name.
    Cipher,
    /// `$ssl_server_name`: server name sent by the client (SNI).
    ServerName,
    /// `$ssl_alpn_protocol`: `h2` or `http/1.1`.
    AlpnProtocol,
    /// `$ssl_session_reused`: `r` or `.`.
    SessionReused,
    /// `$ssl_client_verify`: `SUCCESS` or `NONE`; an invalid certificate fails the handshake.
    ClientVerify,
    /// `$ssl_client_s_dn`: subject of the client certificate.
    ClientSubject,
}

/// Variables of a configuration.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    names: Vec<Box<str>>,
    is_defined: Vec<bool>,
    by_name: HashMap<Box<str>, u32>,
}

impl Variables {
    /// Returns the variable with this name, without `$`, in any letter case; a name that is not built into NGINX gets a
    /// slot.
    ///
    /// # Errors
    /// The reason why eddy does not support a built-in variable of NGINX.
    pub fn find(&mut self, name: &str) -> Result<Variable, &'static str> {
        let name = &*name.to_ascii_lowercase();
        if let Some(variable) = own(name) {
            return Ok(variable);
        }
        if let Some(slot) = self.by_name.get(name).filter(|slot| self.is_defined(**slot)) {
            return Ok(Variable::Slot(*slot));
        }
        let prefixed = [
            ("http_", Variable::Header as fn(Box<[u8]>) -> Variable),
            ("arg_", Variable::Argument),
            ("cookie_", Variable::Cookie),
        ];
        for (prefix, make) in prefixed {
            if let Some(rest) = name.strip_prefix(prefix)
                && !rest.is_empty()
            {
                return Ok(make(rest.as_bytes().into()));
            }
        }
        match refused(name) {
            Some(reason) => Err(reason),
            None => Ok(Variable::Slot(self.slot(name))),
        }
    }

    /// Returns the slot of a variable set by `set`, `map` or a named group; `None` for a built-in variable of NGINX.
    pub fn define(&mut self, name: &str) -> Option<u32> {
        let name = &*name.to_ascii_lowercase();
        if own(name).is_some() || NAMES.iter().any(|(_, names)| names.contains(&name)) {
            return None;
        }
        let slot = self.slot(name);
        self.is_defined[slot as usize] = true;
        Some(slot)
    }

    /// Whether anything sets the slot.
    pub fn is_defined(&self, slot: u32) -> bool {
        self.is_defined[slot as usize]
    }

    /// Returns the name of a slot.
    pub fn name(&self, slot: u32) -> &str {
        &self.names[slot as usize]
    }

    /// Returns the number of slots.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no slots.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    fn slot(&mut self, name: &str) -> u32 {
        if let Some(slot) = self.by_name.get(name) {
            return *slot;
        }
        let slot = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name.into());
        self.is_defined.push(false);
        self.by_name.insert(name.into(), slot);
        slot
    }
}

/// Returns the built-in variable of NGINX with this name, if eddy supports it.
fn own(name: &str) -> Option<Variable> {
    Some(match name {
        "uri" | "document_uri" => Variable::Uri,
        "args" | "query_string" => Variable::Args,
        "is_args" => Variable::IsArgs,
        "request_uri" => Variable::RequestUri,
        "request" => Variable::Request,
        "request_method" => Variable::RequestMethod,
        "request_id" => Variable::RequestId,
        "host" => Variable::Host,
        "server_name" => Variable::ServerName,
        "server_addr" => Variable::ServerAddr,
        "server_port" => Variable::ServerPort,
        "server_protocol" => Variable::ServerProtocol,
        "scheme" => Variable::Scheme,
        "https" => Variable::Https,
        // eddy never changes the client address, so that both are the same.
        "remote_addr" | "realip_remote_addr" => Variable::RemoteAddr,
        "remote_port" | "realip_remote_port" => Variable::RemotePort,
        "http2" => Variable::Http2,
        "ssl_protocol" => Variable::Tls(TlsVariable::Protocol),
        "ssl_cipher" => Variable::Tls(TlsVariable::Cipher),
        "ssl_server_name" => Variable::Tls(TlsVariable::ServerName),
        "ssl_alpn_protocol" => Variable::Tls(TlsVariable::AlpnProtocol),
        "ssl_session_reused" => Variable::Tls(TlsVariable::SessionReused),
        "ssl_client_verify" => Variable::Tls(TlsVariable::ClientVerify),
        "ssl_client_s_dn" => Variable::Tls(TlsVariable::ClientSubject),
        "http3" | "ssl_early_data" | "upstream_cache_status" => Variable::Nothing,
        "proxy_host" => Variable::ProxyHost,
        "proxy_port" => Variable::ProxyPort,
        "proxy_add_x_forwarded_for" => Variable::ProxyAddForwardedFor,
        "content_type" => Variable::Header(b"content_type".as_slice().into()),
        "content_length" => Variable::Header(b"content_length".as_slice().into()),
        _ => return None,
    })
}

/// Returns why eddy does not support a built-in variable of NGINX.
fn refused(name: &str) -> Option<&'static str> {
    let by_prefix = PREFIXES.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, reason)| *reason);
    by_prefix.or_else(|| NAMES.iter().find(|(_, names)| names.contains(&name)).map(|(reason, _)| *reason))
}

const UPSTREAM: &str = "it is known only after the upstream has responded; use eddy's access log";
const ANSWER: &str = "it is known only when the response is written";

/// Families of variables; a configuration may define variables with these prefixes itself.
const PREFIXES: [(&str, &str); 8] = [
    ("upstream_http_", UPSTREAM),
    ("upstream_trailer_", UPSTREAM),
    ("upstream_cookie_", UPSTREAM),
    ("sent_http_", ANSWER),
    ("sent_trailer_", ANSWER),
    ("proxy_protocol_tlv_", PROXY_PROTOCOL),
    ("jwt_header_", "eddy does not support JWT authentication"),
    ("jwt_claim_", "eddy does not support JWT authentication"),
];

const PROXY_PROTOCOL: &str = "listeners of an nginx.conf do not support the PROXY protocol; those of an eddy.yaml do, and `$remote_addr` is then the client address";

/// Variables that a configuration cannot define.
const NAMES: [(&str, &[&str]); 8] = [
    (
        "eddy serves no files",
        &["document_root", "realpath_root", "request_filename", "fastcgi_script_name", "fastcgi_path_info"],
    ),
    (
        "it is a measurement of the exchange; use eddy's access log",
        &[
            "status",
            "bytes_sent",
            "body_bytes_sent",
            "request_time",
            "request_length",
            "request_completion",
            "connection",
            "connection_requests",
            "connection_time",
            "pipe",
            "msec",
            "time_local",
            "time_iso8601",
            "gzip_ratio",
        ],
    ),
    ("eddy streams the body and never buffers it completely", &["request_body", "request_body_file"]),
    ("eddy authenticates in filters", &["remote_user", "invalid_referer", "secure_link", "uid_got"]),
    (
        "it has no meaning in eddy",
        &["hostname", "nginx_version", "pid", "limit_rate", "binary_remote_addr", "tcpinfo_rtt"],
    ),
    (
        UPSTREAM,
        &[
            "upstream_addr",
            "upstream_status",
            "upstream_connect_time",
            "upstream_header_time",
            "upstream_response_time",
            "upstream_response_length",
            "upstream_bytes_received",
            "upstream_bytes_sent",
        ],
    ),
    (
        PROXY_PROTOCOL,
        &[
            "proxy_protocol_addr",
            "proxy_protocol_port",
            "proxy_protocol_server_addr",
            "proxy_protocol_server_port",
        ],
    ),
    (
        "eddy keeps only the protocol, cipher, names and client certificate subject of a TLS connection",
        &[
            "ssl_ciphers",
            "ssl_curve",
            "ssl_curves",
            "ssl_session_id",
            "ssl_sigalg",
            "ssl_client_cert",
            "ssl_client_raw_cert",
            "ssl_client_escaped_cert",
            "ssl_client_i_dn",
            "ssl_client_i_dn_legacy",
            "ssl_client_s_dn_legacy",
            "ssl_client_serial",
            "ssl_client_fingerprint",
            "ssl_client_sigalg",
            "ssl_client_v_start",
            "ssl_client_v_end",
            "ssl_client_v_remain",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::{Variable, Variables};

    #[test]
    fn a_configuration_may_define_its_own_variables() {
        let mut variables = Variables::default();
        for name in
            ["upstream_endpoint", "ssl_redirect", "sent_http_x", "upstream_http_x", "http_own", "jwt_own"]
        {
            assert!(variables.define(name).is_some(), "{name}");
            assert!(matches!(variables.find(name), Ok(Variable::Slot(_))), "{name}");
        }
        for name in [
            "upstream_addr",
            "ssl_cipher",
            "ssl_client_cert",
            "proxy_protocol_addr",
            "realip_remote_addr",
            "uri",
        ] {
            assert!(variables.define(name).is_none(), "{name}");
        }
    }

    #[test]
    fn unsupported_variables_have_a_reason() {
        let mut variables = Variables::default();
        for (name, word) in [
            ("upstream_http_y", "responded"),
            ("upstream_addr", "responded"),
            ("ssl_client_cert", "certificate"),
            ("proxy_protocol_addr", "PROXY"),
            ("document_root", "files"),
        ] {
            assert!(variables.find(name).unwrap_err().contains(word), "{name}");
        }
        assert_eq!(variables.find("Realip_Remote_ADDR"), Ok(Variable::RemoteAddr));
        assert_eq!(variables.find("ssl_early_data"), Ok(Variable::Nothing));
    }
}
