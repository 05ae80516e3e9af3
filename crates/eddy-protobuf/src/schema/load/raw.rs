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

/// Field of a descriptor.
trait RawSlot<'d> {
    /// Stores an item, unless it has another wire type.
    fn store(&mut self, item: WireValue<'d>) -> ProtobufResult;
}

impl<'d, T: Raw<'d>> RawSlot<'d> for Vec<T> {
    fn store(&mut self, item: WireValue<'d>) -> ProtobufResult {
        if let WireValue::Bytes(bytes) = item {
            self.push(T::read(bytes)?);
        }
        Ok(())
    }
}

/// Implements [`RawSlot`] for types with one value: the wire type, and the value that is stored.
macro_rules! slots {
    ($($slot:ty: $kind:ident($value:ident) => $stored:expr;)*) => {
        $(impl<'d> RawSlot<'d> for $slot {
            fn store(&mut self, item: WireValue<'d>) -> ProtobufResult {
                if let WireValue::$kind($value) = item {
                    *self = $stored;
                }
                Ok(())
            }
        })*
    };
}

slots! {
    &'d str: Bytes(bytes) => text(bytes)?;
    Option<&'d str>: Bytes(bytes) => Some(text(bytes)?);
    &'d [u8]: Bytes(bytes) => bytes;
    u64: Varint(number) => number;
    Option<u64>: Varint(number) => Some(number);
    bool: Varint(number) => number != 0;
    i32: Varint(number) => low_half(number);
}

/// Declares descriptors by the number, name and type of each field.
macro_rules! descriptors {
    ($($name:ident { $($number:literal $field:ident: $slot:ty,)* })*) => {
        $(
            #[derive(Default)]
            pub(super) struct $name<'d> { $(pub(super) $field: $slot,)* }

            impl<'d> Raw<'d> for $name<'d> {
                fn set(&mut self, number: u32, item: WireValue<'d>) -> ProtobufResult {
                    match number {
                        $($number => self.$field.store(item),)*
                        _ => Ok(()),
                    }
                }
            }
        )*
    };
}

descriptors! {
    RawFile {
        1 name: &'d str,
        2 package: &'d str,
        4 messages: Vec<RawMessage<'d>>,
        5 enums: Vec<RawEnum<'d>>,
        6 services: Vec<RawService<'d>>,
        7 extensions: Vec<RawField<'d>>,
        8 options: &'d [u8],
        12 syntax: &'d str,
        14 edition: u64,
    }
    RawMessage {
        1 name: &'d str,
        2 fields: Vec<RawField<'d>>,
        3 nested: Vec<Self>,
        4 enums: Vec<RawEnum<'d>>,
        6 extensions: Vec<RawField<'d>>,
        7 options: &'d [u8],
        8 oneofs: Vec<RawOneof<'d>>,
    }
    RawOneof {
        1 name: &'d str,
    }
    RawField {
        1 name: &'d str,
        2 extendee: &'d str,
        3 number: u64,
        4 label: u64,
        5 kind: u64,
        6 type_name: &'d str,
        8 options: &'d [u8],
        9 oneof: Option<u64>,
        10 json_name: Option<&'d str>,
        17 is_optional: bool,
    }
    RawEnum {
        1 name: &'d str,
        2 values: Vec<RawEnumValue<'d>>,
        3 options: &'d [u8],
    }
    RawEnumValue {
        1 name: &'d str,
        2 number: i32,
    }
    RawService {
        1 name: &'d str,
        2 methods: Vec<RawMethod<'d>>,
    }
    RawMethod {
        1 name: &'d str,
        2 input: &'d str,
        3 output: &'d str,
        4 options: &'d [u8],
        5 is_client_streaming: bool,
        6 is_server_streaming: bool,
    }
}

fn text(bytes: &[u8]) -> ProtobufResult<&str> {
    std::str::from_utf8(bytes).map_err(|_| ProtobufError::new(0, crate::ProtobufErrorKind::Utf8))
}

/// Returns an `int32`, which is the low half of a varint.
#[expect(clippy::cast_possible_truncation, reason = "the low half is what is meant")]
fn low_half(number: u64) -> i32 {
    number as i32
}

/// Maximum nesting of messages in a descriptor.
const DEPTH_MAX: u32 = 100;

pub(super) fn malformed(fault: ProtobufError) -> SchemaError {
    SchemaError::Malformed { fault }
}
