//! One message on its way through a chain.

use eddy_http::{Field, Fields, FieldsEditor};
use eddy_ids::WorkerTime;

use super::call::{PhaseCall, StepOrder};
use super::state::{BodyPart, BodyState, FilterPause, HeadState, Hold, HoldMode, ParkedPart};
use crate::chain::HttpFilterChain;
use crate::edit::{EditRefused, FilterEdit, TrailerChange, apply_to_body, apply_to_trailers};
use crate::handle::Direction;
use crate::phase::Phase;

/// One message on its way through a chain. The source of its module has a table of the states.
#[derive(Debug, Default)]
pub struct MessageRun {
    pub(super) travel: StepOrder,
    pub(super) head: HeadState,
    pub(super) body: BodyState,
    /// Steps that hold up data, the outermost first.
    pub(super) holds: Vec<Hold>,
    /// Data at the holding steps, in the order of the message: that of the outermost first.
    pub(super) held: Vec<u8>,
    /// Data that passes the chain.
    pub(super) data: Vec<u8>,
    trailers: Vec<u8>,
    trailer_fields: Vec<Field>,
    /// Position from which on the steps see the trailers: behind the last step that added one to a message without.
    trailers_from: u8,
    pause: Option<FilterPause>,
    /// Parts held by paused steps that have sent data, the outermost last.
    parked: Vec<ParkedPart>,
    /// Last step that changed the length of the body.
    resized_by: Option<u8>,
    is_length_open: bool,
}

/// Body of a message that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncomingBody<'a> {
    /// Nothing follows the head.
    Absent,
    /// The body is read piece by piece.
    Streamed,
    /// The whole body is at hand; if it is empty, there is none.
    Whole(&'a [u8]),
}

/// Next task of the owner of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOutput {
    /// Enter these filters.
    Enter(PhaseCall),
    /// Wait for a filter that has paused.
    Waiting(FilterPause),
    /// Read a piece of the body.
    Read,
    /// Write the head; the body follows piece by piece.
    Head,
    /// Write the head, the whole body and the trailers.
    Message,
    /// Write a piece of the body.
    Piece,
    /// Write the last piece of the body and the trailers.
    LastPiece,
    /// Write the whole body and the trailers behind the head, which is written.
    Body,
    /// Nothing is left to pass on.
    End,
    /// The step has buffered more than its limit.
    TooLarge(u8),
}

/// Result of a step that stopped a call, or of one that had paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepResult {
    /// The message continues behind the step; likewise after a reply that is not sent.
    Continue,
    /// The step needs the whole body.
    Buffer,
    /// The step holds the head while it sees the pieces of the body.
    Hold,
}

impl MessageRun {
    /// Begins a message.
    pub fn begin(&mut self, travel: StepOrder, body: IncomingBody<'_>) {
        self.clear();
        self.travel = travel;
        self.head = HeadState::Passing { at: 0 };
        self.body = match body {
            IncomingBody::Absent | IncomingBody::Whole([]) => BodyState::Ended,
            IncomingBody::Streamed => BodyState::Awaited,
            IncomingBody::Whole(whole) => {
                self.data.extend_from_slice(whole);
                BodyState::Passing { at: 0, part: BodyPart::Whole }
            }
        };
    }

    /// Resets the state, keeping small buffers.
    pub fn clear(&mut self) {
        if self.head == HeadState::Absent {
            return;
        }
        self.head = HeadState::Absent;
        self.body = BodyState::Ended;
        self.holds.clear();
        [&mut self.held, &mut self.data, &mut self.trailers].into_iter().for_each(free);
        self.trailer_fields.clear();
        self.trailers_from = 0;
        self.pause = None;
        self.parked.clear();
        self.resized_by = None;
        self.is_length_open = false;
    }

    /// Returns what to do next.
    ///
    /// # Cost
    /// No allocation, except to take data from an inner hold.
    pub fn poll(&mut self, chain: &HttpFilterChain) -> RunOutput {
        loop {
            if let Some(pause) = self.pause {
                return RunOutput::Waiting(pause);
            }
            if let HeadState::Passing { at } = self.head {
                let phase = self.travel.head_phase();
                if let Some(call) = PhaseCall::find(chain, self.travel, phase, at, self.travel.end()) {
                    return RunOutput::Enter(PhaseCall { is_end: self.body == BodyState::Ended, ..call });
                }
                self.head = HeadState::Passed;
            }
            if let Some(output) = self.poll_body(chain) {
                return output;
            }
        }
    }

