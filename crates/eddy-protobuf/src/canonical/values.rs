//! Canonical form of values: scalars in their shortest encoding, nested messages.

use super::collect::{MessageFragment, Occurrence};
use super::message::CanonicalWriter;
use crate::fault::ProtobufResult;
use crate::schema::{FieldDescriptor, FieldType, Special};
use crate::wire::{self, Items, WireValue, write_bytes, write_tag, write_varint};

impl CanonicalWriter<'_> {
    pub(super) fn singular(&mut self, field: &FieldDescriptor, values: &[Occurrence<'_>]) -> ProtobufResult {
        if field.kind.message().is_some() {
            let parts: Vec<MessageFragment<'_>> = values.iter().filter_map(Occurrence::part).collect();
            return self.nested(field, &parts);
        }
        // All values are checked; the last one counts.
        values.iter().try_for_each(|value| value.check_utf8(field))?;
        match values.last() {
            Some(last) if field.has_presence || !is_zero(field.kind, last.item) => self.value(field, last),
            _ => Ok(()),
        }
    }

    pub(super) fn repeated(&mut self, field: &FieldDescriptor, values: &[Occurrence<'_>]) -> ProtobufResult {
        let mut elements = Vec::new();
        for value in values {
            elements.clear();
            unpack(field, value, &mut elements)?;
            elements.iter().try_for_each(|element| self.value(field, element))?;
        }
        Ok(())
    }

    pub(super) fn packed(&mut self, field: &FieldDescriptor, values: &[Occurrence<'_>]) -> ProtobufResult {
        let mut elements = Vec::new();
        values.iter().try_for_each(|value| unpack(field, value, &mut elements))?;
        if elements.is_empty() {
            return Ok(());
        }
        self.delimited(field.number, |writer| {
            elements.iter().for_each(|element| write_scalar(field.kind, element.item, writer.out));
            Ok(())
        })
    }

    /// Appends one value with its tag.
    pub(super) fn value(&mut self, field: &FieldDescriptor, value: &Occurrence<'_>) -> ProtobufResult {
        if let (Some(_), Some(part)) = (field.kind.message(), value.part()) {
            return self.nested(field, &[part]);
        }
        value.check_utf8(field)?;
        write_tag(self.out, field.number, field.kind.wire_type());
        write_scalar(field.kind, value.item, self.out);
        Ok(())
    }

    /// Appends a message, of one or several fragments, with its tag.
    pub(super) fn nested(
        &mut self,
        field: &FieldDescriptor,
        parts: &[MessageFragment<'_>],
    ) -> ProtobufResult {
        // Types that are one level in JSON, such as a `Value` with a `Struct` or `ListValue` in it, count as one
        // level.
        let is_level = |id| !matches!(self.schema.message(id).special, Special::Struct | Special::ListValue);
        let levels = u32::from(field.kind.message().is_some_and(is_level));
        self.deeper(levels, |writer| match field.kind {
            FieldType::Group(id) => {
                write_tag(writer.out, field.number, wire::GROUP_START);
                writer.message(id, parts)?;
                write_tag(writer.out, field.number, wire::GROUP_END);
                Ok(())
            }
            FieldType::Message(id) => writer.delimited(field.number, |writer| writer.message(id, parts)),
            _ => Ok(()),
        })
    }
}

/// Appends the elements of a packed value, or the single value.
fn unpack<'m>(
    field: &FieldDescriptor,
    occurrence: &Occurrence<'m>,
    elements: &mut Vec<Occurrence<'m>>,
) -> ProtobufResult {
    let WireValue::Bytes(bytes) = occurrence.item else {
        elements.push(*occurrence);
        return Ok(());
    };
    if !field.kind.is_packable() {
        elements.push(*occurrence);
        return Ok(());
    }
    let mut items = Items::at(bytes, occurrence.offset, 0);
    while !items.rest().is_empty() {
        let offset = items.offset();
        let item = match field.kind.wire_type() {
            wire::FIXED64 => WireValue::Fixed64(items.fixed64()?),
            wire::FIXED32 => WireValue::Fixed32(items.fixed32()?),
            _ => WireValue::Varint(items.varint()?),
        };
        elements.push(Occurrence { item, offset });
    }
    Ok(())
}

/// Appends a value without its tag.
pub(super) fn write_scalar(kind: FieldType, item: WireValue<'_>, out: &mut Vec<u8>) {
    match item {
        WireValue::Varint(value) => write_varint(out, narrowed(kind, value)),
        WireValue::Fixed64(value) => out.extend_from_slice(&value.to_le_bytes()),
        WireValue::Fixed32(value) => out.extend_from_slice(&value.to_le_bytes()),
        WireValue::Bytes(bytes) | WireValue::Group(bytes) => write_bytes(out, bytes),
    }
}

/// Returns a varint narrowed to its type: the low half for 32 bits, 0 or 1 for a `bool`.
#[expect(clippy::cast_possible_truncation, reason = "the low half is what is meant")]
pub(super) fn narrowed(kind: FieldType, value: u64) -> u64 {
    match kind {
        FieldType::Int32 | FieldType::Enum(_) => i64::from(value as i32).cast_unsigned(),
        FieldType::Uint32 | FieldType::Sint32 => u64::from(value as u32),
        FieldType::Bool => u64::from(value != 0),
        _ => value,
    }
}

/// Whether a value is the default of a field without presence.
fn is_zero(kind: FieldType, item: WireValue<'_>) -> bool {
    match item {
        WireValue::Varint(value) => narrowed(kind, value) == 0,
        WireValue::Fixed64(value) => value == 0,
        WireValue::Fixed32(value) => value == 0,
        WireValue::Bytes(bytes) | WireValue::Group(bytes) => bytes.is_empty(),
    }
}
