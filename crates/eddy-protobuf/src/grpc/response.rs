//! JSON response body, made from the response messages of a gRPC call.

use std::sync::Arc;

use crate::fault::{ProtobufError, ProtobufErrorKind, ProtobufResult};
use crate::frames::{Compressed, FrameEvent, Frames};
use crate::http::{HttpIndex, HttpRoute};
use crate::json::{JsonFieldNaming, ToJson, ToJsonOptions};
use crate::limits::ProtobufLimits;
use crate::schema::{FieldDescriptor, FieldType, Label, Schema, Special};

/// Format of several messages in a response body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StreamForm {
    /// Elements of a JSON array.
    #[default]
    Array,
    /// One message per line.
    Lines,
    /// Server-sent events, as browsers read them.
    Events,
}

/// Converts the frames of a response to JSON, as they arrive.
///
/// A message larger than [`ProtobufLimits::held_bytes_max`] is written while it arrives, a smaller one as a whole.
#[derive(Debug)]
pub struct CallResponse {
    frames: Frames,
    json: ToJson,
    /// Format of several messages; `None` for a method with a single response message.
    form: Option<StreamForm>,
    /// The field that the response body consists of, if it is not the whole message.
    member: Option<Member>,
    /// The whole JSON of a message of which one field is returned.
    whole: Vec<u8>,
    messages: u64,
    bytes_max: usize,
}

#[derive(Debug)]
struct Member {
    /// JSON key with quotes and colon.
    key: Box<[u8]>,
    /// Written if the field is absent.
    absent: &'static str,
}

impl CallResponse {
    /// Creates a converter for the response to a request of `route`; `form` is ignored for a method with a single
    /// response message.
    pub fn new(
        index: &HttpIndex,
        route: &HttpRoute,
        options: ToJsonOptions,
        form: StreamForm,
        limits: ProtobufLimits,
    ) -> Self {
        let schema = index.schema();
        let member = route.response_body.and_then(|field| schema.message(route.output).field(field));
        Self {
            frames: Frames::new(Compressed::Refuse, &limits),
            json: ToJson::new(Arc::clone(schema), route.output, options, limits),
            form: route.is_server_streaming.then_some(form),
            member: member.map(|field| Member {
                key: match options.names {
                    JsonFieldNaming::Json => field.json_key[1..].into(),
                    JsonFieldNaming::Declared => field.name_key[1..].into(),
                },
                absent: absent(schema, field),
            }),
            whole: Vec::new(),
            messages: 0,
            bytes_max: limits.message_bytes_max,
        }
    }

    /// Takes the next piece of the gRPC response body, and appends the available JSON.
    ///
    /// # Errors
    /// [`crate::ProtobufError`] if the body does not contain such messages.
    pub fn push(&mut self, mut piece: &[u8], out: &mut Vec<u8>) -> ProtobufResult {
        while let Some(event) = self.frames.next(&mut piece)? {
            match event {
                FrameEvent::Start { .. } => self.begin(out)?,
                FrameEvent::Data(data) => {
                    self.json.push(data)?;
                    self.take(out)?;
                }
                FrameEvent::End => {
                    self.json.finish()?;
                    self.take(out)?;
                    self.end(out);
                }
            }
        }
        Ok(())
    }

    fn begin(&mut self, out: &mut Vec<u8>) -> ProtobufResult {
        self.messages += 1;
        match self.form {
            None if self.messages > 1 => return Err(ProtobufError::new(0, ProtobufErrorKind::MessageCount)),
            None | Some(StreamForm::Lines) => {}
            Some(StreamForm::Array) => out.push(if self.messages == 1 { b'[' } else { b',' }),
            Some(StreamForm::Events) => out.extend_from_slice(b"data: "),
        }
        Ok(())
    }

    fn take(&mut self, out: &mut Vec<u8>) -> ProtobufResult {
        let ready = self.json.ready();
        let bytes = ready.len();
        let into = if self.member.is_some() { &mut self.whole } else { out };
        if into.len() + bytes > self.bytes_max {
            return Err(ProtobufError::new(0, ProtobufErrorKind::MessageTooLarge));
        }
        into.extend_from_slice(ready);
        self.json.take(bytes);
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        if let Some(member) = &self.member {
            let value = member_of(&self.whole, &member.key);
            out.extend_from_slice(value.unwrap_or(member.absent.as_bytes()));
            self.whole.clear();
        }
        match self.form {
            None | Some(StreamForm::Array) => {}
            Some(StreamForm::Lines) => out.push(b'\n'),
            Some(StreamForm::Events) => out.extend_from_slice(b"\n\n"),
        }
    }

