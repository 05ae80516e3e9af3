//! Passage of messages through a filter chain, without I/O: which filters are entered next, and what is passed on.
//!
//! A [`FilterRun`] belongs to an exchange and has a [`MessageRun`] for each direction. Its owner asks
//! [`MessageRun::poll`] what to do, does it, and reports the result:
//!
//! | [`RunOutput`] | the owner |
//! |---|---|
//! | `Enter(call)` | enters the filters of the call, applies their edits, reports [`MessageRun::passed`], [`MessageRun::stopped`] or [`MessageRun::pause`] |
//! | `Waiting(pause)` | waits until the filter resumes or a deadline passes, then calls [`MessageRun::resume`] and `stopped`; or [`MessageRun::send`] if the filter sends data and stays paused |
//! | `Read` | reads a piece of the body and calls [`MessageRun::push_piece`] or [`MessageRun::push_last`] |
//! | `Head` | writes the head and calls [`MessageRun::seal`] |
//! | `Message` | writes head, body and trailers and calls `seal` |
//! | `Piece`, `LastPiece` | writes the piece (and the end of the body), then calls [`MessageRun::taken`] |
//! | `Body` | writes the whole body and its end, once for each time that the head is written |
//! | `End` | writes the end of the message, if it has not done so |
//! | `TooLarge(step)` | fails the message: the step has buffered more than its limit |
//!
//! # States
//!
//! A message is in one [`HeadState`] and one [`BodyState`]. Steps are numbered in the order in which the message passes
//! them (`at` is the next one, `n` their number). Steps that buffer body data are on a stack of holds; the outermost is
//! the farthest one, and data moves up to the innermost.
//!
//! | head | body | holds | next |
//! |---|---|---|---|
//! | `Passing{at}` | `Ended`, `Awaited`, or waiting at or before `at` (`Piece` or `Whole`) | none | enter head hooks from `at`; then `Passed` |
//! | `Held` | `Awaited` | the outermost holds the head | read |
//! | `Held` | `Passing` | likewise | enter body hooks up to the innermost hold |
//! | `Held` | `AtHold` | likewise | add the piece to the buffer; read, or show the whole body to the innermost hold |
//! | `Passed` | `Ended`, `Awaited`, `Passing{Piece}` | none | write the head: `Sent` |
//! | `Passed` | `Passing{Whole}`, then `Trailers`, then `Passed` | none | enter the hooks; then write the whole message |
//! | `Sent`, `Streaming` | `Awaited`, `Passing`, `AtHold` | those of filters that buffer the rest of the body | as with `Held`; without a hold, write the piece: `Streaming` |
//! | `Sent`, `Streaming` | `Trailers`, then `Passed` | none | enter trailer hooks, then write the last piece or the whole body |
//! | any of these | | | a filter that pauses holds up the message where it is |
//!
//! [`BodyPart`] tells what moves: a piece with more to come, the last piece, or the whole of what a filter has buffered.
//! It is the body of the message as a whole unless pieces have been written before.

mod call;
mod exchange;
mod invariants;
mod message;
mod state;

pub use call::{PhaseCall, StepOrder};
pub use exchange::{FailureOutcome, FilterRun};
pub use message::{IncomingBody, MessageRun, RunOutput, StepResult};
pub use state::{BodyPart, BodyState, FilterPause, HeadState};
