//! Paused messages of streams.

use eddy_filter::{Direction, Verdict};
use proxy_wasm_host::ContextId;

use super::{Embedding, PausedMessage};
use crate::failure::GuestFailure;

impl Embedding {
    /// Resumes the messages for which the module has decided, after its callback.
    pub(crate) fn go_on(&mut self) {
        let host = &self.common.host;
        self.waiting.retain_mut(|waiting| {
            let Some(verdict) = waiting.decision else { return true };
            // This fails if the exchange has ended or its pause has timed out; nothing remains to be done then.
            let _ =
                host.resume(waiting.exchange, waiting.turn, verdict, waiting.message_view.edits.bytes_mut());
            false
        });
    }

    /// Fails all paused messages, because the VM has failed.
    pub(crate) fn give_up(&mut self, failure: &GuestFailure) {
        for waiting in &mut self.waiting {
            waiting.message_view.edits.clear();
            // A log that was just cleared has room.
            let _ = waiting.message_view.edits.push(waiting.message_view.step, &failure.edit());
            waiting.decision = Some(Verdict::Fault);
        }
        self.go_on();
    }

    /// Removes the state of a stream.
    pub(crate) fn forget(&mut self, stream: ContextId) {
        self.waiting.retain(|waiting| waiting.stream != stream);
        self.properties.remove(&stream);
    }

    /// Sets the verdict of a stream's paused messages.
    pub(super) fn decide(&mut self, stream: ContextId, direction: Option<Direction>, verdict: Verdict) {
        let is_meant = |waiting: &&mut PausedMessage| {
            waiting.stream == stream && direction.is_none_or(|direction| direction == waiting.direction)
        };
        for waiting in self.waiting.iter_mut().filter(is_meant) {
            waiting.decision.get_or_insert(verdict);
        }
    }
}
