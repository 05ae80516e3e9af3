//! The naive model: each step is a pipe with a buffer of its own that pushes what leaves it into the next one.

use eddy_filter::{Phase, Verdict};

use crate::scenario::{ChainScenario, Edit, MessageSpec, REPLY, TraceEvent, letter};

/// Model of an exchange.
pub(crate) struct Model<'s> {
    scenario: &'s ChainScenario,
    trace: Vec<TraceEvent>,
    steps: Vec<ModelStep>,
    message: ModelMessage,
    /// Whether the request head has passed the whole chain, and otherwise the number of steps that it has reached.
    has_request_passed: bool,
    reached: usize,
    ignores_replies: bool,
}

#[derive(Clone, Default)]
struct ModelStep {
    calls: usize,
    has_failed: bool,
    has_changed: bool,
    buffer: Option<Buffer>,
}

/// Buffer of a step that holds up the body.
#[derive(Clone, Default)]
struct Buffer {
    data: Vec<u8>,
    has_head: bool,
    sees_pieces: bool,
    /// Whether an earlier step has buffered the body, so that this one adds nothing to what is kept.
    is_free: bool,
}

#[derive(Default)]
struct ModelMessage {
    is_response: bool,
    head: Vec<u8>,
    is_head_written: bool,
    /// Body that a step has given to the message, and the position behind the step.
    given: Option<(usize, Vec<u8>)>,
    trailers: Vec<u8>,
    are_trailers_known: bool,
}

/// Body that comes with a head.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Follows {
    Nothing,
    Pieces,
    Whole,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Piece,
    Last,
    Whole,
}

/// Why a message ends early.
enum Stop {
    Reply,
    Failure,
}

impl<'s> Model<'s> {
    /// Runs an exchange and returns what happens in it.
    pub(crate) fn run(scenario: &'s ChainScenario) -> Vec<TraceEvent> {
        let mut model = Self {
            scenario,
            trace: Vec::new(),
            steps: vec![ModelStep::default(); scenario.steps.len()],
            message: ModelMessage::default(),
            has_request_passed: false,
            reached: 0,
            ignores_replies: false,
        };
        let result = match model.streamed(false, &scenario.request) {
            Ok(()) => model.streamed(true, &scenario.response),
            other => other,
        };
        if let Err(Stop::Reply) = result {
            model.ignores_replies = true;
            let _ = model.local();
        }
        model.trace
    }

    fn streamed(&mut self, is_response: bool, spec: &MessageSpec) -> Result<(), Stop> {
        self.begin(is_response);
        let Some(lengths) = &spec.pieces else {
            self.push_head(0, Follows::Nothing)?;
            let Some((behind, body)) = self.message.given.take() else { return Ok(()) };
            return self.push_data(behind, body, Kind::Whole);
        };
        self.push_head(0, Follows::Pieces)?;
        for (index, piece) in spec.contents().into_iter().enumerate() {
            let is_last = index + 1 == lengths.len();
            if is_last && spec.has_trailers {
                self.message.are_trailers_known = true;
            }
            self.push_data(0, piece, if is_last { Kind::Last } else { Kind::Piece })?;
        }
        Ok(())
    }

    /// Passes a reply through the response hooks.
    fn local(&mut self) -> Result<(), Stop> {
        self.begin(true);
        self.push_head(0, Follows::Whole)?;
        self.push_data(0, REPLY.to_vec(), Kind::Whole)
    }

    fn begin(&mut self, is_response: bool) {
        self.message = ModelMessage { is_response, ..ModelMessage::default() };
        self.steps.iter_mut().for_each(|step| step.buffer = None);
    }

    fn step_at(&self, position: usize) -> usize {
        if self.message.is_response { self.steps.len() - 1 - position } else { position }
    }

    /// Pushes the head through the steps from a position on, until one holds it.
    fn push_head(&mut self, from: usize, mut follows: Follows) -> Result<(), Stop> {
        for position in from..self.steps.len() {
            let mut data = Vec::new();
            let verdict = self.call(position, 0, follows == Follows::Nothing, false, &mut data)?;
            if follows == Follows::Nothing && self.message.given.is_some() {
                // The step need not wait for the body that it gives.
                follows = Follows::Whole;
                continue;
            }
            let sees_pieces = verdict == Verdict::Hold && follows == Follows::Pieces;
            if sees_pieces || verdict == Verdict::Buffer && follows != Follows::Nothing {
                let is_free = follows == Follows::Whole;
                let buffer = Buffer { data: Vec::new(), has_head: true, sees_pieces, is_free };
                let step = self.step_at(position);
                self.steps[step].buffer = Some(buffer);
                return Ok(());
            }
        }
        self.has_request_passed |= !self.message.is_response;
        if follows != Follows::Whole {
            self.write_head();
        }
        if follows == Follows::Nothing {
            self.trace.push(TraceEvent::End(Vec::new()));
        }
        Ok(())
    }

