//! Parsing of object keys.

use super::frame::JsonReadRole;
use super::parser::{Expect, JsonParser};
use super::scalar::parse;
use super::token::JsonString;
use crate::fault::{ProtobufError, ProtobufErrorKind, ProtobufResult};
use crate::json::keys::KeyProblem;
use crate::json::{Duplicates, Unknown};
use crate::schema::{FieldDescriptor, FieldType, MessageDescriptor, Schema};
use crate::wire::{LENGTH, open_length, write_bytes, write_tag};

impl JsonParser {
    /// Parses the expected key with its colon, if it is next: most writers keep the order of the declaration, and
    /// leave out a few unset fields.
    #[inline]
    pub(super) fn expected_key(&mut self, schema: &Schema, rest: &[u8]) -> ProtobufResult<Option<usize>> {
        if self.top.role != JsonReadRole::Message {
            return Ok(None);
        }
        let message = schema.message(self.top.message);
        for index in self.top.guess..self.top.guess.saturating_add(GUESSES) {
            let Some(field) = message.field(index) else { return Ok(None) };
            // The key of an object is preceded by a comma.
            let key = &field.json_key[1..];
            if rest.starts_with(key) {
                return self.member(message, index).map(|()| Some(key.len()));
            }
        }
        Ok(None)
    }

    /// Handles the key of a member, whose encoded form is `bytes`; its colon was read if `has_colon`.
    #[inline]
    pub(super) fn key(
        &mut self,
        schema: &Schema,
        key: JsonString<'_>,
        bytes: &[u8],
        has_colon: bool,
    ) -> ProtobufResult {
        match self.top.role {
            JsonReadRole::Message => {
                let message = schema.message(self.top.message);
                self.with_text(key, |parser, key| parser.name(message, key))
            }
            JsonReadRole::AnyHead => {
                self.with_text(key, |parser, name| parser.any_key(name, bytes, has_colon))
            }
            JsonReadRole::AnySpecial => self.with_text(key, |parser, name| parser.any_special_key(name)),
            JsonReadRole::Map => self.with_text(key, |parser, name| parser.map_key(schema, name)),
            _ => self.with_text(key, |_, _| Ok(())),
        }
    }

    fn name(&mut self, message: &MessageDescriptor, name: &[u8]) -> ProtobufResult {
        match message.by_name(name) {
            Some((index, _)) => self.member(message, index),
            None if name == b"@type" && self.top.is_of_any => Err(self.fault(ProtobufErrorKind::JsonAnyType)),
            None => self.unknown_member(),
        }
    }

    /// Rejects or skips an unknown member.
    pub(super) fn unknown_member(&mut self) -> ProtobufResult {
        if self.options.unknown == Unknown::Refuse {
            return Err(ProtobufError { field: None, ..self.fault(ProtobufErrorKind::JsonFieldUnknown) });
        }
        self.top.field = NO_FIELD;
        Ok(())
    }

    /// Selects the field of the next value.
    #[inline]
    fn member(&mut self, message: &MessageDescriptor, index: u16) -> ProtobufResult {
        self.top.field = index;
        self.top.guess = index + 1;
        if !self.note(usize::from(index)) && self.options.duplicates == Duplicates::Refuse {
            return Err(self.fault(ProtobufErrorKind::JsonDuplicate));
        }
        debug_assert!(message.field(index).is_some(), "fields have their index");
        Ok(())
    }

    /// Records that a oneof is set.
    #[inline]
    pub(super) fn note_oneof(
        &mut self,
        message: &MessageDescriptor,
        field: &FieldDescriptor,
    ) -> ProtobufResult {
        let Some(oneof) = field.oneof else { return Ok(()) };
        if !self.note(message.fields.len() + usize::from(oneof))
            && self.options.duplicates == Duplicates::Refuse
        {
            return Err(self.fault(ProtobufErrorKind::JsonOneof));
        }
        Ok(())
    }

    /// Sets a bit; returns `false` if it was set already.
    #[inline]
    fn note(&mut self, bit: usize) -> bool {
        let mask = 1 << (bit % 64);
        match self.seen.get_mut(self.top.seen_index + bit / 64) {
            Some(word) if *word & mask == 0 => {
                *word |= mask;
                true
            }
            _ => false,
        }
    }

    #[inline]
    pub(super) fn is_noted(&self, bit: u16) -> bool {
        let bit = usize::from(bit);
        self.seen.get(self.top.seen_index + bit / 64).is_some_and(|word| word & 1 << (bit % 64) != 0)
    }

    /// Begins an entry with the key of a map.
    fn map_key(&mut self, schema: &Schema, key: &[u8]) -> ProtobufResult {
        let map = schema.message(self.top.message).field(self.top.field);
        let entry = map.and_then(|field| Some((field.number, field.kind.message()?)));
        let Some((number, id)) = entry else { return Err(self.fault(ProtobufErrorKind::JsonType)) };
        let kind = schema.message(id).by_number(1).map_or(FieldType::String, |(_, field)| field.kind);
        self.top.entry = self.out.len();
        write_tag(&mut self.out, number, LENGTH);
        let start = open_length(&mut self.out);
        self.top.entry_length = start;
        write_tag(&mut self.out, 1, kind.wire_type());
        match kind {
            FieldType::String => write_bytes(&mut self.out, key),
            _ => self.scalar_key(kind, key)?,
        }
        let written = self.out.get(start..).unwrap_or_default();
        match self.keys.insert(self.top.map, written, self.limits.items_max) {
            Err(KeyProblem::Duplicate) if self.options.duplicates == Duplicates::Refuse => {
                Err(self.fault(ProtobufErrorKind::JsonDuplicate))
            }
            Err(KeyProblem::TooMany) => Err(self.fault(ProtobufErrorKind::TooManyItems)),
            Ok(()) | Err(KeyProblem::Duplicate) => Ok(()),
        }
    }

    fn scalar_key(&mut self, kind: FieldType, key: &[u8]) -> ProtobufResult {
        let value = match kind {
            FieldType::Bool => match key {
                b"true" => Ok(1),
                b"false" => Ok(0),
                _ => Err(ProtobufErrorKind::JsonType),
            },
            _ => parse(kind, key),
        };
        let value = value.map_err(|kind| self.fault(kind))?;
        self.write_number(kind, value);
        Ok(())
    }

    /// Discards the current entry, because its value is unknown.
    pub(super) fn drop_entry(&mut self) {
        self.out.truncate(self.top.entry);
        self.top.entry_length = 0;
    }

    pub(super) fn expect_end_of_any(&mut self) {
        self.expect = Expect::Captured;
    }
}

/// Number of fields that are compared with the next key.
const GUESSES: u16 = 2;
/// The value belongs to no field.
pub(super) const NO_FIELD: u16 = u16::MAX;
