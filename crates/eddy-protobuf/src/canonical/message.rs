//! Canonical form of messages, field by field.

use super::collect::{Collected, MessageFragment, Occurrence};
use crate::fault::{ProtobufError, ProtobufErrorKind, ProtobufResult};
use crate::limits::ProtobufLimits;
use crate::schema::{FieldDescriptor, Label, MessageId, Schema, Special};
use crate::wire::{self, close_length, open_length, write_tag};

/// Purpose of the canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Wire,
    Json,
}

/// Writes messages in canonical form.
pub(super) struct CanonicalWriter<'s> {
    pub(super) schema: &'s Schema,
    limits: &'s ProtobufLimits,
    purpose: Purpose,
    /// Depth of the present message; 1 for the outermost one.
    pub(super) depth: u32,
    pub(super) out: &'s mut Vec<u8>,
}

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
    CanonicalWriter { schema, limits, purpose: Purpose::Wire, depth: 1, out }.whole(message, bytes)
}

/// As [`canonical`], but for JSON: without unknown fields, and with the values of `Any` in canonical form.
pub(crate) fn canonical_for_json(
    schema: &Schema,
    message: MessageId,
    bytes: &[u8],
    limits: &ProtobufLimits,
    out: &mut Vec<u8>,
) -> ProtobufResult {
    CanonicalWriter { schema, limits, purpose: Purpose::Json, depth: 1, out }.whole(message, bytes)
}

impl CanonicalWriter<'_> {
    fn whole(&mut self, message: MessageId, bytes: &[u8]) -> ProtobufResult {
        if bytes.len() > self.limits.message_bytes_max {
            return Err(ProtobufError::new(0, ProtobufErrorKind::MessageTooLarge));
        }
        self.message(message, &[MessageFragment { bytes, offset: 0 }])
    }

    pub(super) fn message(&mut self, id: MessageId, parts: &[MessageFragment<'_>]) -> ProtobufResult {
        let first = parts.first().map_or(0, |part| part.offset);
        if self.depth > self.limits.depth_max {
            return Err(ProtobufError::new(first, ProtobufErrorKind::DepthExceeded));
        }
        let message = self.schema.message(id);
        let collected = Collected::of(self.schema, message, parts, self.depth_left())?;
        for (index, value) in &collected.replaced {
            if let Some(field) = message.field(*index) {
                self.check(|writer| writer.value(field, value))?;
            }
        }
        message.check_required(id, first, |index| collected.fields.contains_key(&index))?;
        for (index, values) in &collected.fields {
            let Some(field) = message.field(*index) else { continue };
            let is_of_any = self.purpose == Purpose::Json && message.special == Special::Any;
            let written = match field.label {
                Label::Map => self.map(field, values),
                Label::Repeated if field.is_packed => self.packed(field, values),
                Label::Repeated => self.repeated(field, values),
                // A fault in its value names the field of the inner message.
                Label::Singular if is_of_any => {
                    self.any_field(field, &collected, values)?;
                    continue;
                }
                Label::Singular => self.singular(field, values),
            };
            written.map_err(|fault| ProtobufError { field: fault.field.or(Some((id, *index))), ..fault })?;
        }
        if self.purpose == Purpose::Wire {
            self.out.extend_from_slice(&collected.unknown);
        }
        Ok(())
    }

    /// Writes a field of an `Any`, whose value is put into canonical form as a message of its type.
    fn any_field(
        &mut self,
        field: &FieldDescriptor,
        collected: &Collected<'_>,
        values: &[Occurrence<'_>],
    ) -> ProtobufResult {
        values.iter().try_for_each(|value| value.check_utf8(field))?;
        let Some(part) = values.last().and_then(Occurrence::part) else { return Ok(()) };
        let url = collected.fields.get(&0).and_then(|urls| urls.last()).and_then(Occurrence::part);
        let known = url.and_then(|url| self.schema.find_by_url(url.bytes)).filter(|_| field.number == 2);
        self.delimited(field.number, |writer| match known {
            Some(known) => writer.deeper(1, |writer| writer.message(known, &[part])),
            None => {
                writer.out.extend_from_slice(part.bytes);
                Ok(())
            }
        })
    }

    /// Writes a length-delimited value with its tag.
    pub(super) fn delimited(
        &mut self,
        number: u32,
        write: impl FnOnce(&mut Self) -> ProtobufResult,
    ) -> ProtobufResult {
        write_tag(self.out, number, wire::LENGTH);
        let start = open_length(self.out);
        write(self)?;
        close_length(self.out, start);
        Ok(())
    }

    /// Writes something that is so many levels deeper than the present message.
    pub(super) fn deeper(
        &mut self,
        levels: u32,
        write: impl FnOnce(&mut Self) -> ProtobufResult,
    ) -> ProtobufResult {
        self.depth += levels;
        write(self)?;
        self.depth -= levels;
        Ok(())
    }

    /// Checks something that is not part of the canonical form, and must be valid all the same.
    pub(super) fn check(&mut self, write: impl FnOnce(&mut Self) -> ProtobufResult) -> ProtobufResult {
        let start = self.out.len();
        write(self)?;
        self.out.truncate(start);
        Ok(())
    }

    /// Returns how much deeper than the present message another one may be.
    pub(super) fn depth_left(&self) -> u32 {
        self.limits.depth_max.saturating_sub(self.depth)
    }
}
