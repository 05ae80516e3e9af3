//! Edit log, written by filters.

use super::record::{EditError, EditRecord, EditRecordIter, FilterEdit, HEADER_BYTES, padded};

/// Edits of one crossing, as records in the layout of `eddy_edit`.
///
/// The log is reused by the next crossing. It grows with the edits of filters, to at most [`EDITS_BYTES_MAX`].
#[derive(Debug, Default)]
pub struct EditLog {
    bytes: Vec<u8>,
    /// The allocation is zeroed from this offset on; [`UNKNOWN`] if it may have been written to.
    zeroed_from: usize,
}

impl EditLog {
    /// Creates an empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes all records, and frees memory beyond what edits of a head need.
    pub fn clear(&mut self) {
        if self.bytes.capacity() > KEPT_BYTES_MAX {
            // Memory that is freed need not be zeroed.
            self.zeroed_from = UNKNOWN;
            self.bytes.clear();
            self.bytes.shrink_to(KEPT_BYTES_MAX);
        }
        self.truncate(0);
    }

    /// Removes the records after the first `len` bytes.
    pub fn truncate(&mut self, len: usize) {
        if self.zeroed_from == self.bytes.len()
            && let Some(forgotten) = self.bytes.get_mut(len..)
        {
            forgotten.fill(0);
            self.zeroed_from = len;
        }
        self.bytes.truncate(len);
    }

    /// Returns the records with zeroed room for at least `least` bytes after them, for a library that writes records
    /// itself. If there is less, room for `more` bytes is allocated. [`EditLog::note_written`] reports that the library
    /// has written.
    ///
    /// # Cost
    /// None while only such libraries write: [`EditLog::clear`] and [`EditLog::truncate`] zero the bytes they remove.
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

    /// Reports that a library has written records into the room returned by [`EditLog::with_zeroed_room`], and nothing
    /// after them.
    pub fn note_written(&mut self) {
        self.zeroed_from = self.bytes.len();
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the size of the records in bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the bytes of the records, for libraries that do not write through [`EditLog::push`].
    pub fn bytes_mut(&mut self) -> &mut Vec<u8> {
        self.zeroed_from = UNKNOWN;
        &mut self.bytes
    }

    /// Appends the records of another log.
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

    /// Appends an edit of the filter with this index among the steps.
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

    /// Parses the records; only their format is checked.
    pub fn records(&self) -> impl Iterator<Item = Result<EditRecord<'_>, EditError>> {
        EditRecordIter::new(&self.bytes)
    }
}

/// Maximum size in bytes of the edits of one crossing.
pub const EDITS_BYTES_MAX: usize = 16 * 1024 * 1024;

const KEPT_BYTES_MAX: usize = 16 * 1024;
/// Marker that is not an offset of an allocation.
const UNKNOWN: usize = usize::MAX;
