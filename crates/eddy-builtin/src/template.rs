//! Strings with variables, parsed when a configuration is checked and rendered for each request.

use eddy_filter::{ExchangeInfo, ExchangeView};
use thiserror::Error;

use super::scratch::Scratch;

/// String with variables such as `${peer}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateString {
    pub(super) parts: Vec<TemplatePart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TemplatePart {
    Literal(Box<[u8]>),
    Fact(Fact),
    /// Request header.
    RequestField(Box<[u8]>),
    /// Response header.
    ResponseField(Box<[u8]>),
    /// Metadata value of a filter.
    Metadata {
        space: Box<[u8]>,
        key: Box<[u8]>,
    },
}

/// Variable with a property of the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fact {
    Peer,
    PeerIp,
    Local,
    Listener,
    Rule,
    Cluster,
    Endpoint,
    RequestId,
    Method,
    Target,
    Path,
    Query,
    Authority,
    Scheme,
    Status,
}

/// Error of parsing a string with variables.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TemplateError {
    /// `${` without `}`.
    #[error("has `${{` without `}}`; write `$$` for a dollar sign")]
    Open,
    /// `$` that is neither `${` nor `$$`.
    #[error("has a lone `$`; write `$$` for a dollar sign")]
    UnescapedDollar,
    /// Unknown variable.
    #[error("has the unknown variable `{name}`")]
    Unknown {
        /// Name as written.
        name: String,
    },
    /// Control character, which no header may contain.
    #[error("has a control character, which is not allowed in a header")]
    Control,
}

impl TemplateString {
    /// Parses a string.
    ///
    /// # Errors
    /// Any [`TemplateError`].
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        if text.bytes().any(|byte| byte != b'\t' && byte.is_ascii_control()) {
            return Err(TemplateError::Control);
        }
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text.trim_matches([' ', '\t']);
        while let Some((before, after)) = rest.split_once('$') {
            literal.push_str(before);
            if let Some(after) = after.strip_prefix('$') {
                literal.push('$');
                rest = after;
                continue;
            }
            let inner = after.strip_prefix('{').ok_or(TemplateError::UnescapedDollar)?;
            let (name, after) = inner.split_once('}').ok_or(TemplateError::Open)?;
            push_literal(&mut parts, &mut literal);
            parts.push(variable(name)?);
            rest = after;
        }
        literal.push_str(rest);
        push_literal(&mut parts, &mut literal);
        Ok(Self { parts })
    }

    /// Returns the names of all variables, for messages and documentation.
    pub fn variables() -> impl Iterator<Item = &'static str> {
        FACTS.iter().map(|(name, _)| *name).chain(["header.NAME", "response.NAME", "metadata.SPACE.KEY"])
    }

    /// Whether the string uses a variable that only a response has.
    pub fn needs_response(&self) -> bool {
        let needs = |part: &TemplatePart| match part {
            TemplatePart::Fact(fact) => matches!(fact, Fact::Status | Fact::Endpoint),
            TemplatePart::ResponseField(_) => true,
            TemplatePart::Literal(_) | TemplatePart::RequestField(_) | TemplatePart::Metadata { .. } => false,
        };
        self.parts.iter().any(needs)
    }
}

impl TemplateString {
    /// Renders the string; unknown values are empty.
    pub(super) fn render(&self, view: &ExchangeView<'_>, out: &mut Scratch) {
        let about = view.about();
        for part in &self.parts {
            match part {
                TemplatePart::Literal(bytes) => out.push(bytes),
                TemplatePart::Fact(fact) => fact.write(view, &about, out),
                TemplatePart::RequestField(name) => {
                    out.push(view.request.fields.first_named(name).unwrap_or_default())
                }
                TemplatePart::ResponseField(name) => {
                    let response = view.response.unwrap_or_default();
                    out.push(response.fields.first_named(name).unwrap_or_default());
                }
                TemplatePart::Metadata { space, key } => {
                    let value = about.metadata.and_then(|metadata| metadata.get(space, key));
                    push_json(value.unwrap_or_default(), out);
                }
            }
        }
    }
}

