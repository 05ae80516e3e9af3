//! The conversion of one message after the other from JSON.

use std::sync::Arc;

use super::parser::JsonParser;
use super::token::{Tail, tail};
use crate::fault::{ProtobufError, ProtobufErrorKind};
use crate::json::FromJsonOptions;
use crate::limits::ProtobufLimits;
use crate::schema::{MessageId, Schema};

/// Makes messages of JSON that comes whole ([`FromJson::convert`]) or in pieces ([`FromJson::push`]).
///
/// The message is written as the JSON comes, and can be had when it is complete: lengths stand before what they are of.
///
/// # Cost
/// No allocation once its buffers have grown.
#[derive(Debug)]
pub struct FromJson {
    schema: Arc<Schema>,
    message: MessageId,
    limits: ProtobufLimits,
    parser: JsonParser,
    /// What stands before the value, where that is one field's: a brace and the key.
    key: Option<Box<[u8]>>,
    /// The beginning of a token that ended too soon.
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
    /// For messages of one type.
    pub fn new(
        schema: Arc<Schema>,
        message: MessageId,
        options: FromJsonOptions,
        limits: ProtobufLimits,
    ) -> Self {
        let parser = JsonParser::new(options, limits);
        Self { schema, message, limits, parser, key: None, carried: Vec::new(), state: FromJsonState::Idle }
    }

    /// For messages of which the text is the value of one field, and nothing but that is set; `field` is its index in
    /// [`crate::Message::fields`]. With another index it is as if it were for whole messages.
    pub fn of_field(
        schema: Arc<Schema>,
        message: MessageId,
        field: u16,
        options: FromJsonOptions,
        limits: ProtobufLimits,
    ) -> Self {
        let key = schema.message(message).field(field).map(|field| {
            // The key of an object has a comma before it.
            [&b"{"[..], field.json_key.get(1..).unwrap_or_default()].concat().into()
        });
        Self { key, ..Self::new(schema, message, options, limits) }
    }

    fn begin(&mut self) -> Result<(), ProtobufError> {
        self.reset();
        self.parser.begin(self.message);
        match &self.key {
            Some(key) => self.parser.begin_field(&self.schema, key),
            None => Ok(()),
        }
    }

    /// The message of a JSON text.
    ///
    /// # Errors
    /// [`Fault`] where the text is no JSON, or not that of such a message.
    pub fn convert(&mut self, json: &[u8]) -> Result<&[u8], ProtobufError> {
        self.begin()?;
        let used = self.parser.run(&self.schema, json, true)?;
        self.parser.end_field(&self.schema)?;
        if !self.parser.is_done() {
            return Err(ProtobufError::new(self.parser.base, ProtobufErrorKind::Truncated));
        }
        if used < json.len() {
            return Err(ProtobufError::new(used as u64, ProtobufErrorKind::JsonTrailing));
        }
        Ok(&self.parser.out)
    }

    /// Takes the next piece; answers with how many bytes belong to the message, which are fewer than there are when it ends
    /// within the piece. White space behind the value belongs to it.
    ///
    /// # Errors
    /// [`Fault`] where the text is no JSON, or not that of such a message; then it is lost, [`FromJson::reset`] begins
    /// another.
    pub fn push(&mut self, piece: &[u8]) -> Result<usize, ProtobufError> {
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

    fn push_piece(&mut self, piece: &[u8]) -> Result<usize, ProtobufError> {
        let mut at = 0;
        if !self.carried.is_empty() {
            let tail = tail(&self.carried, piece);
            at = match tail {
                Tail::Ends(bytes) => bytes,
                Tail::GoesOn => piece.len(),
            };
            self.carry(piece.get(..at).unwrap_or_default())?;
            if tail == Tail::GoesOn {
                return Ok(at);
            }
            self.run_carried()?;
        }
        let rest = piece.get(at..).unwrap_or_default();
        let used = self.parser.run(&self.schema, rest, false)?;
        if self.parser.is_done() || self.parser.is_halted() {
            return Ok(at + used);
        }
        self.carry(rest.get(used..).unwrap_or_default())?;
        Ok(piece.len())
    }

    fn carry(&mut self, bytes: &[u8]) -> Result<(), ProtobufError> {
        if self.carried.len() + bytes.len() > self.limits.message_bytes_max {
            return Err(ProtobufError::new(self.parser.base, ProtobufErrorKind::MessageTooLarge));
        }
        self.carried.extend_from_slice(bytes);
        Ok(())
    }

    /// Reads the token that came in several pieces.
    fn run_carried(&mut self) -> Result<(), ProtobufError> {
        let used = self.parser.run(&self.schema, &self.carried, true)?;
        if used < self.carried.len() {
            return Err(ProtobufError::new(self.parser.base, ProtobufErrorKind::JsonSyntax));
        }
        self.carried.clear();
        Ok(())
    }

    /// Ends the text; the message.
    ///
    /// # Errors
    /// As [`FromJson::push`]; [`FaultKind::Truncated`] if the value is not complete.
    pub fn finish(&mut self) -> Result<&[u8], ProtobufError> {
        if matches!(self.state, FromJsonState::Complete | FromJsonState::Failed) {
            return Err(ProtobufError::new(self.parser.base, ProtobufErrorKind::Ended));
        }
        self.state = FromJsonState::Failed;
        if !self.carried.is_empty() {
            self.run_carried()?;
        }
        self.parser.end_field(&self.schema)?;
        if !self.parser.is_done() {
            return Err(ProtobufError::new(self.parser.base, ProtobufErrorKind::Truncated));
        }
        self.state = FromJsonState::Complete;
        Ok(&self.parser.out)
    }

    /// Whether the value has ended, so that what comes next is another.
    pub fn is_done(&self) -> bool {
        self.state == FromJsonState::Reading && (self.parser.is_done() || self.parser.is_halted())
    }

    /// Forgets what was pushed.
    pub fn reset(&mut self) {
        self.state = FromJsonState::Idle;
        self.carried.clear();
    }
}
