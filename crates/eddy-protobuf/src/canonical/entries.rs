//! Map entries: one per key, the last one received.

use std::collections::HashMap;

use super::collect::{Occurrence, check_utf8, is_known, is_of};
use super::values::{narrowed, write_scalar};
use super::{Canonical, MessageFragment};
use crate::fault::ProtobufResult;
use crate::schema::FieldDescriptor;
use crate::wire::{self, Items, WireValue, close_length, open_length, write_tag};

/// Key and values of an entry.
struct CanonicalMapEntry<'m> {
    key: Option<WireValue<'m>>,
    values: Vec<Occurrence<'m>>,
}

impl Canonical<'_> {
    pub(super) fn map(
        &self,
        field: &FieldDescriptor,
        occurrences: &[Occurrence<'_>],
        out: &mut Vec<u8>,
        depth: u32,
    ) -> ProtobufResult {
        let Some(id) = field.kind.message() else { return Ok(()) };
        let message = self.schema.message(id);
        let (Some((_, key_field)), Some((_, value_field))) = (message.by_number(1), message.by_number(2))
        else {
            return Ok(());
        };
        let mut entries: Vec<CanonicalMapEntry<'_>> = Vec::new();
        let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
        for part in occurrences.iter().filter_map(Occurrence::part) {
            let entry = self.entry(key_field, value_field, part, depth)?;
            let Some(entry) = entry else { continue };
            let mut key = Vec::new();
            if let Some(item) = entry.key {
                write_scalar(key_field.kind, item, &mut key);
            }
            // An absent key has the default: zero, false or empty, encoded as one 0 byte each, or as none.
            if key.iter().all(|byte| *byte == 0) {
                key.clear();
            }
            match places.get(&key).and_then(|place| entries.get_mut(*place)) {
                Some(place) => {
                    // The replaced entry must be valid all the same.
                    self.entry_value(value_field, &place.values, &mut Vec::new(), depth)?;
                    *place = entry;
                }
                None => {
                    places.insert(key, entries.len());
                    entries.push(entry);
                }
            }
        }
        for entry in &entries {
            write_tag(out, field.number, wire::LENGTH);
            let start = open_length(out);
            write_tag(out, 1, key_field.kind.wire_type());
            write_scalar(key_field.kind, entry.key.unwrap_or_else(|| zero(key_field)), out);
            self.entry_value(value_field, &entry.values, out, depth)?;
            close_length(out, start);
        }
        Ok(())
    }

    /// Parses an entry; returns `None` if its value is unknown in a closed enum.
    fn entry<'m>(
        &self,
        key_field: &FieldDescriptor,
        value_field: &FieldDescriptor,
        part: MessageFragment<'m>,
        depth: u32,
    ) -> ProtobufResult<Option<CanonicalMapEntry<'m>>> {
        let mut entry = CanonicalMapEntry { key: None, values: Vec::new() };
        let mut items = Items::at(part.bytes, part.offset, self.limits.depth_max.saturating_sub(depth));
        while let Some((number, item)) = items.next()? {
            let length = match item {
                WireValue::Bytes(bytes) | WireValue::Group(bytes) => bytes.len() as u64,
                WireValue::Varint(_) | WireValue::Fixed64(_) | WireValue::Fixed32(_) => 0,
            };
            let occurrence = Occurrence { item, offset: items.offset() - length };
            match number {
                1 if is_of(key_field, item) => {
                    occurrence.part().map_or(Ok(()), |part| check_utf8(key_field, part))?;
                    entry.key = Some(match item {
                        WireValue::Varint(value) => WireValue::Varint(narrowed(key_field.kind, value)),
                        other => other,
                    });
                }
                2 if is_of(value_field, item) => {
                    occurrence.part().map_or(Ok(()), |part| check_utf8(value_field, part))?;
                    entry.values.push(occurrence);
                }
                _ => {}
            }
        }
        let is_known = match entry.values.last() {
            Some(Occurrence { item: WireValue::Varint(value), .. }) => {
                is_known(self.schema, value_field.kind, *value)
            }
            _ => true,
        };
        Ok(is_known.then_some(entry))
    }

    fn entry_value(
        &self,
        field: &FieldDescriptor,
        values: &[Occurrence<'_>],
        out: &mut Vec<u8>,
        depth: u32,
    ) -> ProtobufResult {
        if field.kind.message().is_some() {
            let parts: Vec<MessageFragment<'_>> = values.iter().filter_map(Occurrence::part).collect();
            return self.nested(field, &parts, out, depth);
        }
        write_tag(out, 2, field.kind.wire_type());
        write_scalar(field.kind, values.last().map_or_else(|| zero(field), |last| last.item), out);
        Ok(())
    }
}

/// Returns the default of a scalar.
fn zero(field: &FieldDescriptor) -> WireValue<'static> {
    match field.kind.wire_type() {
        wire::FIXED64 => WireValue::Fixed64(0),
        wire::FIXED32 => WireValue::Fixed32(0),
        wire::LENGTH => WireValue::Bytes(&[]),
        _ => WireValue::Varint(0),
    }
}
