//! Crossings of a phase: which neighbouring steps of a chain a message enters together.

use crate::chain::{HttpFilterChain, PhaseOrderEntry};
use crate::handle::Direction;
use crate::phase::Phase;

/// Order in which a message passes the steps of a chain: a request from first to last, a response from last to first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepOrder {
    direction: Direction,
    /// Number of steps in the chain.
    steps: u8,
}

/// Filters to enter together in one phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseCall {
    /// Phase.
    pub phase: Phase,
    /// Whether nothing follows of the message.
    pub is_end: bool,
    /// Whether the body is all that a filter has buffered, rather than a piece.
    pub is_buffered: bool,
    pub(super) travel: StepOrder,
    /// Position of the first step that may be entered, and of the first one behind.
    pub(super) from: u8,
    pub(super) to: u8,
    /// Entries of the phase's order that one library runs.
    pub(super) run_start: u8,
    pub(super) run_end: u8,
}

impl StepOrder {
    /// Returns the order in which messages of this direction pass a chain.
    pub fn new(direction: Direction, chain: &HttpFilterChain) -> Self {
        let steps = u8::try_from(chain.steps().len()).unwrap_or(u8::MAX);
        Self { direction, steps }
    }

    /// Returns the direction.
    pub fn direction(self) -> Direction {
        self.direction
    }

    /// Returns the position behind all steps.
    pub(super) fn end(self) -> u8 {
        self.steps
    }

    /// Returns the position of a step, or the step at a position.
    #[inline]
    pub(super) fn position(self, step: u8) -> u8 {
        match self.direction {
            Direction::Request => step,
            Direction::Response => self.steps.saturating_sub(1).saturating_sub(step),
        }
    }

    pub(super) fn head_phase(self) -> Phase {
        match self.direction {
            Direction::Request => Phase::RequestHead,
            Direction::Response => Phase::ResponseHead,
        }
    }

    pub(super) fn body_phase(self) -> Phase {
        match self.direction {
            Direction::Request => Phase::RequestBody,
            Direction::Response => Phase::ResponseBody,
        }
    }

    pub(super) fn trailers_phase(self) -> Phase {
        match self.direction {
            Direction::Request => Phase::RequestTrailers,
            Direction::Response => Phase::ResponseTrailers,
        }
    }
}

impl PhaseCall {
    /// Returns the next crossing of a phase among the positions `from..to`, or `None` when no filter of them takes part.
    #[inline]
    pub(super) fn find(
        chain: &HttpFilterChain,
        travel: StepOrder,
        phase: Phase,
        from: u8,
        to: u8,
    ) -> Option<Self> {
        let order = chain.order(phase);
        if from >= to || order.is_empty() {
            return None;
        }
        let is_in = |entry: &PhaseOrderEntry| {
            let position = travel.position(entry.step);
            from <= position && position < to
        };
        let first = order.iter().position(is_in)?;
        let run_end = order.get(first)?.run_end;
        let run_start = u8::try_from(first).unwrap_or(u8::MAX);
        Some(Self { phase, is_end: false, is_buffered: false, travel, from, to, run_start, run_end })
    }

    /// Returns the next crossing of the log phase behind `previous`.
    pub fn log(chain: &HttpFilterChain, previous: Option<&Self>) -> Option<Self> {
        let travel = StepOrder::new(Direction::Request, chain);
        let from = previous.map_or(0, |previous| previous.end(chain));
        let call = Self::find(chain, travel, Phase::Log, from, travel.end())?;
        Some(Self { is_end: true, ..call })
    }

    /// Returns the same crossing without a step that has failed and those before it.
    #[must_use]
    pub fn behind(self, step: u8) -> Self {
        Self { from: self.travel.position(step) + 1, ..self }
    }

    /// Returns the steps to enter, in order.
    #[inline]
    pub fn entries<'c>(&self, chain: &'c HttpFilterChain) -> impl Iterator<Item = &'c PhaseOrderEntry> {
        let Self { travel, from, to, .. } = *self;
        let run = usize::from(self.run_start)..usize::from(self.run_end);
        let run = chain.order(self.phase).get(run).unwrap_or_default();
        run.iter().filter(move |entry| {
            let position = travel.position(entry.step);
            from <= position && position < to
        })
    }

    /// Returns the position behind the crossing.
    #[inline]
    pub(super) fn end(&self, chain: &HttpFilterChain) -> u8 {
        let last = usize::from(self.run_end).checked_sub(1);
        let last = last.and_then(|last| chain.order(self.phase).get(last));
        last.map_or(self.to, |last| (self.travel.position(last.step) + 1).min(self.to))
    }
}
