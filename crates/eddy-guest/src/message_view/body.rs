//! Access of modules to bodies.

use std::ops::Range;

use eddy_filter::{FilterEdit, Phase};
use proxy_wasm_host::abi::{HostResult, Status};

use super::MessageView;

impl MessageView {
    /// Returns the piece of the body, or the whole of it, in this phase.
    ///
    /// # Errors
    /// [`Status::NotFound`] in another phase.
    pub(crate) fn body(&self, phase: Phase) -> HostResult<&[u8]> {
        let view = self.view().filter(|view| view.phase == phase).ok_or(Status::NotFound)?;
        Ok(if self.has_body { &self.body } else { view.body })
    }

    /// Returns the complete body as received; `None` if it is passed in pieces, or if the module has changed it.
    pub(crate) fn whole_body(&self) -> Option<&[u8]> {
        let view = self.view().filter(|_| self.is_body_whole && !self.has_body)?;
        Some(view.body)
    }

    /// Replaces a range of the body.
    ///
    /// # Errors
    /// [`Status::NotFound`] in another phase, [`Status::InternalFailure`] if the edits are too large.
    pub(crate) fn replace_body(&mut self, phase: Phase, range: Range<usize>, bytes: &[u8]) -> HostResult {
        let len = self.body(phase)?.len();
        if range.start > range.end || range.end > len {
            return Err(Status::BadArgument);
        }
        match (range.start, range.end) {
            (0, end) if end == len => self.push(&FilterEdit::BodySet(bytes))?,
            (start, _) if start == len => self.push(&FilterEdit::BodyAppend(bytes))?,
            (0, end) => {
                if end > 0 {
                    self.push(&FilterEdit::BodyDrain(u32::try_from(end).map_err(|_| Status::BadArgument)?))?;
                }
                if !bytes.is_empty() {
                    self.push(&FilterEdit::BodyPrepend(bytes))?;
                }
            }
            // The log has no edit for a range in the middle.
            _ => {
                self.begin_body(phase)?.splice(range, bytes.iter().copied());
                let body = std::mem::take(&mut self.body);
                let pushed = self.push(&FilterEdit::BodySet(&body));
                self.body = body;
                return pushed;
            }
        }
        self.begin_body(phase)?.splice(range, bytes.iter().copied());
        Ok(())
    }

    /// Returns the copy of the body to which changes are applied.
    pub(super) fn begin_body(&mut self, phase: Phase) -> HostResult<&mut Vec<u8>> {
        if !self.has_body {
            let mut body = std::mem::take(&mut self.body);
            body.clear();
            body.extend_from_slice(self.body(phase)?);
            self.body = body;
            self.has_body = true;
        }
        Ok(&mut self.body)
    }
}