    /// Moves the body on while the head waits or is done; returns `None` after a change of state.
    fn poll_body(&mut self, chain: &HttpFilterChain) -> Option<RunOutput> {
        let is_head_due = self.head == HeadState::Passed;
        match self.body {
            BodyState::Ended | BodyState::Awaited if is_head_due => return Some(RunOutput::Head),
            BodyState::Ended => return Some(RunOutput::End),
            BodyState::Awaited => return Some(RunOutput::Read),
            BodyState::Passing { part: BodyPart::Piece | BodyPart::Last, .. } if is_head_due => {
                return Some(RunOutput::Head);
            }
            BodyState::Passing { at, part } => {
                let gate = self.gate();
                let call = PhaseCall::find(chain, self.travel, self.travel.body_phase(), at, gate);
                if let Some(call) = call {
                    let is_end = part != BodyPart::Piece && !self.has_trailers();
                    let is_buffered = part == BodyPart::Whole;
                    return Some(RunOutput::Enter(PhaseCall { is_end, is_buffered, ..call }));
                }
                return self.pass_to_hold(part);
            }
            BodyState::ReachedHold { part } => return self.buffer(chain, part).map(RunOutput::TooLarge),
            BodyState::Trailers { at, part } => {
                if self.has_trailers() {
                    let phase = self.travel.trailers_phase();
                    if let Some(call) = PhaseCall::find(chain, self.travel, phase, at, self.travel.end()) {
                        return Some(RunOutput::Enter(PhaseCall { is_end: true, ..call }));
                    }
                }
                // Behind pieces that are written, the rest of the body is one more piece.
                let is_rest = self.head == HeadState::Streaming;
                self.body = BodyState::Passed { part: if is_rest { BodyPart::Last } else { part } };
            }
            BodyState::Passed { part: BodyPart::Whole } if is_head_due => return Some(RunOutput::Message),
            BodyState::Passed { part: BodyPart::Whole } => return Some(RunOutput::Body),
            BodyState::Passed { .. } => return Some(RunOutput::LastPiece),
        }
        None
    }

    /// Returns the position before which data stops: that of the innermost hold, or the end.
    pub(super) fn gate(&self) -> u8 {
        self.holds.last().map_or_else(|| self.travel.end(), |hold| hold.gate())
    }

    /// Passes data on that has passed all steps before the innermost hold, or all steps.
    fn pass_to_hold(&mut self, part: BodyPart) -> Option<RunOutput> {
        match self.holds.last().copied() {
            None if part == BodyPart::Piece => return Some(RunOutput::Piece),
            None => self.body = BodyState::Trailers { at: self.trailers_from, part },
            Some(Hold { mode: HoldMode::Collects, .. }) => self.body = BodyState::ReachedHold { part },
            Some(hold @ Hold { mode: HoldMode::Pieces, .. }) => {
                // What the step has put out before goes in front of the current piece.
                self.held.append(&mut self.data);
                self.take_held(hold);
                let part = if part == BodyPart::Piece { part } else { BodyPart::Whole };
                self.release(hold, part);
            }
            Some(hold @ Hold { mode: HoldMode::WholeBody, .. }) => self.release(hold, part),
        }
        None
    }

    /// Adds data to the buffer of the innermost hold; returns its step if the buffer is too large.
    fn buffer(&mut self, chain: &HttpFilterChain, part: BodyPart) -> Option<u8> {
        let hold = self.holds.last().copied()?;
        self.held.append(&mut self.data);
        if part == BodyPart::Piece {
            self.await_more();
        } else {
            self.take_held(hold);
            if let Some(hold) = self.holds.last_mut() {
                hold.mode = HoldMode::WholeBody;
            }
            self.body = BodyState::Passing { at: hold.by, part: BodyPart::Whole };
        }
        let bytes = if part == BodyPart::Piece {
            self.held.len().saturating_sub(hold.start)
        } else {
            self.data.len()
        };
        let step = self.travel.position(hold.by);
        let bytes_max = chain.steps().get(usize::from(step))?.filter.policy.body_bytes_max;
        (bytes as u64 > bytes_max).then_some(step)
    }

