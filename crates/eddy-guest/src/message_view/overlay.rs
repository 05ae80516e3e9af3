//! Copy-on-write header fields.

use eddy_filter::KeptFields;
use eddy_http::{Fields, FieldsEditor};

/// Copy of fields, made on the first change.
#[derive(Debug, Default)]
pub(super) struct Overlay {
    is_used: bool,
    copy: KeptFields,
}

impl Overlay {
    /// Returns the fields with their changes; `before` if there are none.
    pub(super) fn over<'a>(&'a self, before: Fields<'a>) -> Fields<'a> {
        if self.is_used { self.copy.fields() } else { before }
    }

    /// Makes a copy, unless there is one.
    pub(super) fn begin(&mut self, before: Fields<'_>) {
        if !self.is_used {
            self.is_used = true;
            self.copy.fill(before);
        }
    }

    /// Whether there is a copy.
    pub(super) fn is_used(&self) -> bool {
        self.is_used
    }

    /// Returns an editor of the copy.
    pub(super) fn edit(&mut self) -> FieldsEditor<'_> {
        FieldsEditor::new(&mut self.copy.bytes, &mut self.copy.fields)
    }

    pub(super) fn clear(&mut self) {
        self.is_used = false;
    }
}
