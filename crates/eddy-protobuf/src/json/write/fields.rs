//! Conversion of message fields.

use super::frame::{CLOSED, FrameProgress, JsonWriteFrame, JsonWriteRole};
use super::machine::{JsonWriteResult, JsonWriteStop, JsonWriter, WireFieldHead, outermost};
use super::ongoing::JsonTextEncoding;
use super::scalar::is_zero;
use crate::fault::{ProtobufError, ProtobufErrorKind, ProtobufResult};
use crate::json::JsonFieldNaming;
use crate::schema::{FieldDescriptor, FieldType, Label, MessageDescriptor, Schema};
use crate::wire::{LENGTH, WireRead, read_value};

impl JsonWriter {
    /// Handles a field of a message; returns how many bytes of `behind` were consumed.
    #[inline]
    pub(super) fn field(
        &mut self,
        schema: &Schema,
        head: WireFieldHead,
        behind: &[u8],
    ) -> JsonWriteResult<usize> {
        let message = schema.message(self.top.message);
        let Some((index, field)) = message.by_number(head.number) else { return self.skip(head) };
        if head.wire_type != field.kind.wire_type() {
            let is_packed =
                head.wire_type == LENGTH && field.label == Label::Repeated && field.kind.is_packable();
            return if is_packed { self.packed(message, (index, field), head) } else { self.skip(head) };
        }
        self.known_field(schema, message, (index, field), head, behind).map_err(|stop| match stop {
            JsonWriteStop::Fault(fault) if fault.field.is_none() => {
                JsonWriteStop::Fault(ProtobufError { field: Some((self.top.message, index)), ..fault })
            }
            _ => stop,
        })
    }

    #[inline]
    fn known_field(
        &mut self,
        schema: &Schema,
        message: &MessageDescriptor,
        (index, field): (u16, &FieldDescriptor),
        head: WireFieldHead,
        behind: &[u8],
    ) -> JsonWriteResult<usize> {
        match field.kind {
            FieldType::String | FieldType::Bytes => {
                if head.value == 0 && self.is_absent(field) {
                    return self.note(message, index, field).map(|()| 0);
                }
                self.begin_value(message, index, field)?;
                let form = if field.kind == FieldType::String {
                    JsonTextEncoding::Utf8
                } else {
                    JsonTextEncoding::Base64
                };
                self.text(head, behind, form)
            }
            FieldType::Message(id) => {
                self.begin_value(message, index, field)?;
                let end = head.after + head.value;
                if field.label == Label::Map {
                    let frame = JsonWriteFrame {
                        role: JsonWriteRole::Entry,
                        message: id,
                        map: self.top.map,
                        ..outermost(end)
                    };
                    self.push(frame, head.after)?;
                } else {
                    self.enter(schema, id, end, 0, head.after)?;
                }
                Ok(0)
            }
            FieldType::Group(id) => {
                self.begin_value(message, index, field)?;
                self.enter(schema, id, self.top.end, field.number, head.after)?;
                Ok(0)
            }
            _ => {
                if is_unknown(schema, field.kind, head.value) {
                    return Ok(0);
                }
                if is_zero(field.kind, head.value) && self.is_absent(field) {
                    return self.note(message, index, field).map(|()| 0);
                }
                self.begin_value(message, index, field)?;
                self.check_finite(field, head)?;
                self.write_scalar(schema, field.kind, head.value);
                Ok(0)
            }
        }
    }

    /// Rejects a number of a `Value` that JSON cannot represent.
    #[inline]
    fn check_finite(&self, field: &FieldDescriptor, head: WireFieldHead) -> ProtobufResult {
        let is_infinite = || field.kind == FieldType::Double && !f64::from_bits(head.value).is_finite();
        if self.top.role == JsonWriteRole::Value && is_infinite() {
            return Err(ProtobufError::new(head.after, ProtobufErrorKind::ValueNotFinite));
        }
        Ok(())
    }

    /// Whether the default of this field means that it is not set.
    #[inline]
    fn is_absent(&self, field: &FieldDescriptor) -> bool {
        // Where defaults are written, one from the wire is written in its place.
        !field.has_presence
            && field.label == Label::Singular
            && self.top.role == JsonWriteRole::Object
            && !self.options.prints_defaults
    }

    /// Records that a field is present.
    #[inline]
    fn note(&mut self, message: &MessageDescriptor, index: u16, field: &FieldDescriptor) -> JsonWriteResult {
        self.note_bit(usize::from(index))?;
        match field.oneof {
            Some(oneof) => self.note_bit(message.fields.len() + usize::from(oneof)),
            None => Ok(()),
        }
    }

    #[inline]
    fn note_bit(&mut self, bit: usize) -> JsonWriteResult {
        if let Some(word) = self.seen.get_mut(self.top.seen_index + bit / 64) {
            let mask = 1 << (bit % 64);
            if *word & mask != 0 {
                return Err(JsonWriteStop::Disorder);
            }
            *word |= mask;
        }
        Ok(())
    }

    fn is_noted(&self, bit: usize) -> bool {
        self.seen.get(self.top.seen_index + bit / 64).is_some_and(|word| word & 1 << (bit % 64) != 0)
    }

