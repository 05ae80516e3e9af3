//! Where values are kept while a message is walked.

use super::node::{Program, Slot, SlotKind};
use crate::fault::FaultKind;
use crate::limits::Limits;

/// A value, or where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    /// A number as it is on the wire; of a string, bytes or message, where it begins in what is held, or [`IN_MESSAGE`].
    pub(super) raw: u64,
    pub(super) offset: u64,
    pub(super) length: u32,
}

/// The bytes of a value are in the message, at its offset.
pub(super) const IN_MESSAGE: u64 = u64::MAX;

/// Cells of one slot.
#[derive(Clone, Debug, Default)]
struct Cells {
    cells: Vec<Cell>,
    /// Where the element that is read begins.
    element: usize,
    /// Whether they are of strings, bytes or messages.
    has_bytes: bool,
}

/// Values of all slots; used again without giving its memory back.
#[derive(Debug)]
pub(super) struct Store {
    slots: Vec<Cells>,
    held: Vec<u8>,
}

impl Store {
    /// For the slots of a program.
    pub(super) fn new(program: &Program) -> Self {
        let cells = |slot: &SlotKind| Cells { has_bytes: !slot.kind.is_packable(), ..Cells::default() };
        Self { slots: program.slots.iter().map(cells).collect(), held: Vec::new() }
    }

    /// Forgets all values.
    #[inline]
    pub(super) fn clear(&mut self) {
        for slot in &mut self.slots {
            slot.cells.clear();
            slot.element = 0;
        }
        self.held.clear();
    }

    pub(super) fn cells(&self, slot: Slot) -> &[Cell] {
        self.slots.get(usize::from(slot.0)).map_or(&[], |slot| &slot.cells)
    }

    pub(super) fn held(&self) -> &[u8] {
        &self.held
    }

    /// Puts a value into a slot, after the others or in place of the last of its element.
    #[inline]
    pub(super) fn put(
        &mut self,
        slot: Slot,
        cell: Cell,
        is_appended: bool,
        limits: &Limits,
    ) -> Result<(), FaultKind> {
        let Some(slot) = self.slots.get_mut(usize::from(slot.0)) else { return Ok(()) };
        if !is_appended
            && slot.cells.len() > slot.element
            && let Some(last) = slot.cells.last_mut()
        {
            *last = cell;
            return Ok(());
        }
        if slot.cells.len() >= limits.items_max {
            return Err(FaultKind::TooManyItems);
        }
        slot.cells.push(cell);
        Ok(())
    }

    /// Forgets the values of the element that is read.
    pub(super) fn forget(&mut self, slots: &[Slot]) {
        for slot in slots {
            if let Some(slot) = self.slots.get_mut(usize::from(slot.0)) {
                slot.cells.truncate(slot.element);
            }
        }
    }

    /// Begins an element of a repeated message.
    pub(super) fn begin(&mut self, slots: &[Slot]) {
        for slot in slots {
            if let Some(slot) = self.slots.get_mut(usize::from(slot.0)) {
                slot.element = slot.cells.len();
            }
        }
    }

    /// Keeps what of `window`, which begins at `base`, is still only there.
    pub(super) fn hold_window(&mut self, window: &[u8], base: u64, limits: &Limits) -> Result<(), FaultKind> {
        let Self { slots, held } = self;
        for slot in slots.iter_mut().filter(|slot| slot.has_bytes) {
            // What came before was kept before.
            for cell in slot.cells.iter_mut().rev().take_while(|cell| cell.raw == IN_MESSAGE) {
                let Some(start) = cell.offset.checked_sub(base) else { break };
                let start = usize::try_from(start).unwrap_or(usize::MAX);
                let bytes = window.get(start..).and_then(|window| window.get(..cell.length as usize));
                let bytes = bytes.unwrap_or_default();
                if held.len() + bytes.len() > limits.held_bytes_max {
                    return Err(FaultKind::HeldTooLarge);
                }
                cell.raw = held.len() as u64;
                held.extend_from_slice(bytes);
            }
        }
        Ok(())
    }
}
