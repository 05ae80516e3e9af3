//! The variables that values name.

use std::collections::HashMap;

/// A variable: a fact of the request, or a slot that the configuration fills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Variable {
    /// `$uri`, `$document_uri`: the path as it is now, decoded.
    Uri,
    /// `$args`, `$query_string`: the query as it is now.
    Args,
    /// `$is_args`: `?` if there is a query.
    IsArgs,
    /// `$request_uri`: path and query as they were sent.
    RequestUri,
    /// `$request`: the request line.
    Request,
    /// `$request_method`.
    RequestMethod,
    /// `$request_id`: 32 random hexadecimal digits.
    RequestId,
    /// `$host`: the host asked for in lower case, else the server's name.
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
    /// `$https`: `on` or nothing.
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
    /// `$1` and so on: a group of the expression that matched last.
    Group(usize),
    /// `$http_NAME`; the name in lower case with `_` for `-`.
    Header(Box<[u8]>),
    /// `$arg_NAME`.
    Argument(Box<[u8]>),
    /// `$cookie_NAME`.
    Cookie(Box<[u8]>),
    /// A variable of the configuration: of `set`, of `map`, or a named group.
    Slot(u32),
}

/// The variables of a configuration.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    names: Vec<Box<str>>,
    is_defined: Vec<bool>,
    by_name: HashMap<Box<str>, u32>,
}

impl Variables {
    /// The variable of this name, without `$`; a name that NGINX does not have gets a slot.
    ///
    /// # Errors
    ///
    /// Why eddy does not have a variable of NGINX's own.
    pub fn find(&mut self, name: &str) -> Result<Variable, &'static str> {
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
                return Ok(make(rest.to_ascii_lowercase().into_bytes().into()));
            }
        }
        match refused(name) {
            Some(reason) => Err(reason),
            None => Ok(Variable::Slot(self.slot(name))),
        }
    }

    /// The slot of a variable that `set`, `map` or a named group fills; `None` for one of NGINX's own.
    pub fn define(&mut self, name: &str) -> Option<u32> {
        if own(name).is_some() || refused(name).is_some() {
            return None;
        }
        let slot = self.slot(name);
        self.is_defined[slot as usize] = true;
        Some(slot)
    }

    /// Whether anything fills the slot.
    pub fn is_defined(&self, slot: u32) -> bool {
        self.is_defined.get(slot as usize).copied().unwrap_or(false)
    }

    /// The name of a slot.
    pub fn name(&self, slot: u32) -> &str {
        self.names.get(slot as usize).map_or("", |name| name)
    }

    /// How many slots there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
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

/// The variables of NGINX's own that eddy has.
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
        "remote_addr" => Variable::RemoteAddr,
        "remote_port" => Variable::RemotePort,
        "proxy_host" => Variable::ProxyHost,
        "proxy_port" => Variable::ProxyPort,
        "proxy_add_x_forwarded_for" => Variable::ProxyAddForwardedFor,
        "content_type" => Variable::Header(b"content_type".as_slice().into()),
        "content_length" => Variable::Header(b"content_length".as_slice().into()),
        _ => return None,
    })
}

/// Why eddy does not have a variable of NGINX's own.
fn refused(name: &str) -> Option<&'static str> {
    const PREFIXES: [(&str, &str); 6] = [
        ("upstream_", "it is known only when the upstream has answered; eddy's access log has it"),
        ("ssl_", "eddy has no TLS listeners yet"),
        ("sent_http_", "it is known only when the answer is written"),
        ("sent_trailer_", "it is known only when the answer is written"),
        ("proxy_protocol_", "eddy does not read the PROXY protocol"),
        ("jwt_", "eddy has no JWT module"),
    ];
    const NAMES: [(&str, &[&str]); 5] = [
        (
            "eddy serves no files",
            &[
                "document_root",
                "realpath_root",
                "request_filename",
                "fastcgi_script_name",
                "fastcgi_path_info",
            ],
        ),
        (
            "it is a figure of the exchange; eddy's access log has it",
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
        ("the body is streamed and never held as a whole", &["request_body", "request_body_file"]),
        (
            "authentication is a filter's in eddy",
            &["remote_user", "invalid_referer", "secure_link", "uid_got"],
        ),
        (
            "it means nothing in eddy",
            &[
                "hostname",
                "nginx_version",
                "pid",
                "limit_rate",
                "binary_remote_addr",
                "http2",
                "http3",
                "tcpinfo_rtt",
            ],
        ),
    ];
    let by_prefix = PREFIXES.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, reason)| *reason);
    by_prefix.or_else(|| NAMES.iter().find(|(_, names)| names.contains(&name)).map(|(reason, _)| *reason))
}
