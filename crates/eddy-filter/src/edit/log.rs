//! The log of changes as filters write it.

use super::record::{Edit, EditError, EditRecord, HEADER_BYTES, Records, padded};

/// The changes of one crossing, as records in the layout of `eddy_edit`.
///
/// Used again by the next crossing; grows to what filters write, at most [`EDITS_BYTES_MAX`].
#[derive(Debug, Default)]
pub struct EditLog {
    bytes: Vec<u8>,
}

impl EditLog {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all records, and memory beyond what a head needs.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES_MAX);
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
        self.bytes.extend_from_slice(records);
        Ok(())
    }

    /// Adds a change made by the filter with this index among the steps.
    ///
    /// # Errors
    /// [`EditError::TooLarge`]; nothing is then added.
    pub fn push(&mut self, step: u16, edit: &Edit<'_>) -> Result<(), EditError> {
        let parts = edit.parts();
        let size = padded(HEADER_BYTES + parts.name_len() + parts.value.len());
        if self.bytes.len() + size > EDITS_BYTES_MAX {
            return Err(EditError::TooLarge);
        }
        let end = self.bytes.len() + size;
        self.bytes.reserve(size);
        parts.write(step, &mut self.bytes);
        self.bytes.resize(end, 0);
        Ok(())
    }

    /// The records, each checked for its form only.
    pub fn records(&self) -> impl Iterator<Item = Result<EditRecord<'_>, EditError>> {
        Records::new(&self.bytes)
    }
}

/// Most bytes of the changes of one crossing.
pub const EDITS_BYTES_MAX: usize = 16 * 1024 * 1024;

const KEPT_BYTES_MAX: usize = 16 * 1024;