    /// Moves the data of the innermost hold out of the buffer.
    fn take_held(&mut self, hold: Hold) {
        debug_assert!(self.data.is_empty(), "data was moved into the buffer before");
        if hold.start == 0 {
            std::mem::swap(&mut self.held, &mut self.data);
        } else {
            self.data.extend_from_slice(self.held.get(hold.start..).unwrap_or_default());
            self.held.truncate(hold.start);
        }
    }

    /// Ends the innermost hold: the data goes on behind its step, and so does the head if it waits there.
    fn release(&mut self, hold: Hold, part: BodyPart) {
        let at = hold.by + 1;
        self.holds.pop();
        self.body = BodyState::Passing { at, part };
        if self.holds.is_empty() && self.head == HeadState::Held {
            self.head = HeadState::Passing { at };
        }
    }

    /// Reports that all filters of a call have continued.
    pub fn passed(&mut self, chain: &HttpFilterChain, call: &PhaseCall) {
        self.go_on(call.phase, call.end(chain));
    }

    /// Reports the result of a step that stopped a call, or that had paused in this phase.
    pub fn stopped(&mut self, phase: Phase, step: u8, result: StepResult) {
        let by = self.travel.position(step);
        match (self.head, self.body) {
            (HeadState::Passing { .. }, body) if phase == self.travel.head_phase() => {
                self.go_on(phase, by + 1);
                self.hold_head(by, body, result);
            }
            (_, BodyState::Passing { part, .. }) if phase == self.travel.body_phase() => {
                self.stop_body(by, part, result);
            }
            // The trailers come last: nothing is left to hold.
            _ => self.go_on(phase, by + 1),
        }
        debug_assert_eq!(self.check_invariants(), Ok(()));
    }

    /// Holds the head behind the step at this position, if it asks for that and a body follows.
    fn hold_head(&mut self, by: u8, body: BodyState, result: StepResult) {
        let is_whole = matches!(body, BodyState::Passing { part: BodyPart::Whole, .. });
        let mode = match result {
            StepResult::Continue => return,
            // A message without a body has nothing to wait for.
            StepResult::Buffer | StepResult::Hold if body == BodyState::Ended => return,
            StepResult::Buffer if is_whole => HoldMode::WholeBody,
            StepResult::Buffer => HoldMode::Collects,
            StepResult::Hold if is_whole => return,
            StepResult::Hold => HoldMode::Pieces,
        };
        self.holds.push(Hold { by, start: 0, mode });
        self.head = HeadState::Held;
    }

    fn stop_body(&mut self, by: u8, part: BodyPart, result: StepResult) {
        let innermost = self.holds.last_mut().filter(|hold| hold.by == by);
        let at = match (result, part, innermost) {
            (StepResult::Buffer, BodyPart::Piece | BodyPart::Last, Some(hold)) => {
                hold.mode = HoldMode::Collects;
                by
            }
            (StepResult::Buffer, BodyPart::Piece | BodyPart::Last, None) => {
                self.holds.push(Hold { by, start: self.held.len(), mode: HoldMode::Collects });
                by
            }
            (StepResult::Hold, BodyPart::Piece, Some(_)) => {
                self.body = BodyState::ReachedHold { part };
                return;
            }
            // Nothing is left to buffer, or to hold.
            _ => by + 1,
        };
        self.body = BodyState::Passing { at, part };
    }

    /// Records that what passes in this phase has reached a position.
    fn go_on(&mut self, phase: Phase, to: u8) {
        if phase == self.travel.head_phase() {
            if let HeadState::Passing { at } = &mut self.head {
                *at = to;
            }
            return;
        }
        if let BodyState::Passing { at, .. } | BodyState::Trailers { at, .. } = &mut self.body {
            *at = to;
        }
    }

    /// Records that a filter has paused: the message waits until [`Self::resume`].
    pub fn pause(&mut self, pause: FilterPause) {
        self.pause = Some(pause);
    }

    /// Ends a pause; its outcome is then reported with [`Self::stopped`].
    pub fn resume(&mut self) -> Option<FilterPause> {
        self.pause.take()
    }

    /// Returns the pause that the message waits for.
    pub fn paused(&self) -> Option<&FilterPause> {
        self.pause.as_ref()
    }

