//! Values found by a walk.

use super::node::{ValueSlot, WalkProgram};
use super::rule::integer;
use super::store::{Cell, IN_MESSAGE, SlotStore};
use crate::schema::FieldType;

/// Value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldValue<'v> {
    /// A signed integer.
    Signed(i64),
    /// An unsigned integer.
    Unsigned(u64),
    /// A `double` or `float`.
    Number(f64),
    /// A `bool`.
    Bool(bool),
    /// The number of an enum.
    Enum(i32),
    /// A string; UTF-8 if the schema or a rule requires it.
    Text(&'v [u8]),
    /// Bytes.
    Bytes(&'v [u8]),
    /// The last occurrence of a message, not merged with others.
    Message(&'v [u8]),
}

impl<'v> FieldValue<'v> {
    /// Returns the string, if it is one and UTF-8.
    pub fn text(self) -> Option<&'v str> {
        match self {
            Self::Text(text) => std::str::from_utf8(text).ok(),
            _ => None,
        }
    }
}

/// Position of a value in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueSpan {
    /// Offset in the message.
    pub offset: u64,
    /// Length in bytes, without tag and length prefix.
    pub length: u32,
}

/// Values that a walk has found in a message.
#[derive(Clone, Copy, Debug)]
pub struct Values<'v> {
    pub(super) program: &'v WalkProgram,
    pub(super) store: &'v SlotStore,
    /// The message, if it was passed as a whole.
    pub(super) message: &'v [u8],
}

impl<'v> Values<'v> {
    /// Returns the value of a slot; for a repeated field, the last one.
    // Measured: without inlining, which returns the value through memory, it takes 4 ns more.
    #[inline(always)]
    pub fn get(&self, slot: ValueSlot) -> Option<FieldValue<'v>> {
        self.store.cells(slot).last().map(|cell| self.value(self.kind(slot), cell))
    }

    /// Returns all values of a slot in order; at most one for a field that is not repeated.
    #[inline]
    pub fn all(
        &self,
        slot: ValueSlot,
    ) -> impl DoubleEndedIterator<Item = FieldValue<'v>> + ExactSizeIterator {
        let (values, kind) = (*self, self.kind(slot));
        self.store.cells(slot).iter().map(move |cell| values.value(kind, cell))
    }

    /// Returns the positions of the values of a slot.
    pub fn spans(&self, slot: ValueSlot) -> impl Iterator<Item = ValueSpan> {
        self.store.cells(slot).iter().map(|cell| ValueSpan { offset: cell.offset, length: cell.length })
    }

    fn kind(&self, slot: ValueSlot) -> FieldType {
        self.program.slots.get(usize::from(slot.0)).map_or(FieldType::Bytes, |slot| slot.kind)
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "32 bits on the wire are the low half of a varint")]
    fn value(&self, kind: FieldType, cell: &Cell) -> FieldValue<'v> {
        match kind {
            FieldType::String => FieldValue::Text(self.bytes(cell)),
            FieldType::Bytes => FieldValue::Bytes(self.bytes(cell)),
            FieldType::Message(_) | FieldType::Group(_) => FieldValue::Message(self.bytes(cell)),
            FieldType::Double => FieldValue::Number(f64::from_bits(cell.raw)),
            FieldType::Float => FieldValue::Number(f64::from(f32::from_bits(cell.raw as u32))),
            FieldType::Bool => FieldValue::Bool(cell.raw != 0),
            FieldType::Enum(_) => FieldValue::Enum(cell.raw as i32),
            FieldType::Uint32 | FieldType::Fixed32 => FieldValue::Unsigned(u64::from(cell.raw as u32)),
            FieldType::Uint64 | FieldType::Fixed64 => FieldValue::Unsigned(cell.raw),
            _ => FieldValue::Signed(integer(kind, cell.raw) as i64),
        }
    }

    fn bytes(&self, cell: &Cell) -> &'v [u8] {
        let (from, start) = match cell.raw {
            IN_MESSAGE => (self.message, cell.offset),
            start => (self.store.held(), start),
        };
        let start = usize::try_from(start).expect("an offset in a message in memory");
        &from[start..start + cell.length as usize]
    }
}