impl Fact {
    fn write(self, view: &ExchangeView<'_>, about: &ExchangeInfo<'_>, out: &mut Scratch) {
        let request = &view.request;
        let (path, query) = match request.target.iter().position(|byte| *byte == b'?') {
            Some(at) => request.target.split_at(at),
            None => (request.target, &[] as &[u8]),
        };
        out.push(match self {
            Self::Peer => about.peer,
            Self::PeerIp => {
                if let Some(address) = about.peer_ip {
                    out.format(format_args!("{}", address.to_canonical()));
                }
                return;
            }
            Self::Local => about.local,
            Self::Listener => about.listener,
            Self::Rule => about.rule,
            Self::Cluster => about.cluster,
            Self::Endpoint => about.endpoint,
            Self::RequestId => about.request_id,
            Self::Method => request.method_name,
            Self::Target => request.target,
            Self::Path => path,
            Self::Query => query.get(1..).unwrap_or_default(),
            Self::Authority => request.authority,
            Self::Scheme if request.is_tls => b"https",
            Self::Scheme => b"http",
            Self::Status => {
                if let Some(response) = &view.response {
                    out.format(format_args!("{}", response.status));
                }
                return;
            }
        });
    }
}

/// Appends a JSON value as a header value: a string without quotes and escapes, other values unchanged. Control
/// characters become spaces.
fn push_json(json: &[u8], out: &mut Scratch) {
    let Some(text) = json.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")) else {
        json.iter().for_each(|byte| out.push(&[printable(*byte)]));
        return;
    };
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        rest = after;
        if *byte != b'\\' {
            out.push(&[printable(*byte)]);
            continue;
        }
        let [escape, after @ ..] = rest else { break };
        rest = after;
        match escape {
            b'u' => {
                let (character, after) = unescape(rest);
                rest = after;
                let character = if character.is_control() { ' ' } else { character };
                out.push(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            b'b' | b'f' | b'n' | b'r' | b't' => out.push(b" "),
            other => out.push(&[printable(*other)]),
        }
    }
}

/// Decodes the four hexadecimal digits at the start of `text`, with a surrogate pair if any; returns the rest.
fn unescape(text: &[u8]) -> (char, &[u8]) {
    let unit = |text: &[u8]| {
        let digits = text.get(..4).and_then(|digits| std::str::from_utf8(digits).ok())?;
        u16::from_str_radix(digits, 16).ok()
    };
    let Some(first) = unit(text) else { return (char::REPLACEMENT_CHARACTER, text) };
    let rest = text.get(4..).unwrap_or_default();
    let second = rest.strip_prefix(b"\\u").and_then(unit);
    let units = [first, second.unwrap_or_default()];
    match char::decode_utf16(units).next() {
        Some(Ok(character)) if char::from_u32(first.into()).is_none() => {
            (character, rest.get(6..).unwrap_or_default())
        }
        Some(Ok(character)) => (character, rest),
        _ => (char::REPLACEMENT_CHARACTER, rest),
    }
}

fn printable(byte: u8) -> u8 {
    if byte.is_ascii_control() { b' ' } else { byte }
}

fn push_literal(parts: &mut Vec<TemplatePart>, literal: &mut String) {
    if !literal.is_empty() {
        parts.push(TemplatePart::Literal(std::mem::take(literal).into_bytes().into()));
    }
}

fn variable(name: &str) -> Result<TemplatePart, TemplateError> {
    if let Some((_, fact)) = FACTS.iter().find(|(known, _)| *known == name) {
        return Ok(TemplatePart::Fact(*fact));
    }
    let unknown = || TemplateError::Unknown { name: name.to_owned() };
    let is_token = |text: &str| {
        let is_tchar = |byte: u8| byte.is_ascii_alphanumeric() || b"!#%&'*+-.^_`|~".contains(&byte);
        !text.is_empty() && text.bytes().all(is_tchar)
    };
    let field =
        |field: &str| Some(field).filter(|field| is_token(field)).map(|field| field.as_bytes().into());
    match name.split_once('.') {
        Some(("header", name)) => field(name).map(TemplatePart::RequestField).ok_or_else(unknown),
        Some(("response", name)) => field(name).map(TemplatePart::ResponseField).ok_or_else(unknown),
        Some(("metadata", path)) => {
            let (space, key) =
                path.split_once('.').filter(|(a, b)| !a.is_empty() && !b.is_empty()).ok_or_else(unknown)?;
            Ok(TemplatePart::Metadata { space: space.as_bytes().into(), key: key.as_bytes().into() })
        }
        _ => Err(unknown()),
    }
}

/// Variables without a parameter.
const FACTS: [(&str, Fact); 15] = [
    ("peer", Fact::Peer),
    ("peer_ip", Fact::PeerIp),
    ("local", Fact::Local),
    ("listener", Fact::Listener),
    ("rule", Fact::Rule),
    ("cluster", Fact::Cluster),
    ("endpoint", Fact::Endpoint),
    ("request_id", Fact::RequestId),
    ("method", Fact::Method),
    ("target", Fact::Target),
    ("path", Fact::Path),
    ("query", Fact::Query),
    ("authority", Fact::Authority),
    ("scheme", Fact::Scheme),
    ("status", Fact::Status),
];
