//! Application of earlier filters' edits to the view.

use eddy_filter::{EditLog, EditableSection, FilterEdit, Phase, apply_to_body, apply_to_fields};

use super::{MessageSection, MessageView};

impl MessageView {
    /// Applies the edits that are already in the log.
    pub(crate) fn replay(&mut self) {
        if self.edits.is_empty() {
            return;
        }
        let edits = std::mem::take(&mut self.edits);
        self.replay_all(&edits);
        self.edits = edits;
    }

    fn replay_all(&mut self, edits: &EditLog) {
        let Some(phase) = self.phase() else { return };
        let part = match phase {
            Phase::RequestHead | Phase::RequestBody => MessageSection::Request,
            Phase::ResponseHead | Phase::ResponseBody => MessageSection::Response,
            Phase::RequestTrailers => MessageSection::RequestTrailers,
            Phase::ResponseTrailers => MessageSection::ResponseTrailers,
            Phase::Log | Phase::End => return,
        };
        for record in edits.records() {
            // Edits that the host will refuse are not applied.
            let Ok(record) = record else { return };
            match record.edit {
                FilterEdit::Set { .. } | FilterEdit::Add { .. } | FilterEdit::Remove { .. } => {
                    if let Ok(overlay) = self.begin(part) {
                        let _ = apply_to_fields(&record.edit, &mut EditableSection::Trailers(overlay.edit()));
                    }
                }
                FilterEdit::Method(_)
                | FilterEdit::Target(_)
                | FilterEdit::Authority(_)
                | FilterEdit::Status(_) => {
                    self.start.replay(&record.edit);
                }
                FilterEdit::BodySet(_)
                | FilterEdit::BodyAppend(_)
                | FilterEdit::BodyPrepend(_)
                | FilterEdit::BodyDrain(_) => {
                    if let Ok(body) = self.begin_body(phase) {
                        let _ = apply_to_body(&record.edit, body);
                    }
                }
                FilterEdit::Trailer { .. } => self.has_new_trailers = true,
                FilterEdit::Reply { .. }
                | FilterEdit::ReplyField { .. }
                | FilterEdit::ReplyGrpc(_)
                | FilterEdit::Metadata { .. }
                | FilterEdit::ClearRoute
                | FilterEdit::Endpoint { .. }
                | FilterEdit::Fault(_)
                | FilterEdit::LimitFault { .. } => {}
            }
        }
    }

    /// Returns the metadata value set in this crossing for a key; an empty value removes it.
    pub(crate) fn noted(&self, space: &[u8], key: &[u8]) -> Option<Vec<u8>> {
        let noted = self.edits.records().filter_map(|record| {
            let FilterEdit::Metadata { space: its_space, key: its_key, value } = record.ok()?.edit else {
                return None;
            };
            (its_space == space && its_key == key).then(|| value.to_vec())
        });
        noted.last()
    }
}
