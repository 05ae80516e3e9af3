//! Evaluation of values from text, request properties and variables of the configuration.

use std::io::Write as _;

use super::escape::Escape;
use super::pattern::SearchPattern;
use super::run::NginxLookup;
use super::spec::{LocationHandler, ProxyPassTarget};
use super::state::NginxRequestState;
use super::text::{TextPart, TextTemplate};
use super::variable::{TlsVariable, Variable};

/// Form in which the groups of an expression are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupSpelling {
    /// Unchanged.
    Plain,
    /// Percent-encoded for a query, if the path as sent had escapes.
    Escaped,
}

impl<'s> NginxLookup<'_, 's> {
    /// Evaluates a value; return the buffer with [`Self::recycle_buffer`].
    pub(crate) fn text_of(&mut self, text: &'s TextTemplate) -> Vec<u8> {
        self.spelt(text, GroupSpelling::Plain)
    }

    /// Evaluates a value with groups in the given form; return the buffer with [`Self::recycle_buffer`].
    pub(crate) fn spelt(&mut self, text: &'s TextTemplate, spelling: GroupSpelling) -> Vec<u8> {
        let mut out = self.buffer();
        self.write_text(text, spelling, &mut out);
        out
    }

    /// Returns an empty buffer.
    pub(crate) fn buffer(&mut self) -> Vec<u8> {
        self.walk.spare.pop().unwrap_or_default()
    }

    /// Keeps a buffer for the next value.
    pub(crate) fn recycle_buffer(&mut self, mut buffer: Vec<u8>) {
        if self.walk.spare.len() < SPARE_MAX && buffer.capacity() <= SPARE_BYTES_MAX {
            buffer.clear();
            self.walk.spare.push(buffer);
        }
    }

    /// Sets a variable of the configuration.
    pub(crate) fn fill(&mut self, slot: u32, value: &[u8]) {
        let NginxRequestState { values, slots, is_too_long, .. } = &mut *self.walk;
        if values.len() + value.len() > VALUES_BYTES_MAX {
            *is_too_long = true;
            return;
        }
        let start = values.len();
        values.extend_from_slice(value);
        slots[slot as usize] = Some(start..values.len());
    }

    /// Searches for an expression in the path.
    pub(crate) fn match_path(&mut self, pattern: &SearchPattern) -> bool {
        let path = std::mem::take(&mut self.walk.path);
        let is_match = self.match_value(pattern, &path);
        self.walk.path = path;
        is_match
    }

    /// Searches for an expression in a value, and stores its groups.
    pub(crate) fn match_value(&mut self, pattern: &SearchPattern, value: &[u8]) -> bool {
        let is_match = pattern.find(value, self.scratch, &mut self.walk.groups);
        if is_match {
            self.store_captures(pattern, value);
        }
        is_match
    }

    /// Stores the text that the groups refer to, and sets the variables of named groups.
    pub(crate) fn store_captures(&mut self, pattern: &SearchPattern, value: &[u8]) {
        if self.walk.groups.is_empty() {
            return;
        }
        self.walk.group_text.clear();
        self.walk.group_text.extend_from_slice(value);
        for (number, slot) in pattern.slots() {
            let group = self.walk.groups[*number - 1].clone();
            self.fill(*slot, &value[group]);
        }
    }

    fn write_text(&mut self, text: &'s TextTemplate, spelling: GroupSpelling, out: &mut Vec<u8>) {
        for part in &text.parts {
            match part {
                TextPart::Text(text) => out.extend_from_slice(text),
                TextPart::Variable(variable) => self.write_variable(variable, spelling, out),
            }
            if out.len() > TEXT_BYTES_MAX {
                self.walk.is_too_long = true;
                out.truncate(TEXT_BYTES_MAX);
                return;
            }
        }
    }

    fn write_variable(&mut self, variable: &'s Variable, spelling: GroupSpelling, out: &mut Vec<u8>) {
        match variable {
            Variable::Group(number) => self.write_group(*number, spelling, out),
            Variable::Slot(slot) => self.write_slot(*slot, out),
            Variable::ProxyHost | Variable::ProxyPort => self.write_upstream(variable, out),
            Variable::Header(name) => self.write_field(name, out),
            Variable::Argument(name) => {
                out.extend_from_slice(argument(&self.walk.query, name).unwrap_or_default());
            }
            Variable::Cookie(name) => self.write_cookie(name, out),
            Variable::Uri => out.extend_from_slice(&self.walk.path),
            Variable::Args => out.extend_from_slice(&self.walk.query),
            Variable::IsArgs => out.extend_from_slice(if self.walk.query.is_empty() { b"" } else { b"?" }),
            Variable::ProxyAddForwardedFor => {
                let start = out.len();
                self.write_field(b"x_forwarded_for", out);
                if out.len() > start {
                    out.extend_from_slice(b", ");
                }
                out.extend_from_slice(self.request.remote_address);
            }
            Variable::Host => match self.walk.host.as_slice() {
                b"" => self.write_server_name(out),
                host => out.extend_from_slice(host),
            },
            Variable::ServerName => self.write_server_name(out),
            Variable::RequestUri
            | Variable::Request
            | Variable::RequestMethod
            | Variable::RequestId
            | Variable::ServerAddr
            | Variable::ServerPort
            | Variable::ServerProtocol
            | Variable::Scheme
            | Variable::Https
            | Variable::RemoteAddr
            | Variable::RemotePort
            | Variable::Http2 => self.write_fact(variable, out),
            Variable::Tls(fact) => self.write_tls(*fact, out),
            Variable::Nothing => {}
        }
    }

    /// Writes a property of the request or its connection that processing does not change.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is no fact is written elsewhere")]
    fn write_fact(&self, variable: &Variable, out: &mut Vec<u8>) {
        let request = self.request;
        // Writing to memory cannot fail.
        let _ = match variable {
            Variable::RequestUri => out.write_all(request.target),
            Variable::Request => out
                .write_all(request.method)
                .and_then(|()| out.write_all(b" "))
                .and_then(|()| out.write_all(request.target))
                .and_then(|()| write!(out, " {}", request.protocol)),
            Variable::RequestMethod => {
                out.write_all(if self.walk.becomes_get { b"GET" } else { request.method })
            }
            Variable::RequestId => write!(out, "{:032x}", request.id),
            Variable::ServerAddr => out.write_all(request.local_address),
            Variable::ServerPort => write!(out, "{}", request.local_port),
            Variable::ServerProtocol => out.write_all(request.protocol.as_bytes()),
            Variable::Scheme => out.write_all(request.scheme().as_bytes()),
            Variable::Https if request.tls.is_some() => out.write_all(b"on"),
            Variable::Http2 if request.protocol == "HTTP/2.0" => {
                out.write_all(if request.tls.is_some() { b"h2" } else { b"h2c" })
            }
            Variable::RemoteAddr => out.write_all(request.remote_address),
            Variable::RemotePort => write!(out, "{}", request.remote_port),
            // All others are not such properties; `$https` is empty without TLS, `$http2` for other versions.
            _ => Ok(()),
        };
    }

    fn write_tls(&self, fact: TlsVariable, out: &mut Vec<u8>) {
        let Some(tls) = &self.request.tls else { return };
        match fact {
            TlsVariable::Protocol => out.extend_from_slice(tls.version.as_bytes()),
            TlsVariable::Cipher => out.extend_from_slice(openssl_name(tls.suite).as_bytes()),
            TlsVariable::ServerName => out.extend_from_slice(tls.server_name.as_bytes()),
            TlsVariable::AlpnProtocol => out.extend_from_slice(tls.protocol),
            TlsVariable::SessionReused => out.push(if tls.is_resumed { b'r' } else { b'.' }),
            TlsVariable::ClientVerify => {
                out.extend_from_slice(if tls.client_subject.is_some() { b"SUCCESS" } else { b"NONE" });
            }
            TlsVariable::ClientSubject => {
                out.extend_from_slice(tls.client_subject.unwrap_or_default().as_bytes());
            }
        }
    }

    fn write_group(&self, number: usize, spelling: GroupSpelling, out: &mut Vec<u8>) {
        let Some(group) = self.walk.groups.get(number - 1) else { return };
        let group = &self.walk.group_text[group.clone()];
        let was_escaped = self.walk.spelling.is_quoted || self.walk.spelling.has_plus;
        if spelling == GroupSpelling::Escaped && was_escaped {
            Escape::Query.write(group, out);
        } else {
            out.extend_from_slice(group);
        }
    }

    fn write_server_name(&self, out: &mut Vec<u8>) {
        if let Some(name) = self.sites.names_of(self.walk.server).first() {
            name.write_display_name(out);
        }
    }

    fn write_upstream(&self, variable: &Variable, out: &mut Vec<u8>) {
        let LocationHandler::Proxy(proxy) = &self.place().hand else { return };
        match (&proxy.upstream, variable) {
            (ProxyPassTarget::Fixed { host, .. }, Variable::ProxyHost) => {
                out.extend_from_slice(host.as_bytes())
            }
            (ProxyPassTarget::Fixed { port, .. }, _) => out.extend_from_slice(port.as_bytes()),
            // The address from the value is stored when the upstream is chosen.
            (ProxyPassTarget::Computed { .. }, Variable::ProxyHost) => {
                out.extend_from_slice(&self.walk.upstream_host)
            }
            (ProxyPassTarget::Computed { .. }, _) => out.extend_from_slice(&self.walk.upstream_port),
        }
    }

    /// Writes the joined lines of a field.
    fn write_field(&self, name: &[u8], out: &mut Vec<u8>) {
        let separator: &[u8] = if name == b"cookie" { b"; " } else { b", " };
        let mut is_first = true;
        for field in self.request.fields.iter().filter(|field| is_field(field.name, name)) {
            if !is_first {
                out.extend_from_slice(separator);
            }
            is_first = false;
            out.extend_from_slice(field.value);
        }
    }

    fn write_cookie(&self, name: &[u8], out: &mut Vec<u8>) {
        let cookies = self.request.fields.iter().filter(|field| is_field(field.name, b"cookie"));
        for cookie in cookies.flat_map(|field| field.value.split(|byte| matches!(byte, b';' | b','))) {
            let Some(at) = memchr::memchr(b'=', cookie) else { continue };
            if cookie[..at].trim_ascii().eq_ignore_ascii_case(name) {
                out.extend_from_slice(cookie[at + 1..].trim_ascii());
                return;
            }
        }
    }

    fn write_slot(&mut self, slot: u32, out: &mut Vec<u8>) {
        if let Some(value) = self.walk.slots.get(slot as usize).cloned().flatten() {
            out.extend_from_slice(&self.walk.values[value]);
            return;
        }
        let sites = self.sites;
        let Some(map) = sites.map_of(slot) else { return };
        // A map that refers to itself is empty.
        if self.walk.depth >= MAP_DEPTH_MAX {
            return;
        }
        self.walk.depth += 1;
        let source = self.text_of(&map.spec.source);
        let mut folded = self.buffer();
        let Self { scratch, walk, .. } = self;
        let (value, pattern) =
            map.value(&source, &mut folded, |pattern| pattern.find(&source, scratch, &mut walk.groups));
        let start = out.len();
        if let Some(pattern) = pattern {
            self.store_captures(pattern, &source);
        }
        self.write_text(value, GroupSpelling::Plain, out);
        if !map.spec.is_volatile {
            self.fill(slot, &out[start..]);
        }
        self.recycle_buffer(source);
        self.recycle_buffer(folded);
        self.walk.depth -= 1;
    }
}

