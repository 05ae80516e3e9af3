//! A request and a response as an independent reader sees them.

/// Field lines in the order they were sent, names as sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WireFields(pub Vec<(Vec<u8>, Vec<u8>)>);

/// How the end of a body is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WireBodyFraming {
    /// There is no body.
    #[default]
    None,
    /// `Content-Length` says so.
    Length(u64),
    /// `Transfer-Encoding: chunked`.
    Chunked,
    /// The end of the connection ends the body; responses only.
    UntilClose,
}

/// A request read from the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WireRequest {
    /// The method, as sent.
    pub method: Vec<u8>,
    /// The request target, as sent.
    pub target: Vec<u8>,
    /// 0 or 1 of `HTTP/1.x`.
    pub minor: u8,
    /// The field lines of the head.
    pub fields: WireFields,
    /// How the body is framed.
    pub framing: WireBodyFraming,
    /// The body; what came of it when the message is not whole.
    pub body: Vec<u8>,
    /// The trailer fields.
    pub trailers: WireFields,
}

/// A response read from the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WireResponse {
    /// The status code.
    pub status: u16,
    /// 0 or 1 of `HTTP/1.x`.
    pub minor: u8,
    /// The reason phrase.
    pub reason: Vec<u8>,
    /// The field lines of the head.
    pub fields: WireFields,
    /// How the body is framed.
    pub framing: WireBodyFraming,
    /// The body; what came of it when the message is not whole.
    pub body: Vec<u8>,
    /// The trailer fields.
    pub trailers: WireFields,
}

impl WireFields {
    /// The value of the first field called `name`, in any case.
    pub fn first(&self, name: &str) -> Option<&[u8]> {
        self.0.iter().find(|(n, _)| n.eq_ignore_ascii_case(name.as_bytes())).map(|(_, v)| v.as_slice())
    }

    /// The values of all fields called `name`, in any case.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> + 'a {
        self.0.iter().filter(move |(n, _)| n.eq_ignore_ascii_case(name.as_bytes())).map(|(_, v)| v.as_slice())
    }

    /// How many fields are called `name`.
    pub fn count(&self, name: &str) -> usize {
        self.all(name).count()
    }

    /// The value of the first field called `name` as text; empty when there is none.
    pub fn text(&self, name: &str) -> String {
        self.first(name).map(|value| String::from_utf8_lossy(value).into_owned()).unwrap_or_default()
    }

    /// Whether a list-valued field holds `token`, in any case.
    pub fn has_token(&self, name: &str, token: &str) -> bool {
        self.all(name)
            .flat_map(|value| value.split(|byte| *byte == b','))
            .any(|member| member.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
    }
}

impl WireRequest {
    /// The value of `Host`; empty when there is none.
    pub fn host(&self) -> &[u8] {
        self.fields.first("host").unwrap_or_default()
    }

    /// The target as text.
    pub fn target_text(&self) -> String {
        String::from_utf8_lossy(&self.target).into_owned()
    }

    /// Whether the connection may carry another request after this one.
    pub fn is_keep_alive(&self) -> bool {
        keeps_alive(self.minor, &self.fields)
    }
}

impl WireResponse {
    /// The body as text.
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
