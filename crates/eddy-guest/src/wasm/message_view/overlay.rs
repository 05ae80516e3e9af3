//! Fields with changes: a copy that is made with the first one.

use eddy_http::{Field, Fields, FieldsEditor};

/// A copy of fields, if anything was changed.
#[derive(Debug, Default)]
pub(super) struct Overlay {
    is_used: bool,
    bytes: Vec<u8>,
    fields: Vec<Field>,
}

impl Overlay {
    /// The fields with their changes; `before` where there are none.
    pub(super) fn over<'a>(&'a self, before: Fields<'a>) -> Fields<'a> {
        if self.is_used { Fields::new(&self.bytes, &self.fields) } else { before }
    }

    /// Makes a copy, unless there is one.
    pub(super) fn begin(&mut self, before: Fields<'_>) {
        if !self.is_used {
            self.is_used = true;
            self.bytes.clear();
            self.bytes.extend_from_slice(before.bytes());
            self.fields.clear();
            self.fields.extend_from_slice(before.places());
        }
    }

    /// Whether there is a copy.
    pub(super) fn is_used(&self) -> bool {
        self.is_used
    }

    /// Opens the copy for changes.
    pub(super) fn edit(&mut self) -> FieldsEditor<'_> {
        FieldsEditor::new(&mut self.bytes, &mut self.fields)
    }

    pub(super) fn clear(&mut self) {
        self.is_used = false;
    }
}
