//! Descriptors decoded from the set, borrowed, with only the fields that the tables need.

use crate::fault::{ProtobufError, ProtobufResult};
use crate::schema::SchemaError;
use crate::wire::{Items, WireValue};

/// A descriptor that is decoded field by field.
pub(super) trait Raw<'d>: Default {
    /// Stores a field.
    fn set(&mut self, number: u32, item: WireValue<'d>) -> ProtobufResult;

    /// Decodes it from its bytes.
    fn read(bytes: &'d [u8]) -> ProtobufResult<Self> {
        let mut items = Items::new(bytes, DEPTH_MAX);
        let mut raw = Self::default();
        while let Some((number, item)) = items.next()? {
            raw.set(number, item)?;
        }
        Ok(raw)
    }
}

#[derive(Default)]
pub(super) struct RawFile<'d> {
    pub(super) name: &'d str,
    pub(super) package: &'d str,
    pub(super) messages: Vec<RawMessage<'d>>,
    pub(super) enums: Vec<RawEnum<'d>>,
    pub(super) services: Vec<RawService<'d>>,
    pub(super) extensions: Vec<RawField<'d>>,
    pub(super) options: &'d [u8],
    pub(super) syntax: &'d str,
    pub(super) edition: u64,
}

impl<'d> Raw<'d> for RawFile<'d> {
    fn set(&mut self, number: u32, item: WireValue<'d>) -> ProtobufResult {
        match (number, item) {
            (1, WireValue::Bytes(name)) => self.name = text(name)?,
            (2, WireValue::Bytes(package)) => self.package = text(package)?,
            (4, WireValue::Bytes(message)) => self.messages.push(RawMessage::read(message)?),
            (5, WireValue::Bytes(enumeration)) => self.enums.push(RawEnum::read(enumeration)?),
            (6, WireValue::Bytes(service)) => self.services.push(RawService::read(service)?),
            (7, WireValue::Bytes(field)) => self.extensions.push(RawField::read(field)?),
            (8, WireValue::Bytes(options)) => self.options = options,
            (12, WireValue::Bytes(syntax)) => self.syntax = text(syntax)?,
            (14, WireValue::Varint(edition)) => self.edition = edition,
            _ => {}
        }
        Ok(())
    }
}

#[derive(Default)]
pub(super) struct RawMessage<'d> {
    pub(super) name: &'d str,
    pub(super) fields: Vec<RawField<'d>>,
    pub(super) nested: Vec<Self>,
    pub(super) enums: Vec<RawEnum<'d>>,
    pub(super) extensions: Vec<RawField<'d>>,
    pub(super) oneofs: Vec<RawOneof<'d>>,
    pub(super) options: &'d [u8],
}

impl<'d> Raw<'d> for RawMessage<'d> {
    fn set(&mut self, number: u32, item: WireValue<'d>) -> ProtobufResult {
        match (number, item) {
            (1, WireValue::Bytes(name)) => self.name = text(name)?,
            (2, WireValue::Bytes(field)) => self.fields.push(RawField::read(field)?),
            (3, WireValue::Bytes(message)) => self.nested.push(Self::read(message)?),
            (4, WireValue::Bytes(enumeration)) => self.enums.push(RawEnum::read(enumeration)?),
            (6, WireValue::Bytes(field)) => self.extensions.push(RawField::read(field)?),
            (7, WireValue::Bytes(options)) => self.options = options,
            (8, WireValue::Bytes(oneof)) => self.oneofs.push(RawOneof::read(oneof)?),
            _ => {}
        }
        Ok(())
    }
}

#[derive(Default)]
pub(super) struct RawOneof<'d> {
    pub(super) name: &'d str,
}

impl<'d> Raw<'d> for RawOneof<'d> {
    fn set(&mut self, number: u32, item: WireValue<'d>) -> ProtobufResult {
        if let (1, WireValue::Bytes(name)) = (number, item) {
            self.name = text(name)?;
        }
        Ok(())
    }
}

#[derive(Default)]
pub(super) struct RawField<'d> {
    pub(super) name: &'d str,
    pub(super) extendee: &'d str,
    pub(super) number: u64,
    pub(super) label: u64,
    pub(super) kind: u64,
    pub(super) type_name: &'d str,
    pub(super) default: Option<&'d str>,
    pub(super) options: &'d [u8],
    pub(super) oneof: Option<u64>,
    pub(super) json_name: Option<&'d str>,
    pub(super) is_optional: bool,
}

