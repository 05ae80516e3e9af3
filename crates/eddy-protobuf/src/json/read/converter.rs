//! Converts messages from JSON, one after the other.

use std::sync::Arc;

use super::parser::JsonParser;
use super::token::{Tail, tail};
use crate::fault::{ProtobufError, ProtobufErrorKind, ProtobufResult};
use crate::json::FromJsonOptions;
use crate::limits::ProtobufLimits;
use crate::schema::{MessageId, Schema};
use crate::wire::PiecePosition;

/// Converts JSON to messages, as a whole ([`FromJson::convert`]) or in pieces ([`FromJson::push`]).
///
/// The message is written as the JSON arrives, and available only when it is complete, because lengths precede their
/// content.
///
/// # Cost
/// No allocation once its buffers have grown.
#[derive(Debug)]
pub struct FromJson {
    schema: Arc<Schema>,
    message: MessageId,
    limits: ProtobufLimits,
    parser: JsonParser,
    /// If only one field's value is read: the opening brace and the key before it.
    key: Option<Box<[u8]>>,
    /// The beginning of an incomplete token.
    carried: Vec<u8>,
    state: FromJsonState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FromJsonState {
    Idle,
    Reading,
    Complete,
    Failed,
}

impl FromJson {
    /// Creates a converter for messages of one type.
    pub fn new(
        schema: Arc<Schema>,
        message: MessageId,
        options: FromJsonOptions,
        limits: ProtobufLimits,
    ) -> Self {
        let parser = JsonParser::new(options, limits);
        Self { schema, message, limits, parser, key: None, carried: Vec::new(), state: FromJsonState::Idle }
    }

    /// Creates a converter for JSON texts that are the value of one field; only this field is set. `field` is its
    /// index in [`crate::MessageDescriptor::fields`]. An invalid index is treated as a whole message.
    pub fn of_field(
        schema: Arc<Schema>,
        message: MessageId,
        field: u16,
        options: FromJsonOptions,
        limits: ProtobufLimits,
    ) -> Self {
        let key = schema.message(message).field(field).map(|field| {
            // The key of an object is preceded by a comma.
            [&b"{"[..], &field.json_key[1..]].concat().into()
        });
        Self { key, ..Self::new(schema, message, options, limits) }
    }

    fn begin(&mut self) -> ProtobufResult {
        self.reset();
        self.parser.begin(self.message);
        match &self.key {
            Some(key) => self.parser.begin_field(&self.schema, key),
            None => Ok(()),
        }
    }

    /// Returns the message of a JSON text.
    ///
    /// # Errors
    /// [`crate::ProtobufError`] if the text is not valid JSON, or not valid for the message.
    pub fn convert(&mut self, json: &[u8]) -> ProtobufResult<&[u8]> {
        self.begin()?;
        let used = self.parser.run(&self.schema, json, PiecePosition::Last)?;
        self.parser.end_field(&self.schema)?;
        if !self.parser.is_done() {
            return Err(ProtobufError::new(self.parser.base, ProtobufErrorKind::Truncated));
        }
        if used < json.len() {
            return Err(ProtobufError::new(used as u64, ProtobufErrorKind::JsonTrailing));
        }
        Ok(&self.parser.out)
    }

    /// Takes the next piece; returns how many bytes belong to the message, which are fewer than the whole piece if it
    /// ends within the piece. White space after the value belongs to it.
    ///
    /// # Errors
    /// [`crate::ProtobufError`] if the text is not valid JSON, or not valid for the message; then the message is
    /// discarded, and [`FromJson::reset`] begins another.
    pub fn push(&mut self, piece: &[u8]) -> ProtobufResult<usize> {
        match self.state {
            FromJsonState::Idle => {
                self.begin()?;
                self.state = FromJsonState::Reading;
            }
            FromJsonState::Complete | FromJsonState::Failed => {
                return Err(ProtobufError::new(self.parser.base, ProtobufErrorKind::Ended));
            }
            FromJsonState::Reading => {}
        }
        let pushed = self.push_piece(piece);
        if pushed.is_err() {
            self.state = FromJsonState::Failed;
        }
        pushed
    }

    fn push_piece(&mut self, piece: &[u8]) -> ProtobufResult<usize> {
        let mut at = 0;
        if !self.carried.is_empty() {
            let tail = tail(&self.carried, piece);
            at = match tail {
                Tail::Ends(bytes) => bytes,
                Tail::Continues => piece.len(),
            };
            self.carry(piece.get(..at).unwrap_or_default())?;
            if tail == Tail::Continues {
                return Ok(at);
            }
            self.parse_split_token()?;
        }
        let rest = piece.get(at..).unwrap_or_default();
        let used = self.parser.run(&self.schema, rest, PiecePosition::Inner)?;
        if self.parser.is_done() || self.parser.is_halted() {
            return Ok(at + used);
        }
        self.carry(rest.get(used..).unwrap_or_default())?;
        Ok(piece.len())
    }

    fn carry(&mut self, bytes: &[u8]) -> ProtobufResult {
        if self.carried.len() + bytes.len() > self.limits.message_bytes_max {
            return Err(ProtobufError::new(self.parser.base, ProtobufErrorKind::MessageTooLarge));
        }
        self.carried.extend_from_slice(bytes);
        Ok(())
    }

    /// Parses the token that arrived in several pieces.
    fn parse_split_token(&mut self) -> ProtobufResult {
        let used = self.parser.run(&self.schema, &self.carried, PiecePosition::Last)?;
        if used < self.carried.len() {
            return Err(ProtobufError::new(self.parser.base, ProtobufErrorKind::JsonSyntax));
        }
        self.carried.clear();
        Ok(())
    }

    /// Ends the text and returns the message.
    ///
    /// # Errors
    /// As [`FromJson::push`]; [`ProtobufErrorKind::Truncated`] if the value is not complete.
    pub fn finish(&mut self) -> ProtobufResult<&[u8]> {
        if matches!(self.state, FromJsonState::Complete | FromJsonState::Failed) {
            return Err(ProtobufError::new(self.parser.base, ProtobufErrorKind::Ended));
        }
        self.state = FromJsonState::Failed;
        if !self.carried.is_empty() {
            self.parse_split_token()?;
        }
        self.parser.end_field(&self.schema)?;
        if !self.parser.is_done() {
            return Err(ProtobufError::new(self.parser.base, ProtobufErrorKind::Truncated));
        }
        self.state = FromJsonState::Complete;
        Ok(&self.parser.out)
    }

    /// Whether the value has ended, so that the next bytes belong to another one.
    pub fn is_done(&self) -> bool {
        self.state == FromJsonState::Reading && (self.parser.is_done() || self.parser.is_halted())
    }

    /// Discards the pushed bytes.
    pub fn reset(&mut self) {
        self.state = FromJsonState::Idle;
        self.carried.clear();
    }
}
