//! Verdict of a filter on a phase.

use crate::reply::Reply;

/// Verdict of a filter on a phase.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub enum Verdict {
    /// Continue.
    Continue,
    /// Buffer the whole body, call the body hook with it, then continue with head and body.
    ///
    /// At the end of a message, where there is nothing to buffer, it equals `Continue`.
    Buffer,
    /// Respond at once; no further filter is called.
    Reply(Reply),
    /// Wait at this filter until its [`crate::Paused`] is resumed; [`crate::Exchange::pause`] returns both.
    Pause(PauseToken),
    /// End the exchange without a response, or without the rest of it.
    Reset,
}

/// Proof that a handle to resume the exchange exists.
#[derive(Debug)]
pub struct PauseToken(pub(crate) ());

impl From<Reply> for Verdict {
    fn from(reply: Reply) -> Self {
        Self::Reply(reply)
    }
}
