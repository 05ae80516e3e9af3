//! Response to a call of a module, kept while it is delivered.

use eddy_filter::{FilterEvent, KeptFields};

/// Response to a call.
#[derive(Debug, Default)]
pub(crate) struct CallAnswer {
    /// Status code; 0 if there is no response.
    pub(crate) status: u16,
    /// Response headers.
    pub(super) head: KeptFields,
    /// Response body, or a word with the reason why there is no response.
    pub(crate) body: Vec<u8>,
}

impl CallAnswer {
    pub(crate) fn of(event: &FilterEvent<'_>) -> Self {
        Self { status: event.status, head: KeptFields::of(event.fields), body: event.body.to_vec() }
    }

    /// Returns the number of headers that modules see.
    pub(crate) fn count(&self) -> usize {
        if self.status == 0 { 0 } else { self.head.fields.len() + 1 }
    }

    /// Returns the number of body bytes that modules see.
    pub(crate) fn body_len(&self) -> usize {
        if self.status == 0 { 0 } else { self.body.len() }
    }

    pub(super) fn visit(&self, visit: &mut dyn FnMut(&[u8], &[u8])) {
        if self.status == 0 {
            return;
        }
        visit(b":status", self.status.to_string().as_bytes());
        for field in self.head.fields().iter() {
            visit(&field.name.to_ascii_lowercase(), field.value);
        }
    }
}
