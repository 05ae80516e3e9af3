//! Response to a call of a module, kept while it is delivered.

use eddy_filter::FilterEvent;
use eddy_http::{Field, Fields};

/// Response to a call.
#[derive(Debug, Default)]
pub(crate) struct CallAnswer {
    /// Status code; 0 if there is no response.
    pub(crate) status: u16,
    bytes: Vec<u8>,
    fields: Vec<Field>,
    /// Response body, or a word with the reason why there is no response.
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

    /// Returns the number of headers that modules see.
    pub(crate) fn count(&self) -> usize {
        if self.status == 0 { 0 } else { self.fields.len() + 1 }
    }

    /// Returns the number of body bytes that modules see.
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
