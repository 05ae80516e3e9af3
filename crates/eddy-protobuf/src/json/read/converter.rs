//! The conversion of one message after the other from JSON.

use std::sync::Arc;

use super::parser::Parser;
use super::token::{Tail, tail};
use crate::fault::{Fault, FaultKind};
use crate::json::FromJsonOptions;
use crate::limits::Limits;
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
    limits: Limits,
    parser: Parser,
    /// What stands before the value, where that is one field's: a brace and the key.
    key: Option<Box<[u8]>>,
    /// The beginning of a token that ended too soon.
    carried: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Reading,
    Complete,
    Failed,
}

impl FromJson {
    /// For messages of one type.
    pub fn new(schema: Arc<Schema>, message: MessageId, options: FromJsonOptions, limits: Limits) -> Self {
        let parser = Parser::new(options, limits);
        Self { schema, message, limits, parser, key: None, carried: Vec::new(), state: State::Idle }
    }

    /// For messages of which the text is the value of one field, and nothing but that is set; `field` is its index in
    /// [`crate::Message::fields`]. With another index it is as if it were for whole messages.
    pub fn of_field(
        schema: Arc<Schema>,
        message: MessageId,
        field: u16,
        options: FromJsonOptions,
        limits: Limits,
    ) -> Self {
        let key = schema.message(message).field(field).map(|field| {
            // The key of an object has a comma before it.
            [&b"{"[..], field.json_key.get(1..).unwrap_or_default()].concat().into()
        });
        Self { key, ..Self::new(schema, message, options, limits) }
    }

    fn begin(&mut self) -> Result<(), Fault> {
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
    pub fn convert(&mut self, json: &[u8]) -> Result<&[u8], Fault> {
        self.begin()?;
        let used = self.parser.run(&self.schema, json, true)?;
        self.parser.end_field(&self.schema)?;
        if !self.parser.is_done() {
            return Err(Fault::new(self.parser.base, FaultKind::Truncated));
        }
        if used < json.len() {
            return Err(Fault::new(used as u64, FaultKind::JsonTrailing));
        }
        Ok(&self.parser.out)
    }

    /// Takes the next piece; answers with how many bytes belong to the message, which are fewer than there are when it ends
    /// within the piece. White space behind the value belongs to it.
    ///
    /// # Errors
    /// [`Fault`] where the text is no JSON, or not that of such a message; then it is lost, [`FromJson::reset`] begins
    /// another.
    pub fn push(&mut self, piece: &[u8]) -> Result<usize, Fault> {
        match self.state {
            State::Idle => {
                self.begin()?;
                self.state = State::Reading;
            }
            State::Complete | State::Failed => return Err(Fault::new(self.parser.base, FaultKind::Ended)),
            State::Reading => {}
        }
        let pushed = self.push_piece(piece);
        if pushed.is_err() {
            self.state = State::Failed;
        }
        pushed
    }

    fn push_piece(&mut self, piece: &[u8]) -> Result<usize, Fault> {
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

    fn carry(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if self.carried.len() + bytes.len() > self.limits.message_bytes_max {
            return Err(Fault::new(self.parser.base, FaultKind::MessageTooLarge));
        }
        self.carried.extend_from_slice(bytes);
        Ok(())
    }

    /// Reads the token that came in several pieces.
    fn run_carried(&mut self) -> Result<(), Fault> {
        let used = self.parser.run(&self.schema, &self.carried, true)?;
        if used < self.carried.len() {
            return Err(Fault::new(self.parser.base, FaultKind::JsonSyntax));
        }
        self.carried.clear();
        Ok(())
    }

    /// Ends the text; the message.
    ///
    /// # Errors
    /// As [`FromJson::push`]; [`FaultKind::Truncated`] if the value is not complete.
    pub fn finish(&mut self) -> Result<&[u8], Fault> {
        if matches!(self.state, State::Complete | State::Failed) {
            return Err(Fault::new(self.parser.base, FaultKind::Ended));
        }
        self.state = State::Failed;
        if !self.carried.is_empty() {
            self.run_carried()?;
        }
        self.parser.end_field(&self.schema)?;
        if !self.parser.is_done() {
            return Err(Fault::new(self.parser.base, FaultKind::Truncated));
        }
        self.state = State::Complete;
        Ok(&self.parser.out)
    }

    /// Whether the value has ended, so that what comes next is another.
    pub fn is_done(&self) -> bool {
        self.state == State::Reading && (self.parser.is_done() || self.parser.is_halted())
    }

    /// Forgets what was pushed.
    pub fn reset(&mut self) {
        self.state = State::Idle;
        self.carried.clear();
    }
}
