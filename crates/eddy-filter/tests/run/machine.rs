//! The owner of a filter run, with messages from a scenario.

use std::sync::Arc;

use eddy_filter::{
    ChainStep, Direction, FailureOutcome, FailurePolicy, Filter, FilterEdit, FilterEvent, FilterInfo,
    FilterInvocation, FilterLibrary, FilterPause, FilterPolicy, FilterRun, HttpFilterChain, IncomingBody,
    Interest, LibraryCall, LibraryKeepAlive, MessageRun, Phase, PhaseCall, RunOutput, StepOrder, StepResult,
    Verdict,
};
use eddy_http::{Fields, FieldsEditor};
use eddy_ids::WorkerTime;

use crate::scenario::{ChainScenario, Edit, FilterAction, MessageSpec, REPLY, StepSpec, TraceEvent, letter};

/// Machine that runs exchanges, one after the other, on one filter run.
#[derive(Default)]
pub(crate) struct Machine {
    run: FilterRun,
    steps: Vec<FilterInvocation>,
    places: Vec<u8>,
}

/// Exchange in progress.
struct MachineExchange<'m, 's> {
    machine: &'m mut Machine,
    scenario: &'s ChainScenario,
    chain: HttpFilterChain,
    trace: Vec<TraceEvent>,
    calls: Vec<usize>,
    heads: [Vec<u8>; 2],
    ignores_replies: bool,
    turn: u32,
    outputs: u8,
    /// Data that was read, and data that was passed on, of the current message.
    read: usize,
    written: usize,
}

/// End of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MessageEnd {
    Complete,
    Replied,
    /// It failed or was cut off.
    Over,
}

#[derive(Debug)]
struct SilentLibrary;

impl FilterLibrary for SilentLibrary {
    fn name(&self) -> &str {
        "silent"
    }

