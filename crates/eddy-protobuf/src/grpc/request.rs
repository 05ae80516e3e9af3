//! Request messages of a gRPC call, made from the body, path and query of an HTTP request.

use std::sync::Arc;

use crate::fault::{ProtobufError, ProtobufErrorKind, ProtobufResult};
use crate::frames::Frames;
use crate::http::{HttpBindError, HttpBodyBinding, HttpIndex, HttpRoute};
use crate::json::{FromJson, FromJsonOptions, Required};
use crate::limits::ProtobufLimits;

/// Converts the JSON body of a request to framed messages, as it arrives.
///
/// For a client-streaming method, the body is an array of messages, or messages one after the other with or without
/// white space between them; each is framed as soon as it is complete. Every message contains the fields set by path
/// and query.
#[derive(Debug)]
pub struct CallRequest {
    json: FromJson,
    body: HttpBodyBinding,
    is_stream: bool,
    limits: ProtobufLimits,
    /// Encoded fields that path and query set.
    bound: Vec<u8>,
    state: JsonStreamState,
    /// Bytes of the body before the current value.
    base: u64,
    /// Bytes of the body so far.
    offset: u64,
}

/// Expected next element of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonStreamState {
    /// Nothing was received except white space.
    Start,
    /// The rest of a value.
    Value { is_in_array: bool },
    /// A value or the end of the array.
    FirstElement,
    /// A value.
    Element,
    /// A comma or the end of the array.
    Comma,
    /// A value, or nothing: values follow one another without an array.
    Between,
    /// Only white space.
    End,
}

impl CallRequest {
    /// Creates a converter for a request that `route` has matched.
    ///
    /// # Errors
    /// [`HttpBindError`] if path or query contain invalid fields.
    pub fn new(
        index: &HttpIndex,
        route: &HttpRoute,
        (path, query): (&[u8], &[u8]),
        options: FromJsonOptions,
        limits: ProtobufLimits,
    ) -> Result<Self, HttpBindError> {
        let mut bound = Vec::new();
        index.bind(route, path, query, &limits, &mut bound)?;
        // The path may set a required field.
        let options = FromJsonOptions { required: Required::Pass, ..options };
        let schema = Arc::clone(index.schema());
        let json = match route.body {
            HttpBodyBinding::Field(field) => FromJson::of_field(schema, route.input, field, options, limits),
            HttpBodyBinding::None | HttpBodyBinding::Whole => {
                FromJson::new(schema, route.input, options, limits)
            }
        };
        Ok(Self {
            json,
            body: route.body,
            is_stream: route.is_client_streaming,
            limits,
            bound,
            state: JsonStreamState::Start,
            base: 0,
            offset: 0,
        })
    }

