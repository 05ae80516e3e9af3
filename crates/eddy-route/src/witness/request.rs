//! A request that was made up.

use std::fmt;

use eddy_http::{Field, FieldId, Fields, Span};
use serde::Serialize;

use crate::request::RouteRequest;

/// A request that shows something of a rule. Displays as one line for people: `GET www.example.com/user?v=1 (x-beta: 1)`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Witness {
    /// The method.
    pub method: String,
    /// The host; empty for a request without one.
    pub host: String,
    /// The normalised path.
    pub path: String,
    /// The query without `?`, encoded.
    pub query: String,
    /// The fields beside the host.
    pub fields: Vec<(String, String)>,
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
        look(&RouteRequest {
            host: self.host.as_bytes(),
            path: self.path.as_bytes(),
            query: self.query.as_bytes(),
            method: self.method.as_bytes(),
            fields: Fields::new(&bytes, &fields),
        })
    }
}

impl fmt::Display for Witness {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}{}", self.method, self.host, self.path)?;
        if !self.query.is_empty() {
            write!(out, "?{}", self.query)?;
        }
        if self.fields.is_empty() {
            return Ok(());
        }
        let fields: Vec<String> =
            self.fields.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        write!(out, " ({})", fields.join(", "))
    }
}