impl<'d> Raw<'d> for RawField<'d> {
    fn set(&mut self, number: u32, item: WireValue<'d>) -> ProtobufResult {
        match (number, item) {
            (1, WireValue::Bytes(name)) => self.name = text(name)?,
            (2, WireValue::Bytes(extendee)) => self.extendee = text(extendee)?,
            (3, WireValue::Varint(number)) => self.number = number,
            (4, WireValue::Varint(label)) => self.label = label,
            (5, WireValue::Varint(kind)) => self.kind = kind,
            (6, WireValue::Bytes(name)) => self.type_name = text(name)?,
            (7, WireValue::Bytes(default)) => self.default = Some(text(default)?),
            (8, WireValue::Bytes(options)) => self.options = options,
            (9, WireValue::Varint(oneof)) => self.oneof = Some(oneof),
            (10, WireValue::Bytes(name)) => self.json_name = Some(text(name)?),
            (17, WireValue::Varint(is_optional)) => self.is_optional = is_optional != 0,
            _ => {}
        }
        Ok(())
    }
}

#[derive(Default)]
pub(super) struct RawEnum<'d> {
    pub(super) name: &'d str,
    pub(super) values: Vec<(&'d str, i32)>,
    pub(super) options: &'d [u8],
}

impl<'d> Raw<'d> for RawEnum<'d> {
    fn set(&mut self, number: u32, item: WireValue<'d>) -> ProtobufResult {
        match (number, item) {
            (1, WireValue::Bytes(name)) => self.name = text(name)?,
            (2, WireValue::Bytes(value)) => {
                let RawValue { name, number } = RawValue::read(value)?;
                self.values.push((name, number));
            }
            (3, WireValue::Bytes(options)) => self.options = options,
            _ => {}
        }
        Ok(())
    }
}

#[derive(Default)]
struct RawValue<'d> {
    name: &'d str,
    number: i32,
}

impl<'d> Raw<'d> for RawValue<'d> {
    #[expect(clippy::cast_possible_truncation, reason = "an int32 on the wire is the low half of a varint")]
    fn set(&mut self, number: u32, item: WireValue<'d>) -> ProtobufResult {
        match (number, item) {
            (1, WireValue::Bytes(name)) => self.name = text(name)?,
            (2, WireValue::Varint(number)) => self.number = number as i32,
            _ => {}
        }
        Ok(())
    }
}

#[derive(Default)]
pub(super) struct RawService<'d> {
    pub(super) name: &'d str,
    pub(super) methods: Vec<RawMethod<'d>>,
}

impl<'d> Raw<'d> for RawService<'d> {
    fn set(&mut self, number: u32, item: WireValue<'d>) -> ProtobufResult {
        match (number, item) {
            (1, WireValue::Bytes(name)) => self.name = text(name)?,
            (2, WireValue::Bytes(method)) => self.methods.push(RawMethod::read(method)?),
            _ => {}
        }
        Ok(())
    }
}

#[derive(Default)]
pub(super) struct RawMethod<'d> {
    pub(super) name: &'d str,
    pub(super) input: &'d str,
    pub(super) output: &'d str,
    pub(super) options: &'d [u8],
    pub(super) is_client_streaming: bool,
    pub(super) is_server_streaming: bool,
}

impl<'d> Raw<'d> for RawMethod<'d> {
    fn set(&mut self, number: u32, item: WireValue<'d>) -> ProtobufResult {
        match (number, item) {
            (1, WireValue::Bytes(name)) => self.name = text(name)?,
            (2, WireValue::Bytes(input)) => self.input = text(input)?,
            (3, WireValue::Bytes(output)) => self.output = text(output)?,
            (4, WireValue::Bytes(options)) => self.options = options,
            (5, WireValue::Varint(streams)) => self.is_client_streaming = streams != 0,
            (6, WireValue::Varint(streams)) => self.is_server_streaming = streams != 0,
            _ => {}
        }
        Ok(())
    }
}

fn text(bytes: &[u8]) -> ProtobufResult<&str> {
    std::str::from_utf8(bytes).map_err(|_| ProtobufError::new(0, crate::ProtobufErrorKind::Utf8))
}

/// Maximum nesting of messages in a descriptor.
const DEPTH_MAX: u32 = 100;

pub(super) fn malformed(fault: ProtobufError) -> SchemaError {
    SchemaError::Malformed { fault }
}
