//! Parser that reads JSON token by token and writes the message incrementally.

use super::capture::Capture;
use super::frame::{JsonReadFrame, JsonReadRole};
use super::token::{JsonString, is_space, read_text, read_token};
use crate::fault::{ProtobufError, ProtobufErrorKind, ProtobufResult};
use crate::json::FromJsonOptions;
use crate::json::keys::Keys;
use crate::json::text::unescape;
use crate::limits::ProtobufLimits;
use crate::schema::{MessageId, Schema};
use crate::wire::{GROUP_END, PiecePosition, close_length, write_tag};

/// Expected next token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expect {
    Value,
    /// A key, or the end of an object.
    FirstKey,
    Key,
    Colon,
    /// A comma, or the end of an object.
    NextMember,
    /// A value, or the end of an array.
    FirstElement,
    /// A comma, or the end of an array.
    NextElement,
    /// The rest of an object whose members must be reordered.
    Captured,
    /// Nothing.
    End,
}

/// Parses JSON and writes messages.
#[derive(Debug)]
pub(super) struct JsonParser {
    pub(super) options: FromJsonOptions,
    pub(super) limits: ProtobufLimits,
    pub(super) out: Vec<u8>,
    pub(super) top: JsonReadFrame,
    pub(super) stack: Vec<JsonReadFrame>,
    pub(super) expect: Expect,
    pub(super) seen: Vec<u64>,
    pub(super) keys: Keys,
    pub(super) maps: u64,
    /// Decoded string, if it has escapes.
    pub(super) text: Vec<u8>,
    pub(super) capture: Capture,
    /// Offset of the current window in the input.
    pub(super) base: u64,
    /// Nesting depth around a value that is read alone.
    pub(super) halt: usize,
}

impl JsonParser {
    pub(super) fn new(options: FromJsonOptions, limits: ProtobufLimits) -> Self {
        Self {
            options,
            limits,
            out: Vec::new(),
            top: JsonReadFrame::new(JsonReadRole::Outermost, MessageId(0)),
            stack: Vec::new(),
            expect: Expect::End,
            seen: Vec::new(),
            keys: Keys::default(),
            maps: 0,
            text: Vec::new(),
            capture: Capture::default(),
            base: 0,
            halt: usize::MAX,
        }
    }

    /// Begins a message.
    pub(super) fn begin(&mut self, message: MessageId) {
        self.out.clear();
        self.stack.clear();
        self.seen.clear();
        self.keys.clear();
        self.capture.clear();
        self.maps = 0;
        self.base = 0;
        self.halt = usize::MAX;
        self.top = JsonReadFrame::new(JsonReadRole::Outermost, message);
        self.expect = Expect::Value;
    }

    /// Whether the message has ended.
    pub(super) fn is_done(&self) -> bool {
        self.expect == Expect::End
    }

    /// Prepares for the value of one field; `key` is the text before it.
    pub(super) fn begin_field(&mut self, schema: &Schema, key: &[u8]) -> ProtobufResult {
        self.run(schema, key, PiecePosition::Inner)?;
        self.halt = self.stack.len();
        self.base = 0;
        Ok(())
    }

    /// Whether the value that is read alone has ended.
    pub(super) fn is_halted(&self) -> bool {
        self.expect == Expect::NextMember && self.stack.len() == self.halt
    }

    /// Ends the message around a value that was read alone.
    pub(super) fn end_field(&mut self, schema: &Schema) -> ProtobufResult {
        if self.is_halted() {
            self.halt = usize::MAX;
            self.leave(schema)?;
        }
        Ok(())
    }

    /// Parses from the front of a window. Returns how many bytes were read: everything except an incomplete token at
    /// the end, or everything up to the end of the message.
    pub(super) fn run(
        &mut self,
        schema: &Schema,
        window: &[u8],
        position: PiecePosition,
    ) -> ProtobufResult<usize> {
        let base = self.base;
        let mut at = 0;
        loop {
            if self.expect == Expect::Captured {
                at += self.captured(schema, window.get(at..).unwrap_or_default())?;
                self.base = base + at as u64;
            }
            while window.get(at).is_some_and(|byte| is_space(*byte)) {
                at += 1;
            }
            let rest = window.get(at..).unwrap_or_default();
            self.base = base + at as u64;
            if rest.is_empty() || self.expect == Expect::End || self.is_halted() {
                return Ok(at);
            }
            match self.step(schema, rest, position)? {
                Some(used) => at += used,
                None => return Ok(at),
            }
            if self.out.len() > self.limits.message_bytes_max {
                return Err(self.fault(ProtobufErrorKind::MessageTooLarge));
            }
        }
    }