    fn run(&self, _call: &mut LibraryCall<'_>) {}

    fn event(&self, _event: &FilterEvent<'_>) {}
}

impl Machine {
    /// Runs an exchange and returns what happens in it.
    ///
    /// # Errors
    /// An invariant that does not hold.
    pub(crate) fn run(&mut self, scenario: &ChainScenario) -> Result<Vec<TraceEvent>, String> {
        let chain = chain(&scenario.steps);
        let calls = vec![0; scenario.steps.len()];
        let mut exchange = MachineExchange {
            machine: self,
            scenario,
            chain,
            trace: Vec::new(),
            calls,
            heads: [Vec::new(), Vec::new()],
            ignores_replies: false,
            turn: 0,
            outputs: 0,
            read: 0,
            written: 0,
        };
        let end = match exchange.streamed(Direction::Request, &scenario.request)? {
            MessageEnd::Complete => exchange.streamed(Direction::Response, &scenario.response)?,
            end @ (MessageEnd::Replied | MessageEnd::Over) => end,
        };
        if end == MessageEnd::Replied {
            exchange.ignores_replies = true;
            exchange.local()?;
        }
        let trace = exchange.trace;
        self.run.clear();
        Ok(trace)
    }
}

/// Returns a chain of filters that are never run; the scenario knows what they do.
pub(crate) fn chain(steps: &[StepSpec]) -> HttpFilterChain {
    let libraries: [Arc<dyn FilterLibrary>; 2] = [Arc::new(SilentLibrary), Arc::new(SilentLibrary)];
    let step = |(index, spec): (usize, &StepSpec)| {
        let on_failure = if spec.is_open { FailurePolicy::Open } else { FailurePolicy::Closed };
        let filter = Filter {
            name: "filter".into(),
            id: u32::try_from(index).unwrap(),
            library: Arc::clone(&libraries[usize::from(spec.library)]),
            number: 1,
            info: FilterInfo {
                interest: Interest::from_bits(spec.phases),
                keeps_length: false,
                expects_tunnels: false,
            },
            policy: FilterPolicy {
                on_failure,
                body_bytes_max: spec.body_bytes_max,
                ..FilterPolicy::default()
            },
            owner: LibraryKeepAlive::default(),
        };
        ChainStep {
            filter: Arc::new(filter),
            is_disabled: false,
            config: 0,
            owner: LibraryKeepAlive::default(),
        }
    };
    HttpFilterChain::new(steps.iter().enumerate().map(step).collect()).unwrap()
}

impl MachineExchange<'_, '_> {
    fn streamed(&mut self, direction: Direction, spec: &MessageSpec) -> Result<MessageEnd, String> {
        let body = if spec.pieces.is_some() { IncomingBody::Streamed } else { IncomingBody::Absent };
        self.message(direction, body, spec)
    }

    fn local(&mut self) -> Result<MessageEnd, String> {
        self.heads[1].clear();
        let none = MessageSpec { pieces: None, has_trailers: false };
        self.message(Direction::Response, IncomingBody::Whole(REPLY), &none)
    }

    /// Moves a message through the chain to its end.
    fn message(
        &mut self,
        direction: Direction,
        body: IncomingBody<'_>,
        spec: &MessageSpec,
    ) -> Result<MessageEnd, String> {
        (self.read, self.written) = (0, 0);
        let mut pieces = spec.contents().into_iter().peekable();
        let mut is_ended = false;
        let mut was_whole_written = false;
        let travel = StepOrder::new(direction, &self.chain);
        self.machine.run.message_mut(direction).begin(travel, body);
        loop {
            if self.scenario.cancelled_after == Some(self.outputs) {
                return Ok(MessageEnd::Over);
            }
            self.outputs += 1;
            self.check(direction, pieces.peek().is_none())?;
            let output = self.machine.run.message_mut(direction).poll(&self.chain);
            self.check(direction, pieces.peek().is_none())?;
            match output {
                RunOutput::Enter(call) => {
                    if let Some(end) = self.enter(direction, call)? {
                        return Ok(end);
                    }
                }
                RunOutput::Waiting(pause) => {
                    if let Some(end) = self.resume(direction, pause) {
                        return Ok(end);
                    }
                }
                RunOutput::Read => {
                    let piece = pieces.next().ok_or("nothing is left to read")?;
                    self.read += piece.len();
                    let message = self.machine.run.message_mut(direction);
                    if pieces.peek().is_some() {
                        message.push_piece(&piece);
                    } else {
                        push_last(message, &piece, spec.has_trailers);
                    }
                }
                RunOutput::Head => {
                    self.write_head(direction)?;
                    self.machine.run.message_mut(direction).seal();
                }
                RunOutput::Message => {
                    self.write_head(direction)?;
                    self.write_data(direction, true);
                    was_whole_written = true;
                    self.machine.run.message_mut(direction).seal();
                }
                RunOutput::Piece | RunOutput::LastPiece => {
                    is_ended = output == RunOutput::LastPiece;
                    self.write_data(direction, is_ended);
                    self.machine.run.message_mut(direction).taken();
                }
                RunOutput::Body => {
                    let whole = self.machine.run.message(direction).whole().map(<[u8]>::to_vec);
                    if whole.as_deref() != Some(self.machine.run.message(direction).data()) {
                        return Err("the body that is written is not the whole one".to_owned());
                    }
                    if !was_whole_written {
                        self.write_data(direction, true);
                    }
                    return Ok(MessageEnd::Complete);
                }
                RunOutput::End => {
                    if !is_ended {
                        self.trace.push(TraceEvent::End(Vec::new()));
                    }
                    return Ok(MessageEnd::Complete);
                }
                RunOutput::TooLarge(step) => {
                    self.trace.push(TraceEvent::TooLarge(step));
                    return Ok(MessageEnd::Over);
                }
            }
        }
    }

    /// Checks what holds at any time.
    fn check(&self, direction: Direction, is_read: bool) -> Result<(), String> {
        let message = self.machine.run.message(direction);
        message.check_invariants().map_err(|rule| format!("{rule}: {message:?}"))?;
        if message.has_whole() {
            if !is_read || self.written > 0 {
                return Err(format!("a part is taken for the whole body: {message:?}"));
            }
            let is_unchanged = message.resized_by().is_none() && self.read > 0;
            if is_unchanged && message.data().len() != self.read {
                return Err(format!("bytes are lost or repeated: {message:?}"));
            }
        }
        Ok(())
    }

    fn write_head(&mut self, direction: Direction) -> Result<(), String> {
        if !self.machine.run.message(direction).is_head_open() {
            return Err("the head is written twice".to_owned());
        }
        self.trace.push(TraceEvent::Head(self.heads[direction as usize].clone()));
        Ok(())
    }

    fn write_data(&mut self, direction: Direction, is_end: bool) {
        let message = self.machine.run.message(direction);
        if !is_end || message.whole().is_none() {
            self.written += message.data().len();
        }
        if !message.data().is_empty() {
            self.trace.push(TraceEvent::Data(message.data().to_vec()));
        }
        if is_end {
            let trailers = message.trailers();
            let values = trailers.iter().filter(|field| field.name == b"x-step");
            self.trace.push(TraceEvent::End(values.flat_map(|field| field.value.to_vec()).collect()));
        }
    }

    /// Enters the filters of a call; returns how the message ends, if it does.
    fn enter(&mut self, direction: Direction, mut call: PhaseCall) -> Result<Option<MessageEnd>, String> {
        loop {
            let Machine { run, steps, places } = &mut *self.machine;
            run.select(&self.chain, &call, steps, places);
            let entered: Vec<(u8, u64)> =
                places.iter().copied().zip(steps.iter().map(|step| step.state)).collect();
            let libraries = entered.iter().map(|(step, _)| self.scenario.steps[usize::from(*step)].library);
            if libraries.clone().any(|library| Some(library) != libraries.clone().next()) {
                return Err("two libraries are entered together".to_owned());
            }
            let stop =
                entered.iter().find_map(|(step, state)| self.run_step(direction, &call, *step, *state));
            let message = self.machine.run.message_mut(direction);
            match stop {
                None => message.passed(&self.chain, &call),
                Some((step, Verdict::Pause)) => {
                    let (phase, turn) = (call.phase, self.turn);
                    message.pause(FilterPause {
                        is_sending: false,
                        phase,
                        step,
                        turn,
                        due: WorkerTime::from_millis(1000),
                        goes_on: None,
                    });
                }
                Some((step, Verdict::Fault)) => match self.fail(step) {
                    FailureOutcome::FilterSkipped => {
                        call = call.behind(step);
                        continue;
                    }
                    FailureOutcome::Failed => return Ok(Some(MessageEnd::Over)),
                },
                Some((step, verdict)) => return Ok(self.stop(direction, call.phase, step, verdict)),
            }
            return Ok(None);
        }
    }

    /// Runs a filter; returns step and verdict if it does not continue.
    fn run_step(
        &mut self,
        direction: Direction,
        call: &PhaseCall,
        step: u8,
        state: u64,
    ) -> Option<(u8, Verdict)> {
        let index = usize::from(step);
        assert_eq!(state, self.calls[index] as u64, "a filter has the state that it set");
        let message = self.machine.run.message(direction);
        let is_body = matches!(call.phase, Phase::RequestBody | Phase::ResponseBody);
        self.trace.push(TraceEvent::Call {
            step,
            phase: call.phase,
            // A neighbour in this call may have given the message a body.
            is_end: call.is_end && (is_body || call.phase.is_of_trailers() || !message.has_data()),
            is_buffered: call.is_buffered,
            data: if is_body { message.data().to_vec() } else { Vec::new() },
            head: self.heads[direction as usize].clone(),
            is_head_open: message.is_head_open(),
        });
        let action = self.action(step);
        self.calls[index] += 1;
        self.machine.run.keep_state(step, self.calls[index] as u64);
        self.machine.run.entered(call.phase, step);
        self.turn += 1;
        if let Some(edit) = action.paused {
            self.edit(direction, call.phase, step, edit);
            return Some((step, Verdict::Pause));
        }
        if action.verdict != Verdict::Fault {
            self.edit(direction, call.phase, step, action.edit);
        }
        Some((step, action.verdict)).filter(|(_, verdict)| *verdict != Verdict::Continue)
    }

    fn action(&self, step: u8) -> FilterAction {
        let actions = &self.scenario.steps[usize::from(step)].actions;
        actions[self.calls[usize::from(step)].min(actions.len() - 1)]
    }

    /// Ends a pause with the edit and the verdict of its filter.
    fn resume(&mut self, direction: Direction, pause: FilterPause) -> Option<MessageEnd> {
        assert_eq!(self.machine.run.message_mut(direction).resume(), Some(pause));
        let FilterPause { phase, step, .. } = pause;
        self.calls[usize::from(step)] -= 1;
        let action = self.action(step);
        self.calls[usize::from(step)] += 1;
        if action.verdict != Verdict::Fault {
            self.edit(direction, phase, step, action.edit);
        } else if self.fail(step) == FailureOutcome::Failed {
            return Some(MessageEnd::Over);
        }
        self.stop(direction, phase, step, action.verdict)
    }

    fn stop(&mut self, direction: Direction, phase: Phase, step: u8, verdict: Verdict) -> Option<MessageEnd> {
        let result = match verdict {
            Verdict::Buffer => StepResult::Buffer,
            Verdict::Hold => StepResult::Hold,
            Verdict::Continue | Verdict::Reply | Verdict::Pause | Verdict::Fault | Verdict::Reset => {
                StepResult::Continue
            }
        };
        self.machine.run.message_mut(direction).stopped(phase, step, result);
        if verdict != Verdict::Reply || self.ignores_replies {
            return None;
        }
        self.trace.push(TraceEvent::Reply(step));
        Some(MessageEnd::Replied)
    }

    fn fail(&mut self, step: u8) -> FailureOutcome {
        let is_open = self.scenario.steps[usize::from(step)].is_open;
        let policy = if is_open { FailurePolicy::Open } else { FailurePolicy::Closed };
        let outcome = self.machine.run.fail(step, policy);
        if outcome == FailureOutcome::Failed {
            self.trace.push(TraceEvent::Failed(step));
        }
        outcome
    }

    fn edit(&mut self, direction: Direction, phase: Phase, step: u8, edit: Edit) {
        let run = &mut self.machine.run;
        let message = run.message_mut(direction);
        let letter = [letter(usize::from(step))];
        let is_body = matches!(phase, Phase::RequestBody | Phase::ResponseBody);
        let is_done = match edit {
            Edit::Head if !phase.is_of_trailers() && message.is_head_open() => {
                self.heads[direction as usize].extend(letter);
                true
            }
            Edit::Append if is_body => message.edit_body(step, &FilterEdit::BodyAppend(&letter)).is_ok(),
            Edit::Replace if is_body => message.edit_body(step, &FilterEdit::BodySet(&letter)).is_ok(),
            Edit::Drain if is_body => message.edit_body(step, &FilterEdit::BodyDrain(2)).is_ok(),
            Edit::Clear if is_body => message.edit_body(step, &FilterEdit::BodySet(b"")).is_ok(),
            Edit::Give if matches!(phase, Phase::RequestHead | Phase::ResponseHead) => {
                message.supply_body(step, &letter.repeat(3))
            }
            Edit::Trailer if phase.is_of_trailers() => {
                let (bytes, fields) = message.trailers_mut();
                FieldsEditor::new(bytes, fields).add(b"x-step", &letter).is_ok()
            }
            _ => false,
        };
        if is_done {
            run.changed(step);
        }
    }
}

/// Adds the last piece, with a trailer if there are trailers.
fn push_last(message: &mut MessageRun, piece: &[u8], has_trailers: bool) {
    if !has_trailers {
        return message.push_last(piece, Fields::default());
    }
    let (mut bytes, mut fields) = (Vec::new(), Vec::new());
    FieldsEditor::new(&mut bytes, &mut fields).add(b"x-end", b"1").unwrap();
    message.push_last(piece, Fields::new(&bytes, &fields));
}
