//! Changes of filters before, made once more to what is shown.

use eddy_filter::Phase;
use eddy_filter::{Edit, EditLog, Head, apply_to_body, apply_to_fields};

use super::{MessageView, Part};

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
            Phase::RequestHead | Phase::RequestBody => Part::Request,
            Phase::ResponseHead | Phase::ResponseBody => Part::Response,
            Phase::RequestTrailers => Part::RequestTrailers,
            Phase::ResponseTrailers => Part::ResponseTrailers,
            Phase::Log | Phase::End => return,
        };
        for record in edits.records() {
            // What the host will refuse is not shown.
            let Ok(record) = record else { return };
            match record.edit {
                Edit::Set { .. } | Edit::Add { .. } | Edit::Remove { .. } => {
                    if let Ok(overlay) = self.begin(part) {
                        let _ = apply_to_fields(&record.edit, &mut Head::Trailers(overlay.edit()));
                    }
                }
                Edit::Method(_) | Edit::Target(_) | Edit::Authority(_) | Edit::Status(_) => {
                    self.start.replay(&record.edit);
                }
                Edit::BodySet(_) | Edit::BodyAppend(_) | Edit::BodyPrepend(_) | Edit::BodyDrain(_) => {
                    if let Ok(body) = self.begin_body(phase) {
                        let _ = apply_to_body(&record.edit, body);
                    }
                }
                Edit::Reply { .. }
                | Edit::ReplyField { .. }
                | Edit::ReplyGrpc(_)
                | Edit::Metadata { .. }
                | Edit::ClearRoute
                | Edit::Endpoint { .. }
                | Edit::Fault(_)
                | Edit::LimitFault { .. } => {}
            }
        }
    }

    /// What was noted in this crossing under a key; an empty value removes it.
    pub(crate) fn noted(&self, space: &[u8], key: &[u8]) -> Option<Vec<u8>> {
        let noted = self.edits.records().filter_map(|record| {
            let Edit::Metadata { space: its_space, key: its_key, value } = record.ok()?.edit else {
                return None;
            };
            (its_space == space && its_key == key).then(|| value.to_vec())
        });
        noted.last()
    }
}
