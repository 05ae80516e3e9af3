//! Edits of filters: the log they write, its validation, and its application to a message.

mod apply;
mod log;
mod record;

pub use apply::{EditRefused, EditableSection, apply_to_body, apply_to_fields, apply_to_trailers};
pub use log::{EDITS_BYTES_MAX, EditLog};
pub use record::{EditError, EditRecord, FilterEdit, FilterLimit, TrailerChange};

#[cfg(test)]
mod tests;
