//! States of a message on its way through a chain.

use eddy_ids::WorkerTime;

use crate::phase::Phase;

/// State of a message's head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeadState {
    /// No message has begun.
    #[default]
    Absent,
    /// The head passes the steps from position `at` on.
    Passing {
        /// Next position.
        at: u8,
    },
    /// The head waits behind the step of the outermost hold.
    Held,
    /// The head has passed the chain and can be written.
    Passed,
    /// The head is written.
    Sent,
    /// The head and pieces of the body are written.
    Streaming,
}

/// State of a message's body and trailers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BodyState {
    /// There is no body, or all of it has been taken.
    #[default]
    Ended,
    /// The next piece has not been read.
    Awaited,
    /// Data passes the steps from position `at` on.
    Passing {
        /// Next position.
        at: u8,
        /// Part of the body that passes.
        part: BodyPart,
    },
    /// Data has reached the innermost hold.
    ReachedHold {
        /// Part of the body that has reached it.
        part: BodyPart,
    },
    /// The trailers pass the steps from position `at` on; the data has passed.
    Trailers {
        /// Next position.
        at: u8,
        /// Data that is written with the trailers.
        part: BodyPart,
    },
    /// Everything has passed the chain.
    Passed {
        /// Data to write.
        part: BodyPart,
    },
}

/// Body data that passes a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyPart {
    /// A piece with more to follow.
    Piece,
    /// The last piece.
    Last,
    /// The whole body, or the rest of it that a filter has buffered.
    Whole,
}

/// A step that holds up body data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hold {
    /// Position of the step.
    pub(super) by: u8,
    /// Offset of its data among the buffered bytes.
    pub(super) start: usize,
    pub(super) mode: HoldMode,
}

/// Data that a holding step sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HoldMode {
    /// Nothing until the body is complete.
    Collects,
    /// Each piece; its output for them is held until it continues. It holds the head, too.
    Pieces,
    /// The whole body passes up to it.
    WholeBody,
}

/// Pause of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterPause {
    /// Phase in which the filter paused.
    pub phase: Phase,
    /// Step that paused.
    pub step: u8,
    /// Number of the crossing.
    pub turn: u32,
    /// Deadline on the owner's clock.
    pub due: WorkerTime,
    /// Time at which the exchange goes on by itself, if the filter asked for that.
    pub goes_on: Option<WorkerTime>,
    /// Whether the filter has sent data and may not send more until that has left.
    pub is_sending: bool,
}

/// Part of the body that a paused step holds while data of the step passes on in front of it.
#[derive(Debug)]
pub(super) struct ParkedPart {
    pub(super) pause: FilterPause,
    pub(super) part: BodyPart,
    pub(super) data: Vec<u8>,
}

impl FilterPause {
    /// Returns the time at which to check again.
    pub fn wakes(&self) -> WorkerTime {
        self.goes_on.map_or(self.due, |goes_on| goes_on.min(self.due))
    }
}

impl Hold {
    /// Returns the position before which data stops.
    pub(super) fn gate(self) -> u8 {
        match self.mode {
            HoldMode::Collects => self.by,
            HoldMode::Pieces | HoldMode::WholeBody => self.by + 1,
        }
    }
}