    /// Parses one token; returns `None` if the window ends within it.
    #[inline]
    fn step(
        &mut self,
        schema: &Schema,
        rest: &[u8],
        position: PiecePosition,
    ) -> ProtobufResult<Option<usize>> {
        match (self.expect, rest.first()) {
            (Expect::FirstKey | Expect::NextMember, Some(b'}')) => {
                self.leave(schema)?;
                Ok(Some(1))
            }
            (Expect::FirstElement | Expect::NextElement, Some(b']')) => {
                self.leave(schema)?;
                Ok(Some(1))
            }
            (Expect::NextMember, Some(b',')) => {
                self.expect = Expect::Key;
                Ok(Some(1))
            }
            (Expect::NextElement, Some(b',')) => {
                self.expect = Expect::Value;
                Ok(Some(1))
            }
            (Expect::FirstKey | Expect::Key, Some(b'"')) => {
                if let Some(used) = self.expected_key(schema, rest)? {
                    self.expect = Expect::Value;
                    return Ok(Some(used));
                }
                let Some((key, used)) = read_text(rest).map_err(|kind| self.fault(kind))? else {
                    return Ok(None);
                };
                // Most keys are directly followed by their colon.
                let has_colon = rest.get(used) == Some(&b':');
                self.expect = if has_colon { Expect::Value } else { Expect::Colon };
                let bytes = rest.get(..used).unwrap_or_default();
                self.key(schema, key, bytes, has_colon)?;
                Ok(Some(used + usize::from(has_colon)))
            }
            (Expect::Colon, Some(b':')) => {
                self.expect = Expect::Value;
                Ok(Some(1))
            }
            (Expect::Value | Expect::FirstElement, _) => {
                let read = read_token(rest, position).map_err(|kind| self.fault(kind))?;
                let Some((token, used)) = read else { return Ok(None) };
                self.value(schema, token)?;
                Ok(Some(used))
            }
            _ => Err(self.fault(ProtobufErrorKind::JsonSyntax)),
        }
    }

    /// Begins an object or array.
    pub(super) fn enter(&mut self, schema: &Schema, mut frame: JsonReadFrame) -> ProtobufResult {
        if self.stack.len() >= self.limits.depth_max as usize {
            return Err(self.fault(ProtobufErrorKind::DepthExceeded));
        }
        frame.seen_index = self.seen.len();
        if frame.role == JsonReadRole::Map {
            self.maps += 1;
            frame.map = self.maps;
        }
        if frame.role == JsonReadRole::Message {
            let message = schema.message(frame.message);
            let bits = message.fields.len() + message.oneofs.len();
            self.seen.resize(frame.seen_index + bits.div_ceil(64), 0);
        }
        self.stack.push(self.top);
        self.top = frame;
        self.expect = match frame.role {
            JsonReadRole::Array | JsonReadRole::SkipArray => Expect::FirstElement,
            _ => Expect::FirstKey,
        };
        Ok(())
    }

    /// Ends an object or array.
    fn leave(&mut self, schema: &Schema) -> ProtobufResult {
        let top = self.top;
        match top.role {
            JsonReadRole::Message => self.check_required(schema)?,
            JsonReadRole::AnySpecial if !top.has_value => {
                return Err(self.fault(ProtobufErrorKind::JsonAnyType));
            }
            _ => {}
        }
        if top.inner > 0 {
            if top.is_packed && top.inner == self.out.len() {
                self.out.truncate(top.entry);
            } else {
                close_length(&mut self.out, top.inner);
            }
        }
        if top.outer > 0 {
            close_length(&mut self.out, top.outer);
        }
        if top.group > 0 {
            write_tag(&mut self.out, top.group, GROUP_END);
        }
        self.seen.truncate(top.seen_index);
        self.top = self.stack.pop().unwrap_or(top);
        self.after_value();
        Ok(())
    }

    /// Selects what is expected after a value.
    #[inline]
    pub(super) fn after_value(&mut self) {
        self.expect = match self.top.role {
            JsonReadRole::Outermost => Expect::End,
            JsonReadRole::Array | JsonReadRole::SkipArray => Expect::NextElement,
            JsonReadRole::Map => {
                if self.top.entry_length > 0 {
                    close_length(&mut self.out, self.top.entry_length);
                    self.top.entry_length = 0;
                }
                Expect::NextMember
            }
            JsonReadRole::Message
            | JsonReadRole::AnyHead
            | JsonReadRole::AnySpecial
            | JsonReadRole::SkipObject => Expect::NextMember,
        };
    }

    pub(super) fn fault(&self, kind: ProtobufErrorKind) -> ProtobufError {
        let field = match self.top.role {
            JsonReadRole::Message | JsonReadRole::Array | JsonReadRole::Map => {
                Some((self.top.message, self.top.field))
            }
            _ => None,
        };
        ProtobufError { offset: self.base, kind, field }
    }

    /// Passes the decoded string to `then`.
    #[inline]
    pub(super) fn with_text<T>(
        &mut self,
        text: JsonString<'_>,
        then: impl FnOnce(&mut Self, &[u8]) -> ProtobufResult<T>,
    ) -> ProtobufResult<T> {
        if !text.has_escapes {
            if text.has_non_ascii
                && let Err(error) = std::str::from_utf8(text.raw)
            {
                let place = 1 + error.valid_up_to() as u64;
                return Err(ProtobufError {
                    offset: self.base + place,
                    ..self.fault(ProtobufErrorKind::Utf8)
                });
            }
            return then(self, text.raw);
        }
        let mut plain = std::mem::take(&mut self.text);
        plain.clear();
        let result = match unescape(&mut plain, text.raw) {
            Ok(()) => then(self, &plain),
            Err((place, kind)) => {
                Err(ProtobufError { offset: self.base + 1 + place as u64, ..self.fault(kind) })
            }
        };
        self.text = plain;
        result
    }
}
