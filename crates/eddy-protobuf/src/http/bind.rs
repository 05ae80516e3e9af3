//! Encodes the fields that the path and query of a request set.

use std::sync::Arc;

use super::error::HttpBindError;
use super::options::HttpIndexOptions;
use super::percent::{Within, decode};
use super::route::{HttpBodyBinding, HttpRoute};
use super::template::Variable;
use crate::json::{Duplicates, FromJson, FromJsonOptions, Required, write_text};
use crate::limits::ProtobufLimits;
use crate::schema::{FieldType, Label, MessageId, Schema, Special};

/// Appends the fields of path and query. The path is appended last, so that it wins if both set a field.
pub(super) fn bind(
    schema: &Arc<Schema>,
    route: &HttpRoute,
    (path, query): (&[u8], &[u8]),
    options: &HttpIndexOptions,
    limits: &ProtobufLimits,
    out: &mut Vec<u8>,
) -> Result<(), HttpBindError> {
    if route.variables.is_empty() && query.is_empty() {
        return Ok(());
    }
    // Zeros are written too: they override the body.
    let json = FromJsonOptions {
        duplicates: Duplicates::Merge,
        required: Required::Pass,
        ..FromJsonOptions::default()
    };
    let json = FromJson::new(Arc::clone(schema), route.input, json, *limits);
    let mut binding = Binding { schema, route, options, json, text: Vec::new(), singular: Vec::new() };
    for (at, pair) in query.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()).enumerate() {
        if at >= PARAMETERS_MAX {
            return Err(HttpBindError::TooMany);
        }
        binding.parameter(pair, out)?;
    }
    for bound in &route.variables {
        let name = &bound.variable.field;
        let part = part_of(path, &bound.variable, route.has_verb);
        let within = if bound.variable.is_multi { Within::Segments } else { Within::Segment };
        let value = decode(part, within).ok_or_else(|| HttpBindError::Encoding("path".to_owned()))?;
        binding.put(name, &bound.fields, &value, out)?;
    }
    Ok(())
}

struct Binding<'r> {
    schema: &'r Schema,
    route: &'r HttpRoute,
    options: &'r HttpIndexOptions,
    json: FromJson,
    /// JSON of one field.
    text: Vec<u8>,
    /// Singular fields that are already set.
    singular: Vec<Box<[u16]>>,
}

/// Field of a query parameter.
struct QueryField {
    /// Indexes of the fields that lead to it, and its own.
    fields: Box<[u16]>,
    is_repeated: bool,
}

