//! Streams that wait for their module.

use eddy_filter::{Direction, Handle, Verdict};
use proxy_wasm_host::ContextId;

use super::Embedding;
use crate::failure::GuestFailure;
use crate::wasm::message_view::MessageView;

/// A message of a stream that waits until the module goes on with it.
pub(crate) struct PausedMessage {
    pub(crate) stream: ContextId,
    pub(crate) direction: Direction,
    pub(crate) exchange: Handle,
    pub(crate) turn: u32,
    pub(crate) message_view: MessageView,
    /// How it goes on, once that is said.
    pub(crate) decision: Option<Verdict>,
}

impl Embedding {
    /// Goes on with the messages of which the module has said how, now that its callback is over.
    pub(crate) fn go_on(&mut self) {
        let host = &self.common.host;
        self.waiting.retain_mut(|waiting| {
            let Some(verdict) = waiting.decision else { return true };
            // An exchange that is over, or was not willing to wait so long, needs it no more.
            let _ =
                host.resume(waiting.exchange, waiting.turn, verdict, waiting.message_view.edits.bytes_mut());
            false
        });
    }

    /// Fails all that wait, because the machine is dead.
    pub(crate) fn give_up(&mut self, failure: &GuestFailure) {
        for waiting in &mut self.waiting {
            waiting.message_view.edits.clear();
            // A log that was just cleared has room.
            let _ = waiting.message_view.edits.push(waiting.message_view.step, &failure.edit());
            waiting.decision = Some(Verdict::Fault);
        }
        self.go_on();
    }

    /// Forgets a stream.
    pub(crate) fn forget(&mut self, stream: ContextId) {
        self.waiting.retain(|waiting| waiting.stream != stream);
        self.properties.remove(&stream);
    }

    /// Says how the messages of a stream go on that wait; whether there was one.
    pub(super) fn decide(
        &mut self,
        stream: ContextId,
        direction: Option<Direction>,
        verdict: Verdict,
    ) -> bool {
        let is_meant = |waiting: &&mut PausedMessage| {
            waiting.stream == stream && direction.is_none_or(|direction| direction == waiting.direction)
        };
        let mut is_any = false;
        for waiting in self.waiting.iter_mut().filter(is_meant) {
            waiting.decision.get_or_insert(verdict);
            is_any = true;
        }
        is_any
    }
}
