//! The answer to a call of a module, kept while it is told.

use eddy_filter::FilterEvent;
use eddy_http::{Field, Fields};

/// The answer to a call.
#[derive(Debug, Default)]
pub(crate) struct CallAnswer {
    /// Its status; 0 where there is no answer.
    pub(crate) status: u16,
    bytes: Vec<u8>,
    fields: Vec<Field>,
    /// Its body, or a word that tells why there is none.
    pub(crate) body: Vec<u8>,
}

impl CallAnswer {
    pub(crate) fn of(event: &FilterEvent<'_>) -> Self {
        Self {
            status: event.status,
            bytes: event.fields.bytes().to_vec(),
            fields: event.fields.places().to_vec(),
            body: event.body.to_vec(),
        }
    }

    /// How many fields modules see.
    pub(crate) fn count(&self) -> usize {
        if self.status == 0 { 0 } else { self.fields.len() + 1 }
    }

    /// How many bytes of a body modules see.
    pub(crate) fn body_len(&self) -> usize {
        if self.status == 0 { 0 } else { self.body.len() }
    }

    pub(super) fn fields(&self) -> Fields<'_> {
        Fields::new(&self.bytes, &self.fields)
    }

    pub(super) fn visit(&self, visit: &mut dyn FnMut(&[u8], &[u8])) {
        if self.status == 0 {
            return;
        }
        visit(b":status", self.status.to_string().as_bytes());
        for field in self.fields().iter() {
            visit(&field.name.to_ascii_lowercase(), field.value);
        }
    }
}