/// Returns the OpenSSL name of a cipher suite given by its IANA name.
fn openssl_name(suite: &str) -> &str {
    match suite {
        "TLS13_AES_128_GCM_SHA256" => "TLS_AES_128_GCM_SHA256",
        "TLS13_AES_256_GCM_SHA384" => "TLS_AES_256_GCM_SHA384",
        "TLS13_CHACHA20_POLY1305_SHA256" => "TLS_CHACHA20_POLY1305_SHA256",
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256" => "ECDHE-ECDSA-AES128-GCM-SHA256",
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384" => "ECDHE-ECDSA-AES256-GCM-SHA384",
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256" => "ECDHE-ECDSA-CHACHA20-POLY1305",
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256" => "ECDHE-RSA-AES128-GCM-SHA256",
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384" => "ECDHE-RSA-AES256-GCM-SHA384",
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256" => "ECDHE-RSA-CHACHA20-POLY1305",
        other => other,
    }
}

/// Whether a field has this name, which is in lower case with `_` for `-`.
fn is_field(name: &[u8], wanted: &[u8]) -> bool {
    let fold = |byte: &u8| if *byte == b'-' { b'_' } else { byte.to_ascii_lowercase() };
    name.len() == wanted.len() && name.iter().map(fold).eq(wanted.iter().copied())
}

/// Returns the raw value of a query parameter; the name in any letter case.
fn argument<'q>(query: &'q [u8], name: &[u8]) -> Option<&'q [u8]> {
    query.split(|byte| *byte == b'&').find_map(|pair| {
        let (found, value) = pair.split_at_checked(name.len())?;
        if found.eq_ignore_ascii_case(name) { value.strip_prefix(b"=") } else { None }
    })
}

/// Maximum length of a value, bytes.
const TEXT_BYTES_MAX: usize = 256 << 10;

/// Maximum bytes of all variables that a request sets.
const VALUES_BYTES_MAX: usize = 1 << 20;

/// Maximum nesting of maps that refer to maps.
const MAP_DEPTH_MAX: u8 = 16;

/// Number of buffers that are kept for the next value, and their maximum size.
const SPARE_MAX: usize = 8;
const SPARE_BYTES_MAX: usize = 8 << 10;
