//! Values: the field that they belong to, and the form that it requires.

use super::frame::{JsonReadFrame, JsonReadRole};
use super::member::NO_FIELD;
use super::parser::JsonParser;
use super::scalar::Presence;
use super::token::Token;
use crate::fault::{ProtobufErrorKind, ProtobufResult};
use crate::json::Required;
use crate::schema::{FieldDescriptor, FieldType, Label, MessageId, Schema, Special};
use crate::wire::{GROUP_START, LENGTH, open_length, write_tag};

impl JsonParser {
    /// Handles a value, or the beginning of one.
    #[inline]
    pub(super) fn value(&mut self, schema: &Schema, token: Token<'_>) -> ProtobufResult {
        match self.top.role {
            JsonReadRole::Message if self.top.field != NO_FIELD => self.field_value(schema, token),
            JsonReadRole::Array => {
                let field = self.current(schema)?;
                self.element(schema, field, token)
            }
            JsonReadRole::Map => self.map_value(schema, token),
            JsonReadRole::Outermost => self.message_value(schema, self.top.message, WireFraming::None, token),
            JsonReadRole::AnySpecial if self.top.field != NO_FIELD => {
                self.top.has_value = true;
                self.message_value(schema, self.top.message, WireFraming::None, token)
            }
            JsonReadRole::AnyHead => self.any_type(schema, token),
            _ => self.skip(schema, token),
        }
    }

