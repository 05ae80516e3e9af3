//! Values: scalars in their shortest form, messages within messages.

use super::collect::{Occurrence, check_utf8};
use super::{Canonical, Part};
use crate::fault::Fault;
use crate::schema::{Field, Kind, Special};
use crate::wire::{self, Item, Items, close_length, open_length, write_bytes, write_tag, write_varint};

impl Canonical<'_> {
    pub(super) fn singular(
        &self,
        field: &Field,
        occurrences: &[Occurrence<'_>],
        out: &mut Vec<u8>,
        depth: u32,
    ) -> Result<(), Fault> {
        if field.kind.message().is_some() {
            let parts: Vec<Part<'_>> = occurrences.iter().filter_map(Occurrence::part).collect();
            return self.nested(field, &parts, out, depth);
        }
        // All are looked at, the last counts.
        for occurrence in occurrences {
            occurrence.part().map_or(Ok(()), |part| check_utf8(field, part))?;
        }
        match occurrences.last() {
            Some(last) if field.has_presence || !is_zero(field.kind, last.item) => {
                self.value(field, last, out, depth)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn repeated(
        &self,
        field: &Field,
        occurrences: &[Occurrence<'_>],
        out: &mut Vec<u8>,
        depth: u32,
    ) -> Result<(), Fault> {
        let mut elements = Vec::new();
        for occurrence in occurrences {
            elements.clear();
            unpack(field, occurrence, &mut elements)?;
            elements.iter().try_for_each(|element| self.value(field, element, out, depth))?;
        }
        Ok(())
    }

    pub(super) fn packed(
        &self,
        field: &Field,
        occurrences: &[Occurrence<'_>],
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let before = out.len();
        write_tag(out, field.number, wire::LENGTH);
        let start = open_length(out);
        let mut elements = Vec::new();
        for occurrence in occurrences {
            elements.clear();
            unpack(field, occurrence, &mut elements)?;
            elements.iter().for_each(|element| write_scalar(field.kind, element.item, out));
        }
        if out.len() == start {
            out.truncate(before);
        } else {
            close_length(out, start);
        }
        Ok(())
    }

    /// One value with its tag.
    pub(super) fn value(
        &self,
        field: &Field,
        occurrence: &Occurrence<'_>,
        out: &mut Vec<u8>,
        depth: u32,
    ) -> Result<(), Fault> {
        if let (Some(_), Some(part)) = (field.kind.message(), occurrence.part()) {
            return self.nested(field, &[part], out, depth);
        }
        if let Some(part) = occurrence.part() {
            check_utf8(field, part)?;
        }
        write_tag(out, field.number, field.kind.wire_type());
        write_scalar(field.kind, occurrence.item, out);
        Ok(())
    }

    /// A message, of one or several parts, with its tag.
    pub(super) fn nested(
        &self,
        field: &Field,
        parts: &[Part<'_>],
        out: &mut Vec<u8>,
        depth: u32,
    ) -> Result<(), Fault> {
        // What JSON nests once, a `Value` with a `Struct` or `ListValue` in it, counts once.
        let is_level = |id| !matches!(self.schema.message(id).special, Special::Struct | Special::ListValue);
        let depth = depth + u32::from(field.kind.message().is_some_and(is_level));
        match field.kind {
            Kind::Group(id) => {
                write_tag(out, field.number, wire::GROUP_START);
                self.message(id, parts, out, depth)?;
                write_tag(out, field.number, wire::GROUP_END);
            }
            Kind::Message(id) => {
                write_tag(out, field.number, wire::LENGTH);
                let start = open_length(out);
                self.message(id, parts, out, depth)?;
                close_length(out, start);
            }
            _ => {}
        }
        Ok(())
    }
}

/// The elements of a packed value, or the one value that it is.
fn unpack<'m>(
    field: &Field,
    occurrence: &Occurrence<'m>,
    elements: &mut Vec<Occurrence<'m>>,
) -> Result<(), Fault> {
    let Item::Bytes(bytes) = occurrence.item else {
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
            wire::FIXED64 => Item::Fixed64(items.fixed64()?),
            wire::FIXED32 => Item::Fixed32(items.fixed32()?),
            _ => Item::Varint(items.varint()?),
        };
        elements.push(Occurrence { item, offset });
    }
    Ok(())
}

/// Appends a value without its tag.
pub(super) fn write_scalar(kind: Kind, item: Item<'_>, out: &mut Vec<u8>) {
    match item {
        Item::Varint(value) => write_varint(out, narrowed(kind, value)),
        Item::Fixed64(value) => out.extend_from_slice(&value.to_le_bytes()),
        Item::Fixed32(value) => out.extend_from_slice(&value.to_le_bytes()),
        Item::Bytes(bytes) | Item::Group(bytes) => write_bytes(out, bytes),
    }
}

/// A varint as its type has it: the low half of one of 32 bits, 0 or 1 of a `bool`.
#[expect(clippy::cast_possible_truncation, reason = "the low half is what is meant")]
pub(super) fn narrowed(kind: Kind, value: u64) -> u64 {
    match kind {
        Kind::Int32 | Kind::Enum(_) => i64::from(value as i32).cast_unsigned(),
        Kind::Uint32 | Kind::Sint32 => u64::from(value as u32),
        Kind::Bool => u64::from(value != 0),
        _ => value,
    }
}

/// Whether a value is the default of a field without presence.
fn is_zero(kind: Kind, item: Item<'_>) -> bool {
    match item {
        Item::Varint(value) => narrowed(kind, value) == 0,
        Item::Fixed64(value) => value == 0,
        Item::Fixed32(value) => value == 0,
        Item::Bytes(bytes) | Item::Group(bytes) => bytes.is_empty(),
    }
}
