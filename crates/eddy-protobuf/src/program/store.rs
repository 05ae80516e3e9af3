//! Storage of the values found by a walk.

use super::node::{SlotKind, ValueSelection, ValueSlot, WalkProgram};
use crate::fault::ProtobufErrorKind;
use crate::limits::ProtobufLimits;

/// A value, or its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    /// A number as on the wire; for a string, bytes or message, the offset in the held bytes, or [`IN_MESSAGE`].
    pub(super) raw: u64,
    pub(super) offset: u64,
    pub(super) length: u32,
    /// The walk that it belongs to, for the only cell of a slot.
    walk: u32,
}

impl Cell {
    /// Creates a cell for a number.
    #[inline]
    pub(super) fn number(raw: u64, offset: u64) -> Self {
        Self { raw, offset, length: 0, walk: 0 }
    }

    /// Creates a cell for bytes of the message.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "lengths have 31 bits")]
    pub(super) fn bytes(offset: u64, length: usize) -> Self {
        Self { raw: IN_MESSAGE, offset, length: length as u32, walk: 0 }
    }
}

/// The bytes of a value are in the message, at its offset.
pub(super) const IN_MESSAGE: u64 = u64::MAX;

/// Cells of a slot that can have several.
#[derive(Clone, Debug, Default)]
struct SlotCells {
    cells: Vec<Cell>,
    /// Index of the first cell of the current element.
    element: usize,
}

/// Values of all slots; its memory is reused.
#[derive(Debug)]
pub(super) struct SlotStore {
    /// The cell of each single-valued slot; valid if it belongs to this walk.
    single: Vec<Cell>,
    /// Cells of the other slots; empty if there are no others.
    several: Vec<SlotCells>,
    /// Whether each slot has strings, bytes or messages.
    has_bytes: Box<[bool]>,
    walk: u32,
    held: Vec<u8>,
}

impl SlotStore {
    /// Creates a store for the slots of a program.
    pub(super) fn new(program: &WalkProgram) -> Self {
        let is_repeated = |slot: &SlotKind| slot.is_repeated;
        let several = if program.slots.iter().any(is_repeated) { program.slots.len() } else { 0 };
        Self {
            single: vec![Cell::number(0, 0); program.slots.len()],
            several: vec![SlotCells::default(); several],
            has_bytes: program.slots.iter().map(|slot| !slot.kind.is_packable()).collect(),
            walk: 1,
            held: Vec::new(),
        }
    }

    /// Clears all values.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.walk = self.walk.wrapping_add(1);
        if self.walk == 0 {
            self.single.fill(Cell::number(0, 0));
            self.walk = 1;
        }
        for slot in &mut self.several {
            slot.cells.clear();
            slot.element = 0;
        }
        self.held.clear();
    }

    #[inline]
    pub(super) fn cells(&self, slot: ValueSlot) -> &[Cell] {
        let place = usize::from(slot.0);
        match self.single.get(place) {
            Some(cell) if cell.walk == self.walk => std::slice::from_ref(cell),
            _ => self.several.get(place).map_or(&[], |slot| &slot.cells),
        }
    }

    pub(super) fn held(&self) -> &[u8] {
        &self.held
    }

    /// Stores a value in a slot, after the others or in their place.
    #[inline]
    pub(super) fn put(
        &mut self,
        slot: ValueSlot,
        cell: Cell,
        holds: ValueSelection,
        limits: &ProtobufLimits,
    ) -> Result<(), ProtobufErrorKind> {
        if holds == ValueSelection::Last {
            if let Some(last) = self.single.get_mut(usize::from(slot.0)) {
                *last = Cell { walk: self.walk, ..cell };
            }
            return Ok(());
        }
        self.put_several(slot, cell, holds, limits)
    }

    fn put_several(
        &mut self,
        slot: ValueSlot,
        cell: Cell,
        holds: ValueSelection,
        limits: &ProtobufLimits,
    ) -> Result<(), ProtobufErrorKind> {
        let Some(slot) = self.several.get_mut(usize::from(slot.0)) else { return Ok(()) };
        if holds == ValueSelection::LastPerElement
            && slot.cells.len() > slot.element
            && let Some(last) = slot.cells.last_mut()
        {
            *last = cell;
            return Ok(());
        }
        if slot.cells.len() >= limits.items_max {
            return Err(ProtobufErrorKind::TooManyItems);
        }
        slot.cells.push(cell);
        Ok(())
    }

    /// Clears the values of the current element.
    pub(super) fn forget(&mut self, slots: &[ValueSlot]) {
        for slot in slots {
            let place = usize::from(slot.0);
            if let Some(cell) = self.single.get_mut(place) {
                cell.walk = 0;
            }
            if let Some(slot) = self.several.get_mut(place) {
                slot.cells.truncate(slot.element);
            }
        }
    }

    /// Begins an element of a repeated message.
    pub(super) fn begin(&mut self, slots: &[ValueSlot]) {
        for slot in slots {
            if let Some(slot) = self.several.get_mut(usize::from(slot.0)) {
                slot.element = slot.cells.len();
            }
        }
    }

    /// Copies values that are only in `window`, which begins at `base`.
    pub(super) fn hold_window(
        &mut self,
        window: &[u8],
        base: u64,
        limits: &ProtobufLimits,
    ) -> Result<(), ProtobufErrorKind> {
        let Self { single, several, has_bytes, walk, held } = self;
        let mut window = ExpiringWindow { bytes: window, base, held, bytes_max: limits.held_bytes_max };
        for (cell, has_bytes) in single.iter_mut().zip(has_bytes.iter()) {
            if *has_bytes && cell.walk == *walk {
                window.keep(cell)?;
            }
        }
        for (slot, _) in several.iter_mut().zip(has_bytes.iter()).filter(|(_, has_bytes)| **has_bytes) {
            let mut cells = slot.cells.iter_mut().rev();
            // Earlier values were copied before.
            while let Some(cell) = cells.next()
                && window.keep(cell)?
            {}
        }
        Ok(())
    }
}

/// Bytes that are about to expire, and the buffer to which requested values are copied.
struct ExpiringWindow<'w> {
    bytes: &'w [u8],
    base: u64,
    held: &'w mut Vec<u8>,
    bytes_max: usize,
}

impl ExpiringWindow<'_> {
    /// Copies the bytes of a cell; returns whether they are in this window.
    #[inline]
    fn keep(&mut self, cell: &mut Cell) -> Result<bool, ProtobufErrorKind> {
        if cell.raw != IN_MESSAGE {
            return Ok(false);
        }
        let Some(start) = cell.offset.checked_sub(self.base) else { return Ok(false) };
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        let bytes = self.bytes.get(start..).and_then(|window| window.get(..cell.length as usize));
        let bytes = bytes.unwrap_or_default();
        if self.held.len() + bytes.len() > self.bytes_max {
            return Err(ProtobufErrorKind::HeldTooLarge);
        }
        cell.raw = self.held.len() as u64;
        self.held.extend_from_slice(bytes);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walk_numbers_wrap_around() {
        let mut store = SlotStore {
            single: vec![Cell::number(0, 0)],
            several: Vec::new(),
            has_bytes: [false].into(),
            walk: 1,
            held: Vec::new(),
        };
        let slot = ValueSlot(0);
        store.put(slot, Cell::number(7, 0), ValueSelection::Last, &ProtobufLimits::default()).unwrap();
        assert_eq!(store.cells(slot).len(), 1);
        store.walk = u32::MAX;
        assert!(store.cells(slot).is_empty());
        store.clear();
        assert!(store.cells(slot).is_empty(), "what the first walk found is none of the one with its number");
    }
}
