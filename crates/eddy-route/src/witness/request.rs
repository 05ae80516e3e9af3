//! A generated request.

use std::fmt;

use eddy_http::{Field, FieldId, Fields, Span};
use serde::Serialize;

use crate::request::RouteRequest;

/// An example request for a rule. Displays as one line: `GET www.example.com/user?v=1 (x-beta: 1)`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Witness {
    /// Method.
    pub method: String,
    /// Host, with a port if one matters; empty for a request without host.
    pub host: String,
    /// Normalised path.
    pub path: String,
    /// Query without `?`, encoded.
    pub query: String,
    /// Header fields beside the host.
    pub fields: Vec<(String, String)>,
    /// `http` or `https`.
    #[serde(skip_serializing_if = "is_http")]
    pub scheme: String,
    /// Random number that decides whether the request belongs to a rule's fraction.
    #[serde(skip_serializing_if = "is_zero")]
    pub random: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(random: &u64) -> bool {
    *random == 0
}

fn is_http(scheme: &str) -> bool {
    matches!(scheme, "" | "http")
}

impl Witness {
    /// Calls `look` with the request.
    pub fn with<T>(&self, look: impl FnOnce(&RouteRequest<'_>) -> T) -> T {
        let mut bytes = Vec::new();
        let mut span = |text: &str| {
            let start = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            bytes.extend_from_slice(text.as_bytes());
            Span { start, end: u32::try_from(bytes.len()).unwrap_or(u32::MAX) }
        };
        let mut fields = Vec::with_capacity(self.fields.len());
        for (name, value) in &self.fields {
            let id = FieldId::from_name(name.as_bytes());
            fields.push(Field { name: span(name), value: span(value), id, ..Field::default() });
        }
        let sign = if self.query.is_empty() { "" } else { "?" };
        let target = format!("{}{sign}{}", self.path, self.query);
        look(&RouteRequest {
            host: host_of(&self.host).as_bytes(),
            authority: self.host.as_bytes(),
            path: self.path.as_bytes(),
            query: self.query.as_bytes(),
            target: target.as_bytes(),
            scheme: if self.scheme.is_empty() { b"http" } else { self.scheme.as_bytes() },
            method: self.method.as_bytes(),
            random: self.random,
            fields: Fields::new(&bytes, &fields),
        })
    }
}

/// Returns an authority without its port.
fn host_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

impl fmt::Display for Witness {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}{}", self.method, self.host, self.path)?;
        if !self.query.is_empty() {
            write!(out, "?{}", self.query)?;
        }
        let mut more: Vec<String> =
            self.fields.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        if !is_http(&self.scheme) {
            more.push(format!("by {}", self.scheme));
        }
        if self.random != 0 {
            more.push(format!("random number {}", self.random));
        }
        if more.is_empty() { Ok(()) } else { write!(out, " ({})", more.join(", ")) }
    }
}
