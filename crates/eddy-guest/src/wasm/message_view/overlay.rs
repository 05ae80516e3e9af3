//! Copy-on-write header fields.

use eddy_http::{Field, Fields, FieldsEditor};

/// Copy of fields, made on the first change.
#[derive(Debug, Default)]
pub(super) struct Overlay {
    is_used: bool,
    bytes: Vec<u8>,
    fields: Vec<Field>,
}

impl Overlay {
    /// Returns the fields with their changes; `before` if there are none.
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

    /// Returns an editor of the copy.
    pub(super) fn edit(&mut self) -> FieldsEditor<'_> {
        FieldsEditor::new(&mut self.bytes, &mut self.fields)
    }

    pub(super) fn clear(&mut self) {
        self.is_used = false;
    }
}