    /// Writes the text before a value: comma, key, opening bracket.
    #[inline]
    fn begin_value(
        &mut self,
        message: &MessageDescriptor,
        index: u16,
        field: &FieldDescriptor,
    ) -> JsonWriteResult {
        if self.top.open == index {
            if !self.top.is_first || self.top.role != JsonWriteRole::Bare {
                self.out.push(b',');
            }
            self.top.is_first = false;
            return Ok(());
        }
        if self.top.open != CLOSED {
            self.out.push(self.top.close);
            self.top.open = CLOSED;
        }
        self.note(message, index, field)?;
        if matches!(self.top.role, JsonWriteRole::Value | JsonWriteRole::Wrapper) {
            self.top.progress = FrameProgress::Value;
            return Ok(());
        }
        self.write_name(field);
        match field.label {
            Label::Singular => {}
            Label::Repeated => self.open(index, b'[', b']'),
            Label::Map => {
                self.open(index, b'{', b'}');
                self.maps += 1;
                self.top.map = self.maps;
            }
        }
        Ok(())
    }

    #[inline]
    fn write_name(&mut self, field: &FieldDescriptor) {
        let key = match self.options.names {
            JsonFieldNaming::Json => &field.json_key,
            JsonFieldNaming::Declared => &field.name_key,
        };
        self.out.extend_from_slice(key.get(usize::from(self.top.is_first)..).unwrap_or_default());
        self.top.is_first = false;
    }

    fn open(&mut self, index: u16, open: u8, close: u8) {
        self.out.push(open);
        self.top.open = index;
        self.top.close = close;
    }

    /// Begins a packed list; an empty one is ignored.
    fn packed(
        &mut self,
        message: &MessageDescriptor,
        (index, field): (u16, &FieldDescriptor),
        head: WireFieldHead,
    ) -> JsonWriteResult<usize> {
        if head.value == 0 {
            return Ok(0);
        }
        self.begin_value(message, index, field)?;
        let end = head.after + head.value;
        let frame = JsonWriteFrame {
            role: JsonWriteRole::Packed,
            message: self.top.message,
            open: index,
            ..outermost(end)
        };
        self.push(frame, head.after)?;
        Ok(0)
    }

    /// Handles a value of a packed list; returns 0 if the window ends within it.
    pub(super) fn packed_value(
        &mut self,
        schema: &Schema,
        rest: &[u8],
        offset: u64,
    ) -> JsonWriteResult<usize> {
        let Some(field) = schema.message(self.top.message).field(self.top.open) else {
            return Err(ProtobufError::new(offset, ProtobufErrorKind::WireType).into());
        };
        let read =
            read_value(field.kind.wire_type(), rest).map_err(|kind| ProtobufError::new(offset, kind))?;
        let WireRead::Done(value, bytes) = read else { return self.more(rest, offset) };
        if offset + bytes as u64 > self.top.end {
            return Err(ProtobufError::new(offset, ProtobufErrorKind::PastEnd).into());
        }
        if is_unknown(schema, field.kind, value) {
            return Err(JsonWriteStop::Disorder);
        }
        if !self.top.is_first {
            self.out.push(b',');
        }
        self.top.is_first = false;
        self.write_scalar(schema, field.kind, value);
        Ok(bytes)
    }

    /// Ends a message: closes open brackets, writes requested defaults of absent fields.
    pub(super) fn leave_message(&mut self, schema: &Schema, offset: u64) -> JsonWriteResult {
        let message = schema.message(self.top.message);
        if self.top.open != CLOSED {
            self.out.push(self.top.close);
            self.top.open = CLOSED;
        }
        match self.top.role {
            JsonWriteRole::Object => {
                if self.options.prints_defaults {
                    self.write_defaults(schema, message);
                }
                let is_noted = |index| self.is_noted(usize::from(index));
                message.check_required(self.top.message, offset, is_noted)?;
                self.out.push(b'}');
            }
            JsonWriteRole::Value if self.top.progress == FrameProgress::Nothing => {
                return Err(ProtobufError::new(offset, ProtobufErrorKind::ValueMissing).into());
            }
            JsonWriteRole::Wrapper if self.top.progress == FrameProgress::Nothing => {
                if let Some((_, field)) = message.by_number(1) {
                    self.write_default(schema, field.kind);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn write_defaults(&mut self, schema: &Schema, message: &MessageDescriptor) {
        for (bit, field) in message.fields.iter().enumerate() {
            if self.is_noted(bit) || field.has_presence {
                continue;
            }
            self.write_name(field);
            match field.label {
                Label::Singular => self.write_default(schema, field.kind),
                Label::Repeated => self.out.extend_from_slice(b"[]"),
                Label::Map => self.out.extend_from_slice(b"{}"),
            }
        }
    }
}

/// Whether a number is unknown in a closed enum.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "an enum on the wire is the low half of a varint")]
pub(super) fn is_unknown(schema: &Schema, kind: FieldType, value: u64) -> bool {
    let FieldType::Enum(id) = kind else { return false };
    let enumeration = schema.enumeration(id);
    enumeration.is_closed && enumeration.name_of(value as i32).is_none()
}
