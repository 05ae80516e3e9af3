//! Canonical form of messages, field by field.

use super::state::{Canonical, MessageFragment, Purpose};
use crate::fault::{ProtobufError, ProtobufErrorKind, ProtobufResult};
use crate::limits::ProtobufLimits;
use crate::schema::{FieldDescriptor, Label, MessageDescriptor, MessageId, Schema, Special};
use crate::wire::{self, close_length, open_length, write_tag};

use super::collect::{Collected, Occurrence, check_utf8};

/// Appends `bytes`, a `message`, in the form that a serializer would write. Unknown fields are kept, at the end.
///
/// # Errors
/// [`crate::ProtobufError`] if the bytes are not a valid message of that type.
/// # Cost
/// Allocates; a walk does not.
pub fn canonical(
    schema: &Schema,
    message: MessageId,
    bytes: &[u8],
    limits: &ProtobufLimits,
    out: &mut Vec<u8>,
) -> ProtobufResult {
    Canonical { schema, limits, purpose: Purpose::Wire }.whole(message, bytes, out)
}

/// As [`canonical`], but for JSON: without unknown fields, and with the values of `Any` in canonical form.
pub(crate) fn canonical_for_json(
    schema: &Schema,
    message: MessageId,
    bytes: &[u8],
    limits: &ProtobufLimits,
    out: &mut Vec<u8>,
) -> ProtobufResult {
    Canonical { schema, limits, purpose: Purpose::Json }.whole(message, bytes, out)
}

impl Canonical<'_> {
    fn whole(&self, message: MessageId, bytes: &[u8], out: &mut Vec<u8>) -> ProtobufResult {
        if bytes.len() > self.limits.message_bytes_max {
            return Err(ProtobufError::new(0, ProtobufErrorKind::MessageTooLarge));
        }
        self.message(message, &[MessageFragment { bytes, offset: 0 }], out, 1)
    }

    pub(super) fn message(
        &self,
        id: MessageId,
        parts: &[MessageFragment<'_>],
        out: &mut Vec<u8>,
        depth: u32,
    ) -> ProtobufResult {
        let first = parts.first().map_or(0, |part| part.offset);
        if depth > self.limits.depth_max {
            return Err(ProtobufError::new(first, ProtobufErrorKind::DepthExceeded));
        }
        let message = self.schema.message(id);
        let collected = Collected::of(self, message, parts, depth)?;
        for (index, occurrence) in &collected.replaced {
            if let Some(field) = message.field(*index) {
                self.value(field, occurrence, &mut Vec::new(), depth)?;
            }
        }
        self.check_required(id, message, &collected, first)?;
        for (index, occurrences) in &collected.fields {
            let Some(field) = message.field(*index) else { continue };
            let at_field =
                |fault: ProtobufError| ProtobufError { field: fault.field.or(Some((id, *index))), ..fault };
            match field.label {
                Label::Map => self.map(field, occurrences, out, depth).map_err(at_field)?,
                Label::Repeated if field.is_packed => {
                    self.packed(field, occurrences, out).map_err(at_field)?;
                }
                Label::Repeated => {
                    self.repeated(field, occurrences, out, depth).map_err(at_field)?;
                }
                Label::Singular if self.purpose == Purpose::Json && message.special == Special::Any => {
                    self.any_field(field, &collected, occurrences, out, depth)?;
                }
                Label::Singular => self.singular(field, occurrences, out, depth).map_err(at_field)?,
            }
        }
        if self.purpose == Purpose::Wire {
            out.extend_from_slice(&collected.unknown);
        }
        Ok(())
    }

    fn check_required(
        &self,
        id: MessageId,
        message: &MessageDescriptor,
        collected: &Collected<'_>,
        offset: u64,
    ) -> ProtobufResult {
        if !message.has_required {
            return Ok(());
        }
        let is_missing = |(index, field): &(u16, &FieldDescriptor)| {
            field.is_required && !collected.fields.contains_key(index)
        };
        match (0..).zip(message.fields()).find(is_missing) {
            Some((index, _)) => Err(ProtobufError {
                offset,
                kind: ProtobufErrorKind::RequiredMissing,
                field: Some((id, index)),
            }),
            None => Ok(()),
        }
    }

    /// Writes a field of an `Any`, whose value is put into canonical form as a message of its type.
    fn any_field(
        &self,
        field: &FieldDescriptor,
        collected: &Collected<'_>,
        occurrences: &[Occurrence<'_>],
        out: &mut Vec<u8>,
        depth: u32,
    ) -> ProtobufResult {
        occurrences.iter().filter_map(Occurrence::part).try_for_each(|part| check_utf8(field, part))?;
        let number = field.number;
        let Some(part) = occurrences.last().and_then(Occurrence::part) else { return Ok(()) };
        let url = collected.fields.get(&0).and_then(|urls| urls.last()).and_then(Occurrence::part);
        let known = url.and_then(|url| self.schema.find_by_url(url.bytes)).filter(|_| number == 2);
        write_tag(out, number, wire::LENGTH);
        let start = open_length(out);
        match known {
            Some(known) => self.message(known, &[part], out, depth + 1)?,
            None => out.extend_from_slice(part.bytes),
        }
        close_length(out, start);
        Ok(())
    }
}