    /// Adds a piece of the body, after [`RunOutput::Read`].
    pub fn push_piece(&mut self, data: &[u8]) {
        self.push(data, BodyPart::Piece);
    }

    /// Adds the last piece of the body, which may be empty, and the trailers.
    pub fn push_last(&mut self, data: &[u8], trailers: Fields<'_>) {
        if !trailers.is_empty() {
            self.trailers.extend_from_slice(trailers.bytes());
            self.trailer_fields.extend_from_slice(trailers.places());
        }
        self.push(data, BodyPart::Last);
    }

    fn push(&mut self, data: &[u8], part: BodyPart) {
        debug_assert_eq!(
            self.body,
            BodyState::Awaited,
            "a piece is read when the one before it has been taken"
        );
        self.data.extend_from_slice(data);
        self.body = BodyState::Passing { at: 0, part };
    }

    /// Records that the head is written and can no longer be changed. Does nothing for a message that no filter sees.
    pub fn seal(&mut self) {
        if self.head == HeadState::Passed {
            self.head = HeadState::Sent;
        }
    }

    /// Records that a piece is written, after [`RunOutput::Piece`] and [`RunOutput::LastPiece`].
    pub fn taken(&mut self) {
        if !self.data.is_empty() {
            self.data.clear();
            self.head = HeadState::Streaming;
        }
        if matches!(self.body, BodyState::Passed { .. }) {
            self.body = BodyState::Ended;
        } else {
            self.await_more();
        }
    }

    /// Goes on with the part that a paused step holds, or with the next piece of the message.
    fn await_more(&mut self) {
        let Some(ParkedPart { pause, part, data }) = self.parked.pop() else {
            self.body = BodyState::Awaited;
            return;
        };
        self.data = data;
        self.body = BodyState::Passing { at: self.travel.position(pause.step), part };
        self.pause = pause.into();
    }

    /// Passes data of the step that has paused on to the steps behind it, in front of the part of the body that it
    /// holds; then the step is paused again, until `due`. Returns `false` if the step has not paused in a body hook.
    pub fn send(&mut self, data: &[u8], due: WorkerTime) -> bool {
        let (Some(pause), BodyState::Passing { part, .. }) = (self.pause, self.body) else { return false };
        if pause.phase != self.travel.body_phase() {
            return false;
        }
        let by = self.travel.position(pause.step);
        let pause = FilterPause { due, goes_on: None, is_sending: true, ..pause };
        self.parked.push(ParkedPart { pause, part, data: std::mem::take(&mut self.data) });
        self.pause = None;
        self.body = BodyState::Passing { at: by + 1, part: BodyPart::Piece };
        if let Some(hold) = self.holds.last().copied().filter(|hold| hold.by == by) {
            // What the step has put out before goes in front, and the head goes on.
            self.take_held(hold);
            self.release(hold, BodyPart::Piece);
        }
        self.data.extend_from_slice(data);
        self.resized_by = Some(pause.step);
        self.is_length_open = true;
        debug_assert_eq!(self.check_invariants(), Ok(()));
        true
    }

    /// Records that the data which the paused step has sent has left, so that it may send more until `due`.
    pub fn has_sent(&mut self, due: WorkerTime) {
        if let Some(pause) = &mut self.pause {
            *pause = FilterPause { is_sending: false, due, ..*pause };
        }
    }

    /// Whether a step holds a part of the body while data that it has sent passes on.
    pub fn is_streaming(&self) -> bool {
        !self.parked.is_empty()
    }

    /// Ends a pause without an outcome, for a message that does not go on; to be called until none is left.
    pub fn abandon_pause(&mut self) -> Option<FilterPause> {
        self.pause.take().or_else(|| self.parked.pop().map(|parked| parked.pause))
    }

    /// Gives a body to a message that has none, from the head hook of a step; the steps behind see it. Returns `false`
    /// if the message has a body.
    pub fn supply_body(&mut self, step: u8, body: &[u8]) -> bool {
        let is_absent = matches!(self.head, HeadState::Passing { .. }) && self.body == BodyState::Ended;
        if is_absent {
            self.data.extend_from_slice(body);
            let at = self.travel.position(step) + 1;
            self.body = BodyState::Passing { at, part: BodyPart::Whole };
        }
        is_absent
    }

