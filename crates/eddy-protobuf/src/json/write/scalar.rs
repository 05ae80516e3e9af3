//! Conversion of scalars to JSON.

use super::machine::JsonWriter;
use crate::json::EnumForm;
use crate::json::text::{write_double, write_float, write_signed, write_unsigned};
use crate::schema::{FieldType, Schema};
use crate::wire::unzigzag;

impl JsonWriter {
    /// Writes a number, `bool` or enum.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "32 bits on the wire are the low half of a varint")]
    pub(super) fn write_scalar(&mut self, schema: &Schema, kind: FieldType, value: u64) {
        let out = &mut self.out;
        match kind {
            FieldType::Int64 | FieldType::Sfixed64 => {
                quoted(out, |out| write_signed(out, value.cast_signed()))
            }
            FieldType::Uint64 | FieldType::Fixed64 => quoted(out, |out| write_unsigned(out, value)),
            FieldType::Sint64 => quoted(out, |out| write_signed(out, unzigzag(value))),
            FieldType::Int32 | FieldType::Sfixed32 => write_signed(out, i64::from(value as i32)),
            FieldType::Uint32 | FieldType::Fixed32 => write_unsigned(out, u64::from(value as u32)),
            FieldType::Sint32 => write_signed(out, unzigzag(u64::from(value as u32))),
            FieldType::Bool => out.extend_from_slice(if value == 0 { b"false" } else { b"true" }),
            FieldType::Double => write_double(out, f64::from_bits(value)),
            FieldType::Float => write_float(out, f32::from_bits(value as u32)),
            FieldType::Enum(id) => {
                let enumeration = schema.enumeration(id);
                let name =
                    enumeration.name_of(value as i32).filter(|_| self.options.enums == EnumForm::Names);
                match name {
                    _ if enumeration.is_null => out.extend_from_slice(b"null"),
                    Some(name) => quoted(out, |out| out.extend_from_slice(name.as_bytes())),
                    None => write_signed(out, i64::from(value as i32)),
                }
            }
            FieldType::String | FieldType::Bytes | FieldType::Message(_) | FieldType::Group(_) => {}
        }
    }

    /// Writes the default of a type other than a message.
    pub(super) fn write_default(&mut self, schema: &Schema, kind: FieldType) {
        match kind {
            FieldType::String | FieldType::Bytes => self.out.extend_from_slice(b"\"\""),
            FieldType::Enum(id) => {
                let first = schema.enumeration(id).values.first().map_or(0, |(_, number)| *number);
                self.write_scalar(schema, kind, i64::from(first).cast_unsigned());
            }
            _ => self.write_scalar(schema, kind, 0),
        }
    }

    /// Writes a scalar as a map key.
    pub(super) fn write_key(&mut self, schema: &Schema, kind: FieldType, value: u64) {
        match kind {
            // Only the default of a string is written by this function.
            FieldType::String => self.out.extend_from_slice(b"\"\""),
            FieldType::Int64
            | FieldType::Sfixed64
            | FieldType::Uint64
            | FieldType::Fixed64
            | FieldType::Sint64 => self.write_scalar(schema, kind, value),
            _ => {
                self.out.push(b'"');
                self.write_scalar(schema, kind, value);
                self.out.push(b'"');
            }
        }
    }
}

/// Whether a scalar is the default.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "32 bits on the wire are the low half of a varint")]
pub(super) fn is_zero(kind: FieldType, value: u64) -> bool {
    match kind {
        FieldType::Int32 | FieldType::Uint32 | FieldType::Sint32 | FieldType::Enum(_) => value as u32 == 0,
        _ => value == 0,
    }
}

fn quoted(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'"');
    write(out);
    out.push(b'"');
}