impl Binding<'_> {
    fn parameter(&mut self, pair: &[u8], out: &mut Vec<u8>) -> Result<(), HttpBindError> {
        let (name, value) = match pair.iter().position(|byte| *byte == b'=') {
            Some(at) => (pair.get(..at).unwrap_or_default(), pair.get(at + 1..).unwrap_or_default()),
            None => (pair, &[][..]),
        };
        let name = decode(name, Within::Query).ok_or_else(|| HttpBindError::Encoding("query".to_owned()))?;
        if self.options.ignored_parameters.contains(&name) {
            return Ok(());
        }
        // If the body is the whole message, no field is left for the query.
        let found = if self.route.body == HttpBodyBinding::Whole { None } else { self.resolve(&name)? };
        let Some(QueryField { fields, is_repeated }) = found else {
            return match self.options.ignores_unknown_parameters {
                true => Ok(()),
                false => Err(HttpBindError::Unknown(name)),
            };
        };
        let is_of_body =
            matches!(self.route.body, HttpBodyBinding::Field(body) if fields.first() == Some(&body));
        if is_of_body || self.route.variables.iter().any(|bound| bound.fields == fields) {
            return Err(HttpBindError::SetElsewhere(name));
        }
        let value =
            decode(value, Within::Query).ok_or_else(|| HttpBindError::Encoding("query".to_owned()))?;
        if !is_repeated && self.singular.contains(&fields) {
            return Err(HttpBindError::Twice(name));
        }
        self.put(&name, &fields, &value, out)?;
        if !is_repeated {
            self.singular.push(fields);
        }
        Ok(())
    }

    /// Returns the field of a parameter; `None` if there is no such field.
    fn resolve(&self, name: &str) -> Result<Option<QueryField>, HttpBindError> {
        let mut message = Some(self.route.input);
        let mut is_repeated = false;
        let mut indexes = Vec::new();
        for part in name.split('.') {
            let Some(of) = message else { return Ok(None) };
            let Some((index, field)) = self.schema.message(of).by_name(part.as_bytes()) else {
                return Ok(None);
            };
            if is_repeated || field.label == Label::Map {
                return Err(HttpBindError::Kind(name.to_owned()));
            }
            is_repeated = field.label == Label::Repeated;
            message = field.kind.message();
            indexes.push(index);
        }
        match message {
            Some(message) if !self.schema.message(message).special.has_text_form() => {
                Err(HttpBindError::Kind(name.to_owned()))
            }
            _ => Ok(Some(QueryField { fields: indexes.into(), is_repeated })),
        }
    }

    /// Writes one value by way of its JSON, so that only one set of rules exists for valid values.
    fn put(
        &mut self,
        name: &str,
        fields: &[u16],
        value: &str,
        out: &mut Vec<u8>,
    ) -> Result<(), HttpBindError> {
        self.text.clear();
        let mut message: Option<MessageId> = Some(self.route.input);
        let mut last = None;
        for index in fields {
            let field = message.and_then(|message| self.schema.message(message).field(*index));
            let Some(field) = field else { return Err(HttpBindError::Unknown(name.to_owned())) };
            self.text.push(b'{');
            // The key of an object is preceded by a comma.
            self.text.extend_from_slice(&field.json_key[1..]);
            message = field.kind.message();
            last = Some(field);
        }
        let Some(field) = last else { return Err(HttpBindError::Unknown(name.to_owned())) };
        let is_list = field.label == Label::Repeated;
        let is_bare = is_bare(self.schema, field.kind, value);
        if is_list {
            self.text.push(b'[');
        }
        if is_bare {
            self.text.extend_from_slice(value.as_bytes());
        } else {
            write_text(&mut self.text, value);
        }
        if is_list {
            self.text.push(b']');
        }
        self.text.extend(fields.iter().map(|_| b'}'));
        let message = self
            .json
            .convert(&self.text)
            .map_err(|fault| HttpBindError::Value { name: name.to_owned(), kind: fault.kind })?;
        if out.len() + message.len() > BOUND_BYTES_MAX {
            return Err(HttpBindError::TooMany);
        }
        out.extend_from_slice(message);
        Ok(())
    }
}

/// Whether a value is written without quotes in JSON: booleans, and enums by number. All others may be quoted.
fn is_bare(schema: &Schema, kind: FieldType, value: &str) -> bool {
    match kind {
        FieldType::Bool => matches!(value, "true" | "false"),
        FieldType::Enum(_) => value.parse::<i32>().is_ok() && !value.starts_with('+'),
        FieldType::Message(id) | FieldType::Group(id) if schema.message(id).special == Special::Wrapper => {
            let inner = schema.message(id).by_number(1).map(|(_, field)| field.kind);
            inner.is_some_and(|inner| inner == FieldType::Bool && is_bare(schema, inner, value))
        }
        _ => false,
    }
}

/// Returns the part of a path that sets a variable.
fn part_of<'p>(path: &'p [u8], variable: &Variable, has_verb: bool) -> &'p [u8] {
    let path = path.strip_prefix(b"/").unwrap_or(path);
    // A template with a verb has matched, so there is a colon.
    let colon = path.iter().rposition(|byte| *byte == b':').filter(|_| has_verb);
    let path = colon.and_then(|colon| path.get(..colon)).unwrap_or(path);
    let start_of = |segment: usize| match segment {
        0 => 0,
        _ => {
            let slash = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').nth(segment - 1);
            slash.map_or(path.len() + 1, |(at, _)| at + 1)
        }
    };
    let from = start_of(variable.from);
    let to = variable.to.map_or(path.len(), |to| start_of(to) - 1);
    path.get(from..to).unwrap_or_default()
}

const PARAMETERS_MAX: usize = 1024;
/// Maximum bytes of all fields of path and query.
const BOUND_BYTES_MAX: usize = 64 * 1024;