    /// Pushes data through the steps from a position on.
    fn push_data(&mut self, position: usize, mut data: Vec<u8>, kind: Kind) -> Result<(), Stop> {
        if position == self.steps.len() {
            return self.deliver(data, kind);
        }
        let step = self.step_at(position);
        let is_end = kind != Kind::Piece && !self.message.are_trailers_known;
        match self.steps[step].buffer.take() {
            Some(mut buffer) if !buffer.sees_pieces => {
                buffer.data.extend(data);
                if !buffer.is_free {
                    self.check_limit(step, &buffer.data)?;
                }
                if kind == Kind::Piece {
                    self.steps[step].buffer = Some(buffer);
                    return Ok(());
                }
                let mut whole = buffer.data;
                self.call(position, 1, is_end, true, &mut whole)?;
                if buffer.has_head {
                    self.push_head(position + 1, Follows::Whole)?;
                }
                self.push_data(position + 1, whole, Kind::Whole)
            }
            Some(mut buffer) => {
                let verdict = self.call(position, 1, is_end, kind == Kind::Whole, &mut data)?;
                if verdict == Verdict::Buffer && kind != Kind::Whole {
                    buffer.sees_pieces = false;
                    self.steps[step].buffer = Some(buffer);
                    return self.push_data(position, data, kind);
                }
                buffer.data.extend(data);
                if verdict == Verdict::Hold && kind == Kind::Piece {
                    self.check_limit(step, &buffer.data)?;
                    self.steps[step].buffer = Some(buffer);
                    return Ok(());
                }
                let is_more = kind == Kind::Piece;
                self.push_head(position + 1, if is_more { Follows::Pieces } else { Follows::Whole })?;
                self.push_data(position + 1, buffer.data, if is_more { Kind::Piece } else { Kind::Whole })
            }
            None => {
                let verdict = self.call(position, 1, is_end, kind == Kind::Whole, &mut data)?;
                if verdict == Verdict::Buffer && kind != Kind::Whole {
                    self.steps[step].buffer = Some(Buffer::default());
                    return self.push_data(position, data, kind);
                }
                self.push_data(position + 1, data, kind)
            }
        }
    }

    /// Writes data that has passed all steps; behind the last of it, the trailers pass.
    fn deliver(&mut self, data: Vec<u8>, kind: Kind) -> Result<(), Stop> {
        if kind != Kind::Piece && self.message.are_trailers_known {
            for position in 0..self.steps.len() {
                self.call(position, 2, true, false, &mut Vec::new())?;
            }
        }
        self.write_head();
        if !data.is_empty() {
            self.trace.push(TraceEvent::Data(data));
        }
        if kind != Kind::Piece {
            self.trace.push(TraceEvent::End(self.message.trailers.clone()));
        }
        Ok(())
    }

    fn write_head(&mut self) {
        if !self.message.is_head_written {
            self.message.is_head_written = true;
            self.trace.push(TraceEvent::Head(self.message.head.clone()));
        }
    }

    fn check_limit(&mut self, step: usize, data: &[u8]) -> Result<(), Stop> {
        if data.len() as u64 <= self.scenario.steps[step].body_bytes_max {
            return Ok(());
        }
        self.trace.push(TraceEvent::TooLarge(u8::try_from(step).unwrap()));
        Err(Stop::Failure)
    }

    /// Calls the filter at a position in the head (0), body (1) or trailers (2) phase.
    fn call(
        &mut self,
        position: usize,
        part: usize,
        is_end: bool,
        is_buffered: bool,
        data: &mut Vec<u8>,
    ) -> Result<Verdict, Stop> {
        let index = self.step_at(position);
        let phase = Phase::ALL[part + if self.message.is_response { 3 } else { 0 }];
        let spec = &self.scenario.steps[index];
        let has_seen = self.has_request_passed || !self.message.is_response || index < self.reached;
        if spec.phases & phase.bit() == 0 || self.steps[index].has_failed || !has_seen {
            return Ok(Verdict::Continue);
        }
        let step = u8::try_from(index).unwrap();
        if phase == Phase::RequestHead {
            self.reached = index + 1;
        }
        let head = self.message.head.clone();
        let is_head_open = !self.message.is_head_written;
        self.trace.push(TraceEvent::Call {
            step,
            phase,
            is_end,
            is_buffered,
            data: data.clone(),
            head,
            is_head_open,
        });
        let action = spec.actions[self.steps[index].calls.min(spec.actions.len() - 1)];
        self.steps[index].calls += 1;
        if let Some(edit) = action.paused {
            self.edit(position, part, is_end, edit, data);
        }
        if action.verdict != Verdict::Fault {
            // A message that a filter gave a body in its pause does not end with its head.
            let is_end = is_end && self.message.given.is_none();
            self.edit(position, part, is_end, action.edit, data);
        }
        match action.verdict {
            Verdict::Reply if !self.ignores_replies => {
                self.trace.push(TraceEvent::Reply(step));
                Err(Stop::Reply)
            }
            Verdict::Fault => {
                self.steps[index].has_failed = true;
                if spec.is_open && !self.steps[index].has_changed {
                    return Ok(Verdict::Continue);
                }
                self.trace.push(TraceEvent::Failed(step));
                Err(Stop::Failure)
            }
            verdict => Ok(verdict),
        }
    }

    fn edit(&mut self, position: usize, part: usize, is_end: bool, edit: Edit, data: &mut Vec<u8>) {
        let index = self.step_at(position);
        let letter = letter(index);
        match (edit, part) {
            (Edit::Head, 0 | 1) if !self.message.is_head_written => self.message.head.push(letter),
            (Edit::Append, 1) => data.push(letter),
            (Edit::Replace, 1) => *data = vec![letter],
            (Edit::Drain, 1) => drop(data.drain(..data.len().min(2))),
            (Edit::Clear, 1) => data.clear(),
            (Edit::Give, 0) if is_end => self.message.given = Some((position + 1, vec![letter; 3])),
            (Edit::Trailer, 2) => self.message.trailers.push(letter),
            _ => return,
        }
        self.steps[index].has_changed = true;
    }
}
