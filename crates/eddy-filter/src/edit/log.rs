//! The log of changes as filters write it.

use super::record::{EditError, EditRecord, EditRecordIter, FilterEdit, HEADER_BYTES, padded};

/// The changes of one crossing, as records in the layout of `eddy_edit`.
///
/// Used again by the next crossing; grows to what filters write, at most [`EDITS_BYTES_MAX`].
#[derive(Debug, Default)]
pub struct EditLog {
    bytes: Vec<u8>,
    /// The allocation holds zeros from here on; [`UNKNOWN`] where something else may have written to it.
    zeroed_from: usize,
}

impl EditLog {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all records, and memory beyond what a head needs.
    pub fn clear(&mut self) {
        if self.bytes.capacity() > KEPT_BYTES_MAX {
            self.zeroed_from = UNKNOWN;
        }
        self.truncate(0);
        self.bytes.shrink_to(KEPT_BYTES_MAX);
    }

    /// Forgets the records behind the first `len` bytes.
    pub fn truncate(&mut self, len: usize) {
        if self.zeroed_from == self.bytes.len()
            && let Some(forgotten) = self.bytes.get_mut(len..)
        {
            forgotten.fill(0);
            self.zeroed_from = len;
        }
        self.bytes.truncate(len);
    }

    /// The records with zeroed room for at least `least` bytes behind them, for a library that writes records itself; where
    /// there is less, room for `more` bytes is made. [`EditLog::note_written`] says when the library has written.
    ///
    /// # Cost
    /// None while only such libraries write: what [`EditLog::clear`] and [`EditLog::truncate`] forget they zero.
    pub fn with_zeroed_room(&mut self, least: usize, more: usize) -> &mut Vec<u8> {
        let len = self.bytes.len();
        if self.bytes.capacity() - len < least {
            self.bytes.reserve(more);
            self.zeroed_from = UNKNOWN;
        }
        if self.zeroed_from > len {
            let capacity = self.bytes.capacity();
            self.bytes.resize(capacity, 0);
            self.bytes.truncate(len);
            self.zeroed_from = len;
        }
        &mut self.bytes
    }

    /// Notes that a library has written records into the room that [`EditLog::with_zeroed_room`] gave, and nothing behind them.
    pub fn note_written(&mut self) {
        self.zeroed_from = self.bytes.len();
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// How many bytes the records take.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes of the records; for libraries that write them elsewhere than through [`EditLog::push`].
    pub fn bytes_mut(&mut self) -> &mut Vec<u8> {
        self.zeroed_from = UNKNOWN;
        &mut self.bytes
    }

    /// Adds what another log holds.
    ///
    /// # Errors
    /// [`EditError::TooLarge`] when both together are too large; nothing is then added.
    pub fn append(&mut self, records: &[u8]) -> Result<(), EditError> {
        if self.bytes.len() + records.len() > EDITS_BYTES_MAX {
            return Err(EditError::TooLarge);
        }
        self.bytes_mut().extend_from_slice(records);
        Ok(())
    }

    /// Adds a change made by the filter with this index among the steps.
    ///
    /// # Errors
    /// [`EditError::TooLarge`]; nothing is then added.
    pub fn push(&mut self, step: u16, edit: &FilterEdit<'_>) -> Result<(), EditError> {
        let parts = edit.parts();
        let size = padded(HEADER_BYTES + parts.name_len() + parts.value.len());
        if self.bytes.len() + size > EDITS_BYTES_MAX {
            return Err(EditError::TooLarge);
        }
        let end = self.bytes.len() + size;
        self.zeroed_from = UNKNOWN;
        self.bytes.reserve(size);
        parts.write(step, &mut self.bytes);
        self.bytes.resize(end, 0);
        Ok(())
    }

    /// The records, each checked for its form only.
    pub fn records(&self) -> impl Iterator<Item = Result<EditRecord<'_>, EditError>> {
        EditRecordIter::new(&self.bytes)
    }
}

/// Most bytes of the changes of one crossing.
pub const EDITS_BYTES_MAX: usize = 16 * 1024 * 1024;

const KEPT_BYTES_MAX: usize = 16 * 1024;
/// No offset of an allocation.
const UNKNOWN: usize = usize::MAX;
