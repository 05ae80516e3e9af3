//! Requests and responses as an independent parser sees them.

/// Field lines in the order received, names as received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WireFields(pub Vec<(Vec<u8>, Vec<u8>)>);

/// Framing of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WireBodyFraming {
    /// No body.
    #[default]
    None,
    /// Length from `Content-Length`.
    Length(u64),
    /// `Transfer-Encoding: chunked`.
    Chunked,
    /// Framed by the end of the connection; responses only.
    UntilClose,
}

/// A request read from the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WireRequest {
    /// Method, as received.
    pub method: Vec<u8>,
    /// Request target, as received.
    pub target: Vec<u8>,
    /// Minor version: 0 or 1 of `HTTP/1.x`.
    pub minor: u8,
    /// Field lines of the head.
    pub fields: WireFields,
    /// Framing of the body.
    pub framing: WireBodyFraming,
    /// Body; the received part when the message is incomplete.
    pub body: Vec<u8>,
    /// Trailer fields.
    pub trailers: WireFields,
}

/// A response read from the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WireResponse {
    /// Status code.
    pub status: u16,
    /// Minor version: 0 or 1 of `HTTP/1.x`.
    pub minor: u8,
    /// Reason phrase.
    pub reason: Vec<u8>,
    /// Field lines of the head.
    pub fields: WireFields,
    /// Framing of the body.
    pub framing: WireBodyFraming,
    /// Body; the received part when the message is incomplete.
    pub body: Vec<u8>,
    /// Trailer fields.
    pub trailers: WireFields,
}

impl WireFields {
    /// Returns the value of the first field named `name`, case-insensitively.
    pub fn first(&self, name: &str) -> Option<&[u8]> {
        self.0.iter().find(|(n, _)| n.eq_ignore_ascii_case(name.as_bytes())).map(|(_, v)| v.as_slice())
    }

    /// Returns the values of all fields named `name`, case-insensitively.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> + 'a {
        self.0.iter().filter(move |(n, _)| n.eq_ignore_ascii_case(name.as_bytes())).map(|(_, v)| v.as_slice())
    }

    /// Number of fields named `name`.
    pub fn count(&self, name: &str) -> usize {
        self.all(name).count()
    }

    /// Returns the value of the first field named `name` as text; empty when there is none.
    pub fn text(&self, name: &str) -> String {
        self.first(name).map(|value| String::from_utf8_lossy(value).into_owned()).unwrap_or_default()
    }

    /// Whether a list-valued field contains `token`, case-insensitively.
    pub fn has_token(&self, name: &str, token: &str) -> bool {
        self.all(name)
            .flat_map(|value| value.split(|byte| *byte == b','))
            .any(|member| member.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
    }
}

impl WireRequest {
    /// Returns the value of `Host`; empty when there is none.
    pub fn host(&self) -> &[u8] {
        self.fields.first("host").unwrap_or_default()
    }

    /// Returns the target as text.
    pub fn target_text(&self) -> String {
        String::from_utf8_lossy(&self.target).into_owned()
    }

    /// Whether the connection may carry another request after this one.
    pub fn is_keep_alive(&self) -> bool {
        keeps_alive(self.minor, &self.fields)
    }
}

impl WireResponse {
    /// Returns the body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Whether the connection may carry another response after this one.
    pub fn is_keep_alive(&self) -> bool {
        self.framing != WireBodyFraming::UntilClose && keeps_alive(self.minor, &self.fields)
    }

    /// Whether this is an interim response other than 101.
    pub fn is_interim(&self) -> bool {
        (100..200).contains(&self.status) && self.status != 101
    }
}

fn keeps_alive(minor: u8, fields: &WireFields) -> bool {
    if fields.has_token("connection", "close") {
        return false;
    }
    minor == 1 || fields.has_token("connection", "keep-alive")
}
