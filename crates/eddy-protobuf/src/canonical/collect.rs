//! Collects the values of each field of a message.

use std::collections::BTreeMap;

use crate::fault::{ProtobufError, ProtobufErrorKind, ProtobufResult};
use crate::schema::{FieldDescriptor, FieldType, Label, MessageDescriptor, Schema};
use crate::wire::{self, Items, WireValue, write_tag, write_varint};

/// Bytes of a message; several fragments may form one message.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageFragment<'m> {
    pub(super) bytes: &'m [u8],
    pub(super) offset: u64,
}

/// A value of a field with its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occurrence<'m> {
    pub(super) item: WireValue<'m>,
    /// Offset of the value's first byte.
    pub(super) offset: u64,
}

impl<'m> Occurrence<'m> {
    /// Returns the value of an item that ends at this offset.
    pub(super) fn ending_at(end: u64, item: WireValue<'m>) -> Self {
        let length = match item {
            WireValue::Bytes(bytes) | WireValue::Group(bytes) => bytes.len() as u64,
            WireValue::Varint(_) | WireValue::Fixed64(_) | WireValue::Fixed32(_) => 0,
        };
        Self { item, offset: end - length }
    }

    /// Returns the bytes of a message or string.
    pub(super) fn part(&self) -> Option<MessageFragment<'m>> {
        match self.item {
            WireValue::Bytes(bytes) | WireValue::Group(bytes) => {
                Some(MessageFragment { bytes, offset: self.offset })
            }
            WireValue::Varint(_) | WireValue::Fixed64(_) | WireValue::Fixed32(_) => None,
        }
    }

    /// Checks a string that must be UTF-8.
    pub(super) fn check_utf8(&self, field: &FieldDescriptor) -> ProtobufResult {
        let Some(part) = self.part().filter(|_| field.kind == FieldType::String && field.checks_utf8) else {
            return Ok(());
        };
        std::str::from_utf8(part.bytes).map(|_| ()).map_err(|error| {
            ProtobufError::new(part.offset + error.valid_up_to() as u64, ProtobufErrorKind::Utf8)
        })
    }
}

/// Values by field index, and unknown fields.
#[derive(Default)]
pub(super) struct Collected<'m> {
    pub(super) fields: BTreeMap<u16, Vec<Occurrence<'m>>>,
    pub(super) unknown: Vec<u8>,
    /// Messages replaced by another member of their oneof; they must be valid all the same.
    pub(super) replaced: Vec<(u16, Occurrence<'m>)>,
}

impl<'m> Collected<'m> {
    pub(super) fn of(
        schema: &Schema,
        message: &MessageDescriptor,
        parts: &[MessageFragment<'m>],
        depth_left: u32,
    ) -> ProtobufResult<Self> {
        let mut collected = Self::default();
        for part in parts {
            let mut items = Items::at(part.bytes, part.offset, depth_left);
            loop {
                let before = items.rest();
                let Some((number, item)) = items.next()? else { break };
                let raw = before.get(..before.len() - items.rest().len()).unwrap_or_default();
                collected.take(schema, message, number, Occurrence::ending_at(items.offset(), item), raw)?;
            }
        }
        Ok(collected)
    }

    fn take(
        &mut self,
        schema: &Schema,
        message: &MessageDescriptor,
        number: u32,
        occurrence: Occurrence<'m>,
        raw: &[u8],
    ) -> ProtobufResult {
        let known = message.by_number(number).filter(|(_, field)| is_of(field, occurrence.item));
        let Some((index, field)) = known else {
            self.unknown.extend_from_slice(raw);
            return Ok(());
        };
        if let Some(oneof) = field.oneof {
            let is_other = |other: &u16| {
                *other != index && message.field(*other).is_some_and(|other| other.oneof == Some(oneof))
            };
            for (other, occurrences) in self.fields.extract_if(.., |other, _| is_other(other)) {
                self.replaced.extend(occurrences.into_iter().map(|occurrence| (other, occurrence)));
            }
        }
        match field.kind {
            FieldType::Enum(id) if schema.enumeration(id).is_closed && field.label != Label::Map => {
                self.take_closed(schema, (index, field), occurrence)?;
            }
            _ => self.fields.entry(index).or_default().push(occurrence),
        }
        Ok(())
    }

    /// Stores a value of a closed enum; unknown numbers are stored as unknown fields.
    fn take_closed(
        &mut self,
        schema: &Schema,
        (index, field): (u16, &FieldDescriptor),
        occurrence: Occurrence<'m>,
    ) -> ProtobufResult {
        let mut take = |number: u64, offset| {
            if is_known(schema, field.kind, number) {
                let item = WireValue::Varint(number);
                self.fields.entry(index).or_default().push(Occurrence { item, offset });
            } else {
                write_tag(&mut self.unknown, field.number, wire::VARINT);
                write_varint(&mut self.unknown, number);
            }
        };
        match occurrence.item {
            WireValue::Bytes(bytes) => {
                let mut items = Items::at(bytes, occurrence.offset, 0);
                while !items.rest().is_empty() {
                    let offset = items.offset();
                    take(items.varint()?, offset);
                }
            }
            WireValue::Varint(number) => take(number, occurrence.offset),
            WireValue::Fixed64(_) | WireValue::Fixed32(_) | WireValue::Group(_) => {}
        }
        Ok(())
    }
}

/// Whether the enum has this number.
#[expect(clippy::cast_possible_truncation, reason = "an enum on the wire is the low half of a varint")]
pub(super) fn is_known(schema: &Schema, kind: FieldType, number: u64) -> bool {
    match kind {
        FieldType::Enum(id) => {
            let enumeration = schema.enumeration(id);
            !enumeration.is_closed || enumeration.name_of(number as i32).is_some()
        }
        _ => true,
    }
}

/// Whether the wire type of a value fits this field.
pub(super) fn is_of(field: &FieldDescriptor, item: WireValue<'_>) -> bool {
    let is_packed =
        matches!(item, WireValue::Bytes(_)) && field.label == Label::Repeated && field.kind.is_packable();
    is_packed || item.wire_type() == field.kind.wire_type()
}