    fn current<'s>(&self, schema: &'s Schema) -> ProtobufResult<&'s FieldDescriptor> {
        schema
            .message(self.top.message)
            .field(self.top.field)
            .ok_or_else(|| self.fault(ProtobufErrorKind::JsonType))
    }

    /// Handles the value of a message field.
    #[inline]
    fn field_value(&mut self, schema: &Schema, token: Token<'_>) -> ProtobufResult {
        let message = schema.message(self.top.message);
        let field = self.current(schema)?;
        if token == Token::Null && !takes_null(schema, field.kind) {
            self.after_value();
            return Ok(());
        }
        match (field.label, token) {
            (Label::Singular, _) => {
                self.note_oneof(message, field)?;
                let presence = if field.has_presence || self.options.duplicates == crate::Duplicates::Merge {
                    Presence::Explicit
                } else {
                    Presence::Implicit
                };
                self.typed_value(schema, field, presence, token)
            }
            (Label::Repeated, Token::ArrayStart) => {
                let mut frame = JsonReadFrame::new(JsonReadRole::Array, self.top.message);
                frame.field = self.top.field;
                if field.is_packed {
                    frame.is_packed = true;
                    frame.entry = self.out.len();
                    write_tag(&mut self.out, field.number, LENGTH);
                    frame.inner = open_length(&mut self.out);
                }
                self.enter(schema, frame)
            }
            (Label::Map, Token::ObjectStart) => {
                let mut frame = JsonReadFrame::new(JsonReadRole::Map, self.top.message);
                frame.field = self.top.field;
                self.enter(schema, frame)
            }
            _ => Err(self.fault(ProtobufErrorKind::JsonType)),
        }
    }

    /// Handles an array element.
    fn element(&mut self, schema: &Schema, field: &FieldDescriptor, token: Token<'_>) -> ProtobufResult {
        if token == Token::Null && !takes_null(schema, field.kind) {
            return Err(self.fault(ProtobufErrorKind::JsonNull));
        }
        let presence = if field.is_packed { Presence::Bare } else { Presence::Explicit };
        self.typed_value(schema, field, presence, token)
    }

    /// Handles the value of a map entry.
    fn map_value(&mut self, schema: &Schema, token: Token<'_>) -> ProtobufResult {
        let entry = self.current(schema)?.kind.message();
        let field = entry.and_then(|entry| schema.message(entry).by_number(2));
        let Some((_, field)) = field else { return Err(self.fault(ProtobufErrorKind::JsonType)) };
        if token == Token::Null && !takes_null(schema, field.kind) {
            return Err(self.fault(ProtobufErrorKind::JsonNull));
        }
        self.typed_value(schema, field, Presence::Explicit, token)
    }

    /// Handles a value of the field's type.
    #[inline]
    fn typed_value(
        &mut self,
        schema: &Schema,
        field: &FieldDescriptor,
        presence: Presence,
        token: Token<'_>,
    ) -> ProtobufResult {
        match field.kind {
            FieldType::Message(id) => {
                self.message_value(schema, id, WireFraming::Length(field.number), token)
            }
            FieldType::Group(id) => self.message_value(schema, id, WireFraming::Group(field.number), token),
            _ => {
                let is_written = self.scalar(schema, field, presence, token)?;
                if !is_written && self.top.role == JsonReadRole::Map {
                    self.drop_entry();
                }
                self.after_value();
                Ok(())
            }
        }
    }

    /// Handles a value that is a message.
    pub(super) fn message_value(
        &mut self,
        schema: &Schema,
        id: MessageId,
        framing: WireFraming,
        token: Token<'_>,
    ) -> ProtobufResult {
        let message = schema.message(id);
        let is_object = token == Token::ObjectStart;
        let role = match message.special {
            Special::None if is_object => JsonReadRole::Message,
            Special::Any if is_object => JsonReadRole::AnyHead,
            Special::Struct if is_object => JsonReadRole::Map,
            Special::ListValue if token == Token::ArrayStart => JsonReadRole::Array,
            Special::Value => return self.any_value(schema, id, framing, token),
            Special::Timestamp | Special::Duration | Special::FieldMask | Special::Wrapper => {
                let frame = self.frame(JsonReadRole::Message, id, framing);
                self.special(schema, message, token)?;
                self.end_frame(frame);
                self.after_value();
                return Ok(());
            }
            _ => return Err(self.fault(ProtobufErrorKind::JsonType)),
        };
        let frame = self.frame(role, id, framing);
        self.enter(schema, frame)
    }

    /// Handles a `Value`, of any form.
    fn any_value(
        &mut self,
        schema: &Schema,
        id: MessageId,
        framing: WireFraming,
        token: Token<'_>,
    ) -> ProtobufResult {
        let outer = self.frame(JsonReadRole::Message, id, framing);
        let number = match token {
            Token::Null => 1,
            Token::Number(_) => 2,
            Token::Text(_) => 3,
            Token::True | Token::False => 4,
            Token::ObjectStart => 5,
            Token::ArrayStart => 6,
        };
        let Some((_, field)) = schema.message(id).by_number(number) else {
            return Err(self.fault(ProtobufErrorKind::JsonType));
        };
        if let FieldType::Message(inner) = field.kind {
            write_tag(&mut self.out, number, LENGTH);
            let start = open_length(&mut self.out);
            let is_list = token == Token::ArrayStart;
            let role = if is_list { JsonReadRole::Array } else { JsonReadRole::Map };
            let frame = JsonReadFrame { message: inner, role, inner: start, outer: outer.inner, ..outer };
            return self.enter(schema, frame);
        }
        self.scalar(schema, field, Presence::Explicit, token)?;
        self.end_frame(outer);
        self.after_value();
        Ok(())
    }

    /// Returns a frame whose tag and length placeholder are written.
    pub(super) fn frame(
        &mut self,
        role: JsonReadRole,
        message: MessageId,
        framing: WireFraming,
    ) -> JsonReadFrame {
        let mut frame = JsonReadFrame::new(role, message);
        match framing {
            WireFraming::None => {}
            WireFraming::Length(number) => {
                write_tag(&mut self.out, number, LENGTH);
                frame.inner = open_length(&mut self.out);
            }
            WireFraming::Group(number) => {
                write_tag(&mut self.out, number, GROUP_START);
                frame.group = number;
            }
        }
        frame
    }

    /// Ends a frame that was never entered.
    fn end_frame(&mut self, frame: JsonReadFrame) {
        if frame.inner > 0 {
            crate::wire::close_length(&mut self.out, frame.inner);
        }
        if frame.group > 0 {
            write_tag(&mut self.out, frame.group, crate::wire::GROUP_END);
        }
    }

    /// Skips a value.
    fn skip(&mut self, schema: &Schema, token: Token<'_>) -> ProtobufResult {
        let skip = |role| JsonReadFrame::new(role, MessageId(0));
        match token {
            Token::ObjectStart => return self.enter(schema, skip(JsonReadRole::SkipObject)),
            Token::ArrayStart => return self.enter(schema, skip(JsonReadRole::SkipArray)),
            Token::Number(number) => self.check_number(number)?,
            Token::Text(text) => self.with_text(text, |_, _| Ok(()))?,
            Token::Null | Token::True | Token::False => {}
        }
        self.after_value();
        Ok(())
    }

    /// Checks the required fields of a message at its end.
    pub(super) fn check_required(&self, schema: &Schema) -> ProtobufResult {
        let message = schema.message(self.top.message);
        if self.options.required == Required::Pass {
            return Ok(());
        }
        message.check_required(self.top.message, self.base, |index| self.is_noted(index))
    }
}

/// Framing of a message on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WireFraming {
    /// None.
    None,
    /// Tag of the field, and length.
    Length(u32),
    /// Group tags.
    Group(u32),
}

/// Whether `null` is a value of this type.
fn takes_null(schema: &Schema, kind: FieldType) -> bool {
    match kind {
        FieldType::Enum(id) => schema.enumeration(id).is_null,
        _ => kind.message().is_some_and(|id| schema.message(id).special == Special::Value),
    }
}
