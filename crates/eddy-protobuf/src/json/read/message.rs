//! Messages with a JSON form that is a string or number.

use super::parser::JsonParser;
use super::scalar::Presence;
use super::token::Token;
use crate::fault::{ProtobufErrorKind, ProtobufResult};
use crate::json::text::{parse_duration, parse_timestamp, read_mask_path};
use crate::schema::{MessageDescriptor, Schema, Special};
use crate::wire::{LENGTH, VARINT, close_length, open_length, write_tag, write_varint};

impl JsonParser {
    /// Writes the fields of a `Timestamp`, `Duration`, `FieldMask` or wrapper.
    pub(super) fn special(
        &mut self,
        schema: &Schema,
        message: &MessageDescriptor,
        token: Token<'_>,
    ) -> ProtobufResult {
        if message.special == Special::Wrapper {
            let Some((_, field)) = message.by_number(1) else { return Ok(()) };
            return self.scalar(schema, field, Presence::Implicit, token).map(|_| ());
        }
        let Token::Text(text) = token else { return Err(self.fault(ProtobufErrorKind::JsonType)) };
        self.with_text(text, |parser, text| match message.special {
            Special::FieldMask => parser.field_mask(text),
            Special::Duration => parser.time(parse_duration(text)),
            _ => parser.time(parse_timestamp(text)),
        })
    }

    fn time(&mut self, parsed: Result<(i64, i32), ProtobufErrorKind>) -> ProtobufResult {
        let (seconds, nanos) = parsed.map_err(|kind| self.fault(kind))?;
        for (number, value) in [(1, seconds), (2, i64::from(nanos))] {
            if value != 0 {
                write_tag(&mut self.out, number, VARINT);
                write_varint(&mut self.out, value.cast_unsigned());
            }
        }
        Ok(())
    }

    fn field_mask(&mut self, text: &[u8]) -> ProtobufResult {
        // White space around the list, as defined by Unicode, is not part of it; the text is UTF-8 here.
        let text = std::str::from_utf8(text).map_or(text, |text| text.trim().as_bytes());
        if text.is_empty() {
            return Ok(());
        }
        for path in text.split(|byte| *byte == b',') {
            write_tag(&mut self.out, 1, LENGTH);
            let start = open_length(&mut self.out);
            read_mask_path(&mut self.out, path)
                .ok_or_else(|| self.fault(ProtobufErrorKind::JsonFieldMask))?;
            close_length(&mut self.out, start);
        }
        Ok(())
    }
}