    /// Takes the next piece of the body, and appends the frames that are complete.
    ///
    /// # Errors
    /// [`crate::ProtobufError`] if the body is not valid for the method; its offset counts from the beginning of the
    /// body.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) -> ProtobufResult {
        let mut rest = piece;
        while let Some(byte) = rest.first() {
            let used = match self.state {
                JsonStreamState::Value { is_in_array } => self.push_value(rest, is_in_array, out)?,
                _ if byte.is_ascii_whitespace() => 1,
                _ => self.mark(*byte)?,
            };
            self.offset += used as u64;
            rest = rest.get(used..).unwrap_or_default();
        }
        Ok(())
    }

    /// Reads a delimiter around values; returns 0 if a value begins instead.
    fn mark(&mut self, byte: u8) -> ProtobufResult<usize> {
        let (state, used) = match (self.state, byte) {
            // A method without a body accepts none.
            (JsonStreamState::Start, _) if self.body == HttpBodyBinding::None => {
                return Err(self.fault(ProtobufErrorKind::JsonTrailing));
            }
            (JsonStreamState::Start, b'[') if self.is_stream => (JsonStreamState::FirstElement, 1),
            (JsonStreamState::Start | JsonStreamState::Between, _) => {
                (JsonStreamState::Value { is_in_array: false }, 0)
            }
            (JsonStreamState::FirstElement | JsonStreamState::Comma, b']') => (JsonStreamState::End, 1),
            (JsonStreamState::FirstElement | JsonStreamState::Element, _) => {
                (JsonStreamState::Value { is_in_array: true }, 0)
            }
            (JsonStreamState::Comma, b',') => (JsonStreamState::Element, 1),
            (JsonStreamState::Comma, _) => return Err(self.fault(ProtobufErrorKind::JsonSyntax)),
            (JsonStreamState::End | JsonStreamState::Value { .. }, _) => {
                return Err(self.fault(ProtobufErrorKind::JsonTrailing));
            }
        };
        self.state = state;
        self.base = self.offset;
        Ok(used)
    }

    fn push_value(&mut self, rest: &[u8], is_in_array: bool, out: &mut Vec<u8>) -> ProtobufResult<usize> {
        let used = self.json.push(rest).map_err(|fault| self.placed(fault))?;
        if self.json.is_done() {
            // After a single message only white space may follow.
            self.end_value(out)?;
            self.state = match (self.is_stream, is_in_array) {
                (false, _) => JsonStreamState::End,
                (true, true) => JsonStreamState::Comma,
                (true, false) => JsonStreamState::Between,
            };
        }
        Ok(used)
    }

    fn end_value(&mut self, out: &mut Vec<u8>) -> ProtobufResult {
        let base = self.base;
        let message =
            self.json.finish().map_err(|fault| ProtobufError { offset: fault.offset + base, ..fault })?;
        frame(&self.limits, out, message, &self.bound)
            .map_err(|kind| ProtobufError::new(self.offset, kind))?;
        self.json.reset();
        Ok(())
    }

    /// Ends the body, and appends the last frame.
    ///
    /// # Errors
    /// As [`CallRequest::push`]; [`ProtobufErrorKind::Truncated`] if the body ends too soon.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> ProtobufResult {
        match self.state {
            // Without a body, the message consists of the fields of path and query. A stream may be empty, unless the
            // method has no body.
            JsonStreamState::Start if !self.is_stream || self.body == HttpBodyBinding::None => {
                frame(&self.limits, out, &[], &self.bound)
                    .map_err(|kind| ProtobufError::new(self.offset, kind))?;
            }
            JsonStreamState::Value { is_in_array: false } => self.end_value(out)?,
            JsonStreamState::Start | JsonStreamState::Between | JsonStreamState::End => {}
            JsonStreamState::Value { is_in_array: true }
            | JsonStreamState::FirstElement
            | JsonStreamState::Element
            | JsonStreamState::Comma => {
                return Err(self.fault(ProtobufErrorKind::Truncated));
            }
        }
        self.state = JsonStreamState::End;
        Ok(())
    }

    fn fault(&self, kind: ProtobufErrorKind) -> ProtobufError {
        ProtobufError::new(self.offset, kind)
    }

    fn placed(&self, fault: ProtobufError) -> ProtobufError {
        ProtobufError { offset: fault.offset + self.base, ..fault }
    }
}

/// Appends a frame with a message that consists of two parts.
fn frame(
    limits: &ProtobufLimits,
    out: &mut Vec<u8>,
    message: &[u8],
    bound: &[u8],
) -> Result<(), ProtobufErrorKind> {
    let length = message.len() + bound.len();
    // The limit holds for all frames of a piece together: the fields of the path may be much larger than a message of
    // the body.
    if out.len() + length > limits.message_bytes_max {
        return Err(ProtobufErrorKind::MessageTooLarge);
    }
    let length = u32::try_from(length).map_err(|_| ProtobufErrorKind::MessageTooLarge)?;
    out.extend_from_slice(&Frames::plain_head(length));
    out.extend_from_slice(message);
    out.extend_from_slice(bound);
    Ok(())
}
