//! Rules that hold between the parts of a message's state.

use super::message::MessageRun;
use super::state::{BodyPart, BodyState, HeadState, HoldMode};

impl MessageRun {
    /// Checks that the parts of the state agree.
    ///
    /// # Errors
    /// The rule that does not hold.
    pub fn check_invariants(&self) -> Result<(), &'static str> {
        self.check_holds()?;
        self.check_head()?;
        self.check_body()
    }

    fn check_holds(&self) -> Result<(), &'static str> {
        let pairs = || self.holds.iter().zip(self.holds.iter().skip(1));
        let (first, last) = (self.holds.first(), self.holds.last());
        check(&[
            (pairs().all(|(outer, inner)| inner.by < outer.by), "inner holds are at earlier steps"),
            (pairs().all(|(outer, inner)| outer.start <= inner.start), "buffers are in order"),
            (first.is_none_or(|first| first.start == 0), "the outermost buffer is the first"),
            (last.is_none_or(|last| last.start <= self.held.len()), "a buffer begins within the bytes"),
            (first.is_some() || self.held.is_empty(), "only a hold buffers"),
            (
                pairs().all(|(outer, _)| outer.mode != HoldMode::WholeBody),
                "the whole body is shown to the innermost hold",
            ),
            (pairs().all(|(_, inner)| inner.mode != HoldMode::Pieces), "only the outermost hold sees pieces"),
        ])
    }

    fn check_head(&self) -> Result<(), &'static str> {
        let is_held = self.head == HeadState::Held;
        let is_before =
            matches!(self.head, HeadState::Absent | HeadState::Passing { .. } | HeadState::Passed);
        let outermost = self.holds.first();
        let sees_pieces = outermost.is_some_and(|hold| hold.mode == HoldMode::Pieces);
        let is_beyond = matches!(self.head, HeadState::Passing { at } if at > self.travel.end());
        check(&[
            (!is_held || outermost.is_some(), "a step holds the head"),
            (!is_before || outermost.is_none(), "no step holds data before the head has passed it"),
            (is_held || !sees_pieces, "a step that sees pieces holds the head"),
            (!is_beyond, "the head is in the chain"),
        ])
    }

    fn check_body(&self) -> Result<(), &'static str> {
        let innermost = self.holds.last();
        let is_written = matches!(self.head, HeadState::Sent | HeadState::Streaming);
        let is_whole_shown = innermost.is_some_and(|hold| hold.mode == HoldMode::WholeBody);
        match self.body {
            BodyState::Ended | BodyState::Awaited => check(&[
                (self.data.is_empty(), "no data passes before it is read or behind the end"),
                (!is_whole_shown, "a whole body that is shown passes the chain"),
                (self.body == BodyState::Awaited || innermost.is_none(), "nothing is held behind the end"),
            ]),
            BodyState::Passing { at, part } => {
                let is_ahead = matches!(self.head, HeadState::Passing { at: head } if at > head);
                let waits = innermost.is_none() && !is_written;
                check(&[
                    (at <= self.gate(), "data stops at the innermost hold"),
                    // A body that a step gives to the message begins behind this step, which the head has not left.
                    (!is_ahead || part == BodyPart::Whole, "pieces do not overtake the head"),
                    (!is_whole_shown || part == BodyPart::Whole, "a complete buffer is shown as a whole"),
                    (!waits || part != BodyPart::Last, "a last piece waits for the head as the whole body"),
                ])
            }
            BodyState::ReachedHold { .. } => {
                check(&[(innermost.is_some(), "data that is held has a holder")])
            }
            BodyState::Trailers { part, .. } | BodyState::Passed { part } => {
                let can_be_written = is_written || self.head == HeadState::Passed && part == BodyPart::Whole;
                check(&[
                    (innermost.is_none(), "data that has passed is not held"),
                    (can_be_written, "a last piece has passed behind a head that is written"),
                    (part != BodyPart::Piece, "a body that has passed is complete"),
                ])
            }
        }
    }
}

fn check(rules: &[(bool, &'static str)]) -> Result<(), &'static str> {
    rules.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, name)| Err(*name))
}
