//! What a message has of each field.

use std::collections::BTreeMap;

use super::{Canonical, Part};
use crate::fault::{Fault, FaultKind};
use crate::schema::{Field, Kind, Label, Message, Schema};
use crate::wire::{self, Item, Items, write_tag, write_varint};

/// A value of a field, and where it was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occurrence<'m> {
    pub(super) item: Item<'m>,
    /// Of the value's first byte.
    pub(super) offset: u64,
}

impl<'m> Occurrence<'m> {
    /// The bytes of a message or string.
    pub(super) fn part(&self) -> Option<Part<'m>> {
        match self.item {
            Item::Bytes(bytes) | Item::Group(bytes) => Some(Part { bytes, offset: self.offset }),
            Item::Varint(_) | Item::Fixed64(_) | Item::Fixed32(_) => None,
        }
    }
}

/// Values by the index of their field, and what is of no field.
#[derive(Default)]
pub(super) struct Collected<'m> {
    pub(super) fields: BTreeMap<u16, Vec<Occurrence<'m>>>,
    pub(super) unknown: Vec<u8>,
    /// Messages in whose place another member of their oneof came; they must be sound all the same.
    pub(super) replaced: Vec<(u16, Occurrence<'m>)>,
}

impl<'m> Collected<'m> {
    pub(super) fn of(
        canonical: &Canonical<'_>,
        message: &Message,
        parts: &[Part<'m>],
        depth: u32,
    ) -> Result<Self, Fault> {
        let mut collected = Self::default();
        let depth_left = canonical.limits.depth_max.saturating_sub(depth);
        for part in parts {
            let mut items = Items::at(part.bytes, part.offset, depth_left);
            loop {
                let before = items.rest();
                let Some((number, item)) = items.next()? else { break };
                let offset = items.offset() - length_behind(item);
                let raw = before.get(..before.len() - items.rest().len()).unwrap_or_default();
                collected.take(canonical.schema, message, number, Occurrence { item, offset }, raw)?;
            }
        }
        Ok(collected)
    }

    fn take(
        &mut self,
        schema: &Schema,
        message: &Message,
        number: u32,
        occurrence: Occurrence<'m>,
        raw: &[u8],
    ) -> Result<(), Fault> {
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
            Kind::Enum(id) if schema.enumeration(id).is_closed && field.label != Label::Map => {
                self.take_closed(schema, (index, field), occurrence)?;
            }
            _ => self.fields.entry(index).or_default().push(occurrence),
        }
        Ok(())
    }

    /// Numbers that the enum does not have are fields that are not known.
    fn take_closed(
        &mut self,
        schema: &Schema,
        (index, field): (u16, &Field),
        occurrence: Occurrence<'m>,
    ) -> Result<(), Fault> {
        let mut take = |number: u64, offset| {
            if is_known(schema, field.kind, number) {
                let item = Item::Varint(number);
                self.fields.entry(index).or_default().push(Occurrence { item, offset });
            } else {
                write_tag(&mut self.unknown, field.number, wire::VARINT);
                write_varint(&mut self.unknown, number);
            }
        };
        match occurrence.item {
            Item::Bytes(bytes) => {
                let mut items = Items::at(bytes, occurrence.offset, 0);
                while !items.rest().is_empty() {
                    let offset = items.offset();
                    take(items.varint()?, offset);
                }
            }
            Item::Varint(number) => take(number, occurrence.offset),
            Item::Fixed64(_) | Item::Fixed32(_) | Item::Group(_) => {}
        }
        Ok(())
    }
}

/// Whether the enum has this number.
#[expect(clippy::cast_possible_truncation, reason = "an enum on the wire is the low half of a varint")]
pub(super) fn is_known(schema: &Schema, kind: Kind, number: u64) -> bool {
    match kind {
        Kind::Enum(id) => {
            let enumeration = schema.enumeration(id);
            !enumeration.is_closed || enumeration.name_of(number as i32).is_some()
        }
        _ => true,
    }
}

/// Whether a value on the wire can be of this field.
pub(super) fn is_of(field: &Field, item: Item<'_>) -> bool {
    let is_packed =
        matches!(item, Item::Bytes(_)) && field.label == Label::Repeated && field.kind.is_packable();
    is_packed || item.wire_type() == field.kind.wire_type()
}

/// How far before the end of an item its value begins.
fn length_behind(item: Item<'_>) -> u64 {
    match item {
        Item::Bytes(bytes) | Item::Group(bytes) => bytes.len() as u64,
        Item::Varint(_) | Item::Fixed64(_) | Item::Fixed32(_) => 0,
    }
}

/// The fault of a string that should be UTF-8.
pub(super) fn check_utf8(field: &Field, part: Part<'_>) -> Result<(), Fault> {
    if field.kind != Kind::String || !field.checks_utf8 {
        return Ok(());
    }
    std::str::from_utf8(part.bytes)
        .map(|_| ())
        .map_err(|error| Fault::new(part.offset + error.valid_up_to() as u64, FaultKind::Utf8))
}
