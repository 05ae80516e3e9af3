//! Scalars from JSON tokens.

use super::parser::JsonParser;
use super::token::Token;
use crate::fault::{ProtobufErrorKind, ProtobufResult};
use crate::json::Unknown;
use crate::json::text::{decode_base64, parse_double, parse_float, parse_signed, parse_unsigned};
use crate::schema::{EnumId, FieldDescriptor, FieldType, Schema};
use crate::wire::{
    FIXED32, FIXED64, LENGTH, close_length, open_length, write_bytes, write_tag, write_varint,
};

/// Encoding of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// With its tag.
    Explicit,
    /// With its tag, unless it is the default.
    Implicit,
    /// Without its tag, in a packed list.
    Bare,
}

impl JsonParser {
    /// Writes a scalar; returns whether its value is known.
    #[inline]
    pub(super) fn scalar(
        &mut self,
        schema: &Schema,
        field: &FieldDescriptor,
        presence: Presence,
        token: Token<'_>,
    ) -> ProtobufResult<bool> {
        match (field.kind, token) {
            (FieldType::String, Token::Text(text)) => self.with_text(text, |parser, text| {
                if presence != Presence::Implicit || !text.is_empty() {
                    write_tag(&mut parser.out, field.number, LENGTH);
                    write_bytes(&mut parser.out, text);
                }
                Ok(true)
            }),
            (FieldType::Bytes, Token::Text(text)) => self.with_text(text, |parser, text| {
                if presence != Presence::Implicit || !text.is_empty() {
                    write_tag(&mut parser.out, field.number, LENGTH);
                    let start = open_length(&mut parser.out);
                    decode_base64(&mut parser.out, text)
                        .ok_or_else(|| parser.fault(ProtobufErrorKind::JsonBase64))?;
                    close_length(&mut parser.out, start);
                }
                Ok(true)
            }),
            (FieldType::String | FieldType::Bytes, _) => Err(self.fault(ProtobufErrorKind::JsonType)),
            (kind, token) => {
                let Some(value) = self.number(schema, kind, token)? else { return Ok(false) };
                if presence == Presence::Implicit && value == 0 {
                    return Ok(true);
                }
                if presence != Presence::Bare {
                    write_tag(&mut self.out, field.number, kind.wire_type());
                }
                self.write_number(kind, value);
                Ok(true)
            }
        }
    }

    /// Returns a number, `bool` or enum as 64 bits; `None` for an unknown enum name that is ignored.
    fn number(&mut self, schema: &Schema, kind: FieldType, token: Token<'_>) -> ProtobufResult<Option<u64>> {
        let value = match (kind, token) {
            (FieldType::Bool, Token::True) => 1,
            (FieldType::Bool, Token::False) => 0,
            (FieldType::Bool, _) => return Err(self.fault(ProtobufErrorKind::JsonType)),
            (FieldType::Enum(id), token) => return self.enumeration(schema, id, token),
            (_, Token::Number(number)) => parse(kind, number).map_err(|kind| self.fault(kind))?,
            (_, Token::Text(text)) => self.with_text(text, |parser, text| {
                special_float(kind, text)
                    .map_or_else(|| parse(kind, text), Ok)
                    .map_err(|kind| parser.fault(kind))
            })?,
            _ => return Err(self.fault(ProtobufErrorKind::JsonType)),
        };
        Ok(Some(value))
    }

    fn enumeration(&mut self, schema: &Schema, id: EnumId, token: Token<'_>) -> ProtobufResult<Option<u64>> {
        let enumeration = schema.enumeration(id);
        match token {
            Token::Null if enumeration.is_null => Ok(Some(0)),
            Token::Number(number) => {
                let value = parse_signed(number, i64::from(i32::MIN), i64::from(i32::MAX));
                value.map(|value| Some(value.cast_unsigned())).map_err(|kind| self.fault(kind))
            }
            Token::Text(text) => {
                let number = self.with_text(text, |_, name| Ok(enumeration.number_of(name)))?;
                match number {
                    Some(number) => Ok(Some(i64::from(number).cast_unsigned())),
                    None if self.options.unknown == Unknown::Ignore => Ok(None),
                    None => Err(self.fault(ProtobufErrorKind::JsonEnumUnknown)),
                }
            }
            _ => Err(self.fault(ProtobufErrorKind::JsonType)),
        }
    }

    /// Writes 64 bits in the wire encoding of the type.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "values of 32 bits are within their range")]
    pub(super) fn write_number(&mut self, kind: FieldType, value: u64) {
        let out = &mut self.out;
        match (kind, kind.wire_type()) {
            (_, FIXED64) => out.extend_from_slice(&value.to_le_bytes()),
            (_, FIXED32) => out.extend_from_slice(&(value as u32).to_le_bytes()),
            (FieldType::Sint32 | FieldType::Sint64, _) => {
                let signed = value.cast_signed();
                write_varint(out, (signed << 1 ^ signed >> 63).cast_unsigned());
            }
            _ => write_varint(out, value),
        }
    }

    /// Checks a number that is skipped, which must be valid all the same.
    pub(super) fn check_number(&self, number: &[u8]) -> ProtobufResult {
        match parse_double(number) {
            Ok(_) | Err(ProtobufErrorKind::JsonRange) => Ok(()),
            Err(_) => Err(self.fault(ProtobufErrorKind::JsonSyntax)),
        }
    }
}

/// Parses a number as 64 bits.
#[inline]
pub(super) fn parse(kind: FieldType, text: &[u8]) -> Result<u64, ProtobufErrorKind> {
    match kind {
        FieldType::Int32 | FieldType::Sint32 | FieldType::Sfixed32 => {
            parse_signed(text, i64::from(i32::MIN), i64::from(i32::MAX)).map(i64::cast_unsigned)
        }
        FieldType::Int64 | FieldType::Sint64 | FieldType::Sfixed64 => {
            parse_signed(text, i64::MIN, i64::MAX).map(i64::cast_unsigned)
        }
        FieldType::Uint32 | FieldType::Fixed32 => parse_unsigned(text, u64::from(u32::MAX)),
        FieldType::Double => parse_double(text).map(f64::to_bits),
        FieldType::Float => parse_float(text).map(|value| u64::from(value.to_bits())),
        _ => parse_unsigned(text, u64::MAX),
    }
}

/// Parses floating-point numbers that JSON represents only as strings.
fn special_float(kind: FieldType, text: &[u8]) -> Option<u64> {
    let value = match text {
        b"NaN" => f64::NAN,
        b"Infinity" => f64::INFINITY,
        b"-Infinity" => f64::NEG_INFINITY,
        _ => return None,
    };
    match kind {
        FieldType::Double => Some(value.to_bits()),
        #[expect(clippy::cast_possible_truncation, reason = "these are the same in both")]
        FieldType::Float => Some(u64::from((value as f32).to_bits())),
        _ => None,
    }
}