    /// Applies an edit of a step to the data that passes.
    ///
    /// # Errors
    /// [`EditRefused`].
    pub fn edit_body(&mut self, step: u8, edit: &FilterEdit<'_>) -> Result<(), EditRefused> {
        let before = self.data.len();
        apply_to_body(edit, &mut self.data)?;
        if self.data.len() != before {
            self.resized_by = Some(step);
        }
        Ok(())
    }

    /// Changes the trailers that steps give a message without trailers, while the end of its body passes them. The steps
    /// behind this one see them.
    ///
    /// # Errors
    /// [`EditRefused`].
    pub fn edit_trailers(
        &mut self,
        step: u8,
        change: TrailerChange,
        name: &[u8],
        value: &[u8],
    ) -> Result<(), EditRefused> {
        let is_end = matches!(self.body, BodyState::Passing { part: BodyPart::Last | BodyPart::Whole, .. });
        if !is_end || self.has_trailers() && self.trailers_from == 0 {
            return Err(EditRefused::Phase);
        }
        let mut editor = FieldsEditor::new(&mut self.trailers, &mut self.trailer_fields);
        apply_to_trailers(change, name, value, &mut editor)?;
        self.trailers_from = self.travel.position(step) + 1;
        Ok(())
    }

    /// Returns the data that passes the chain, or that is to be written.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Returns the whole body, once it has passed the chain, if none of it was written as a piece. It can be written
    /// again.
    pub fn whole(&self) -> Option<&[u8]> {
        matches!(self.body, BodyState::Passed { part: BodyPart::Whole }).then_some(&*self.data)
    }

    /// Whether the whole body has arrived and none of it was written as a piece.
    pub fn has_whole(&self) -> bool {
        let part = match self.body {
            BodyState::Passing { part, .. }
            | BodyState::Trailers { part, .. }
            | BodyState::Passed { part } => part,
            BodyState::Ended | BodyState::Awaited | BodyState::ReachedHold { .. } => return false,
        };
        part == BodyPart::Whole && self.held.is_empty() && self.head != HeadState::Streaming
    }

    /// Returns the trailers; they are known once the body has ended.
    pub fn trailers(&self) -> Fields<'_> {
        Fields::new(&self.trailers, &self.trailer_fields)
    }

    /// Returns bytes and places of the trailers, to change them.
    pub fn trailers_mut(&mut self) -> (&mut Vec<u8>, &mut Vec<Field>) {
        (&mut self.trailers, &mut self.trailer_fields)
    }

    fn has_trailers(&self) -> bool {
        !self.trailer_fields.is_empty()
    }

    /// Whether the head can still be changed: until it is written, so also while filters see the whole body.
    pub fn is_head_open(&self) -> bool {
        !matches!(self.head, HeadState::Sent | HeadState::Streaming)
    }

    /// Whether the head has passed the chain.
    pub fn has_head_passed(&self) -> bool {
        matches!(self.head, HeadState::Passed | HeadState::Sent | HeadState::Streaming)
    }

    /// Whether data of the body is in the chain.
    pub fn has_data(&self) -> bool {
        !matches!(self.body, BodyState::Ended | BodyState::Awaited)
    }

    /// Whether a filter buffers the body.
    pub fn is_holding(&self) -> bool {
        !self.holds.is_empty()
    }

    /// Returns the last step that changed the length of the body.
    pub fn resized_by(&self) -> Option<u8> {
        self.resized_by
    }

    /// Records that a filter has removed `content-length`, so that the announced length no longer binds.
    pub fn open_length(&mut self) {
        self.is_length_open = true;
    }

    /// Whether the announced length no longer binds.
    pub fn is_length_open(&self) -> bool {
        self.is_length_open
    }

    /// Returns the states of head and body.
    pub fn states(&self) -> (HeadState, BodyState) {
        (self.head, self.body)
    }
}

fn free(bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.shrink_to(KEPT_BYTES_MAX);
}

impl Default for StepOrder {
    fn default() -> Self {
        Self::new(Direction::Request, &HttpFilterChain::default())
    }
}

/// Capacity above which memory is freed after a message rather than kept for the next.
const KEPT_BYTES_MAX: usize = 8 * 1024;
