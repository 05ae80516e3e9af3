//! Changes of filters before, made once more to what is shown.

use eddy_filter::Phase;
use eddy_filter::{EditLog, EditableSection, FilterEdit, apply_to_body, apply_to_fields};

use super::{MessageSection, MessageView};

impl MessageView {
    /// Shows what the log has changed already.
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
            // What the host will refuse is not shown.
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

    /// What was noted in this crossing under a key; an empty value removes it.
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
