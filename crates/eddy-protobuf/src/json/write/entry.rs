//! Conversion of map entries: a key and a value.

use super::frame::FrameProgress;
use super::machine::{JsonWriteResult, JsonWriteStop, JsonWriter, WireFieldHead};
use super::ongoing::{BufferedTextKind, JsonTextEncoding};
use crate::fault::{ProtobufError, ProtobufErrorKind};
use crate::json::keys::KeyProblem;
use crate::json::text::write_escaped;
use crate::schema::{FieldDescriptor, FieldType, Schema};
use crate::wire::{GROUP_START, Items, LENGTH, PiecePosition};

use super::fields::is_unknown;

impl JsonWriter {
    /// Handles an item of an entry; returns how many bytes of `behind` were consumed.
    pub(super) fn entry(
        &mut self,
        schema: &Schema,
        head: WireFieldHead,
        behind: &[u8],
    ) -> JsonWriteResult<usize> {
        let message = schema.message(self.top.message);
        let field =
            message.by_number(head.number).filter(|(_, field)| field.kind.wire_type() == head.wire_type);
        let Some((_, field)) = field else { return self.skip(head) };
        match (head.number, self.top.progress) {
            (1, FrameProgress::Nothing) => {
                if field.kind == FieldType::String {
                    return self.hold(schema, head, behind, BufferedTextKind::Key);
                }
                self.scalar_key(schema, field.kind, head.value, head.after)?;
                Ok(0)
            }
            (2, FrameProgress::Nothing) => {
                if self.has_key_behind(schema, head, behind) {
                    return Err(JsonWriteStop::Disorder);
                }
                self.default_key(schema, head.after)?;
                self.entry_value(schema, field, head, behind)
            }
            (2, FrameProgress::Key) => self.entry_value(schema, field, head, behind),
            _ => Err(JsonWriteStop::Disorder),
        }
    }

    fn entry_value(
        &mut self,
        schema: &Schema,
        field: &FieldDescriptor,
        head: WireFieldHead,
        behind: &[u8],
    ) -> JsonWriteResult<usize> {
        self.top.progress = FrameProgress::Value;
        match field.kind {
            FieldType::String => self.text(head, behind, JsonTextEncoding::Utf8),
            FieldType::Bytes => self.text(head, behind, JsonTextEncoding::Base64),
            FieldType::Message(id) => {
                self.enter(schema, id, head.after + head.value, 0, head.after)?;
                Ok(0)
            }
            FieldType::Group(id) => {
                self.enter(schema, id, self.top.end, field.number, head.after)?;
                Ok(0)
            }
            _ if is_unknown(schema, field.kind, head.value) => Err(JsonWriteStop::Disorder),
            _ => {
                self.write_scalar(schema, field.kind, head.value);
                Ok(0)
            }
        }
    }

    /// Whether a key follows the value, or might: then the entry has to be reordered.
    fn has_key_behind(&self, schema: &Schema, head: WireFieldHead, behind: &[u8]) -> bool {
        let value = if head.wire_type == LENGTH { head.value } else { 0 };
        let after = head.after + value;
        let rest = usize::try_from(value).ok().zip(usize::try_from(self.top.end - after).ok());
        let rest = rest.and_then(|(value, rest)| behind.get(value..)?.get(..rest));
        let Some(rest) = rest.filter(|_| head.wire_type != GROUP_START) else { return true };
        let key = schema.message(self.top.message).by_number(1);
        let mut items = Items::at(rest, after, self.limits.depth_max);
        loop {
            match items.next() {
                Ok(None) => return false,
                Ok(Some((1, item)))
                    if key.is_some_and(|(_, key)| key.kind.wire_type() == item.wire_type()) =>
                {
                    return true;
                }
                Ok(Some(_)) => {}
                // Errors there are reported when that position is reached.
                Err(_) => return false,
            }
        }
    }

    /// Writes a string as a key.
    pub(super) fn text_key(&mut self, key: &[u8], offset: u64) -> JsonWriteResult {
        let start = self.out.len();
        self.out.push(b'"');
        write_escaped(&mut self.out, key, PiecePosition::Last)
            .map_err(|place| ProtobufError::new(offset + place as u64, ProtobufErrorKind::Utf8))?;
        self.out.push(b'"');
        self.end_key(start, offset)
    }

    fn scalar_key(&mut self, schema: &Schema, kind: FieldType, value: u64, offset: u64) -> JsonWriteResult {
        let start = self.out.len();
        self.write_key(schema, kind, value);
        self.end_key(start, offset)
    }

    fn default_key(&mut self, schema: &Schema, offset: u64) -> JsonWriteResult {
        let key = schema.message(self.top.message).by_number(1);
        self.scalar_key(schema, key.map_or(FieldType::String, |(_, key)| key.kind), 0, offset)
    }

    fn end_key(&mut self, start: usize, offset: u64) -> JsonWriteResult {
        self.top.progress = FrameProgress::Key;
        let key = self.out.get(start..).unwrap_or_default();
        match self.keys.insert(self.top.map, key, self.limits.items_max) {
            Ok(()) => {}
            Err(KeyProblem::Duplicate) => return Err(JsonWriteStop::Disorder),
            Err(KeyProblem::TooMany) => {
                return Err(ProtobufError::new(offset, ProtobufErrorKind::TooManyItems).into());
            }
        }
        self.out.push(b':');
        Ok(())
    }

    /// Ends an entry: an absent key or value has the default.
    pub(super) fn leave_entry(&mut self, schema: &Schema, offset: u64) -> JsonWriteResult<bool> {
        if self.top.progress == FrameProgress::Nothing {
            self.default_key(schema, offset)?;
        }
        if self.top.progress != FrameProgress::Key {
            return Ok(true);
        }
        self.top.progress = FrameProgress::Value;
        let value = schema.message(self.top.message).by_number(2);
        match value.map(|(_, field)| field.kind) {
            Some(FieldType::Message(id) | FieldType::Group(id)) => {
                self.enter(schema, id, offset, 0, offset)?;
                Ok(false)
            }
            Some(kind) => {
                self.write_default(schema, kind);
                Ok(true)
            }
            None => Ok(true),
        }
    }
}