    /// Ends the messages of a successful call.
    ///
    /// # Errors
    /// [`ProtobufErrorKind::Truncated`] within a frame; [`ProtobufErrorKind::MessageCount`] if a single message is
    /// required and there is none.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> ProtobufResult {
        self.frames.finish()?;
        match self.form {
            None if self.messages == 0 => return Err(ProtobufError::new(0, ProtobufErrorKind::MessageCount)),
            Some(StreamForm::Array) if self.messages == 0 => out.extend_from_slice(b"[]"),
            Some(StreamForm::Array) => out.push(b']'),
            None | Some(StreamForm::Lines | StreamForm::Events) => {}
        }
        Ok(())
    }

    /// Ends a stream that failed after its messages; `status` is the gRPC status as JSON.
    pub fn finish_failed(&mut self, status: &[u8], out: &mut Vec<u8>) {
        let error = [&b"{\"error\":"[..], status, b"}"].concat();
        match self.form {
            None => {}
            Some(StreamForm::Array) => {
                out.push(if self.messages == 0 { b'[' } else { b',' });
                out.extend_from_slice(&error);
                out.push(b']');
            }
            Some(StreamForm::Lines) => {
                out.extend_from_slice(&error);
                out.push(b'\n');
            }
            Some(StreamForm::Events) => {
                out.extend_from_slice(b"event: error\ndata: ");
                out.extend_from_slice(&error);
                out.extend_from_slice(b"\n\n");
            }
        }
    }
}

/// Returns the JSON for an absent field.
fn absent(schema: &Schema, field: &FieldDescriptor) -> &'static str {
    match (field.label, field.kind) {
        (Label::Repeated, _) => "[]",
        (Label::Map, _) => "{}",
        (_, FieldType::Message(id) | FieldType::Group(id)) if schema.message(id).special == Special::None => {
            "{}"
        }
        _ if field.has_presence => "null",
        (_, FieldType::String | FieldType::Bytes) => "\"\"",
        (_, FieldType::Bool) => "false",
        (
            _,
            FieldType::Int64
            | FieldType::Uint64
            | FieldType::Fixed64
            | FieldType::Sfixed64
            | FieldType::Sint64,
        ) => "\"0\"",
        // The first value of an enum without presence is 0, and JSON accepts numbers as well as names.
        _ => "0",
    }
}

/// Returns the value of a member of an object that this crate has written.
fn member_of<'j>(json: &'j [u8], key: &[u8]) -> Option<&'j [u8]> {
    let mut depth = 0_usize;
    let mut is_text = false;
    let mut is_escaped = false;
    let mut from = None;
    for (at, byte) in json.iter().enumerate() {
        if is_text {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => is_text = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' if depth == 1 && from.is_none() && is_key(json, at) && starts(json, at, key) => {
                from = Some(at + key.len());
                is_text = true;
            }
            b'"' => is_text = true,
            b',' | b'}' if depth == 1 && from.is_some() => return json.get(from?..at),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// Whether a key and not a value begins here: keys follow a brace or comma.
fn is_key(json: &[u8], at: usize) -> bool {
    at.checked_sub(1).and_then(|before| json.get(before)).is_some_and(|before| matches!(before, b'{' | b','))
}

fn starts(json: &[u8], at: usize, key: &[u8]) -> bool {
    json.get(at..).is_some_and(|rest| rest.starts_with(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_found_at_the_outermost_level_only() {
        let check = |json: &str, expected: Option<&str>| {
            let found =
                member_of(json.as_bytes(), b"\"k\":").map(|value| std::str::from_utf8(value).unwrap());
            assert_eq!(found, expected, "{json}");
        };
        check(r#"{"k":1}"#, Some("1"));
        check(r#"{"a":{"k":2},"k":[1,{"k":3}],"b":4}"#, Some(r#"[1,{"k":3}]"#));
        check(r#"{"a":"\"k\":1","k":"},\\"}"#, Some(r#""},\\""#));
        check(r#"{"k":{"k":"k"}}"#, Some(r#"{"k":"k"}"#));
        check(r#"{"a":["k"],"kk":1}"#, None);
        check("{}", None);
    }
}
