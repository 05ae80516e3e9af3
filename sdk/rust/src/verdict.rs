//! What a filter says of a phase.

use crate::reply::Reply;

/// What a filter says of a phase.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub enum Verdict {
    /// Go on.
    Continue,
    /// Collect the whole body, enter the body hook with it, then go on with head and body.
    ///
    /// At the end of a message, where nothing is left to collect, the same as `Continue`.
    Buffer,
    /// Answer at once; no further filter is entered.
    Reply(Reply),
    /// Wait at this filter until its [`crate::Paused`] is resumed; [`crate::Exchange::pause`] makes both.
    Pause(PauseToken),
    /// End the exchange without an answer, or without the rest of it.
    Reset,
}

/// The proof that somebody has the means to go on.
#[derive(Debug)]
pub struct PauseToken(pub(crate) ());

impl From<Reply> for Verdict {
    fn from(reply: Reply) -> Self {
        Self::Reply(reply)
    }
}
