//! Map entries: one per key, the last one received.

use std::collections::HashMap;

use super::collect::{MessageFragment, Occurrence, is_known, is_of};
use super::message::CanonicalWriter;
use super::values::{narrowed, write_scalar};
use crate::fault::ProtobufResult;
use crate::schema::FieldDescriptor;
use crate::wire::{self, Items, WireValue, write_tag};

/// Key and values of an entry.
struct CanonicalMapEntry<'m> {
    key: Option<WireValue<'m>>,
    values: Vec<Occurrence<'m>>,
}

impl CanonicalWriter<'_> {
    pub(super) fn map(&mut self, field: &FieldDescriptor, values: &[Occurrence<'_>]) -> ProtobufResult {
        let Some(id) = field.kind.message() else { return Ok(()) };
        let message = self.schema.message(id);
        let (Some((_, key_field)), Some((_, value_field))) = (message.by_number(1), message.by_number(2))
        else {
            return Ok(());
        };
        let mut entries: Vec<CanonicalMapEntry<'_>> = Vec::new();
        let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
        for part in values.iter().filter_map(Occurrence::part) {
            let Some(entry) = self.entry(key_field, value_field, part)? else { continue };
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
                    self.check(|writer| writer.entry_value(value_field, &place.values))?;
                    *place = entry;
                }
                None => {
                    places.insert(key, entries.len());
                    entries.push(entry);
                }
            }
        }
        entries.iter().try_for_each(|entry| {
            self.delimited(field.number, |writer| {
                write_tag(writer.out, 1, key_field.kind.wire_type());
                write_scalar(key_field.kind, entry.key.unwrap_or_else(|| zero(key_field)), writer.out);
                writer.entry_value(value_field, &entry.values)
            })
        })
    }

    /// Parses an entry; returns `None` if its value is unknown in a closed enum.
    fn entry<'m>(
        &self,
        key_field: &FieldDescriptor,
        value_field: &FieldDescriptor,
        part: MessageFragment<'m>,
    ) -> ProtobufResult<Option<CanonicalMapEntry<'m>>> {
        let mut entry = CanonicalMapEntry { key: None, values: Vec::new() };
        let mut items = Items::at(part.bytes, part.offset, self.depth_left());
        while let Some((number, item)) = items.next()? {
            let occurrence = Occurrence::ending_at(items.offset(), item);
            match number {
                1 if is_of(key_field, item) => {
                    occurrence.check_utf8(key_field)?;
                    entry.key = Some(match item {
                        WireValue::Varint(value) => WireValue::Varint(narrowed(key_field.kind, value)),
                        other => other,
                    });
                }
                2 if is_of(value_field, item) => {
                    occurrence.check_utf8(value_field)?;
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

    fn entry_value(&mut self, field: &FieldDescriptor, values: &[Occurrence<'_>]) -> ProtobufResult {
        if field.kind.message().is_some() {
            let parts: Vec<MessageFragment<'_>> = values.iter().filter_map(Occurrence::part).collect();
            return self.nested(field, &parts);
        }
        write_tag(self.out, 2, field.kind.wire_type());
        write_scalar(field.kind, values.last().map_or_else(|| zero(field), |last| last.item), self.out);
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
