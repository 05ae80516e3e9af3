//! A chain of filters, and the execution of an exchange through it.

use super::apply::EditTarget;
use super::crossing::{Crossed, Entered, ExchangeFacts, TestLibraryCall, Written, tell_ended};
use super::fake;
use super::library::{Configured, RuleConfig};
use super::message::{Request, Response, TestFields};
use super::outcome::ChainOutcome;
use crate::abi;
use crate::phase::Phase;

/// A chain of filters, in their order.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    links: Vec<ChainFilter>,
    room: u32,
}

#[derive(Clone, Debug)]
struct ChainFilter {
    filter: Configured,
    rule: Option<RuleConfig>,
    is_blocking: bool,
    is_open: bool,
}

/// An exchange in progress.
struct ChainRun<'c> {
    chain: &'c Chain,
    number: u64,
    turn: u32,
    states: Vec<u64>,
    /// Filters that failed and are skipped.
    skipped: Vec<bool>,
    /// Number of filters whose request head phase was called or passed.
    reached: usize,
    request: Request,
    response: Option<Response>,
    outcome: ChainOutcome,
    facts: ExchangeFacts,
}

/// Outcome of a filter's phase other than continuing.
enum ChainStop {
    Reply(Response),
    Reset,
}

/// Continuation after a crossing.
enum Settled {
    /// After this many filters of the run.
    On(usize),
    /// The filter with this index in the run needs the whole body.
    Buffer(usize),
}

/// Result of a phase.
enum PhaseResult {
    /// All filters have finished.
    Done,
    /// The filter with this index needs the whole body.
    Buffer(usize),
}

impl Chain {
    /// Creates a chain without filters.
    #[must_use]
    pub fn new() -> Self {
        Self { links: Vec::new(), room: 256 }
    }

    /// Adds a filter.
    #[must_use]
    pub fn then(mut self, filter: &Configured) -> Self {
        self.links.push(ChainFilter {
            filter: filter.clone(),
            rule: None,
            is_blocking: false,
            is_open: false,
        });
        self
    }

    /// Sets a rule's configuration for the filter added last.
    #[must_use]
    pub fn with_rule(mut self, rule: &RuleConfig) -> Self {
        if let Some(link) = self.links.last_mut() {
            link.rule = Some(rule.clone());
        }
        self
    }

    /// Configures the filter added last with `blocking: true`.
    #[must_use]
    pub fn blocking(mut self) -> Self {
        if let Some(link) = self.links.last_mut() {
            link.is_blocking = true;
        }
        self
    }

    /// Configures the filter added last with `on_failure: open`.
    #[must_use]
    pub fn open(mut self) -> Self {
        if let Some(link) = self.links.last_mut() {
            link.is_open = true;
        }
        self
    }

    /// Sets the initial size of the edit buffer in bytes. Default 256.
    #[must_use]
    pub fn room(mut self, bytes: u32) -> Self {
        self.room = bytes;
        self
    }

    /// Sends a request through the chain to an endpoint, and its response back.
    #[must_use]
    pub fn send(&self, request: Request, endpoint: impl FnOnce(&Request) -> Response) -> ChainOutcome {
        let mut way = ChainRun {
            chain: self,
            number: fake::begin(),
            turn: 0,
            states: vec![0; self.links.len()],
            skipped: vec![false; self.links.len()],
            reached: 0,
            request,
            response: None,
            outcome: ChainOutcome::default(),
            facts: ExchangeFacts::default(),
        };
        way.go(endpoint);
        way.finish()
    }
}

impl ChainRun<'_> {
    fn go(&mut self, endpoint: impl FnOnce(&Request) -> Response) {
        let order: Vec<usize> = (0..self.chain.links.len()).collect();
        let response = match self.direction(&order, Phase::RequestHead) {
            Ok(()) => {
                self.outcome.sent = Some(self.request.clone());
                endpoint(&self.request)
            }
            Err(ChainStop::Reply(reply)) => self.local(reply),
            Err(ChainStop::Reset) => return,
        };
        self.response = Some(response);
        let back: Vec<usize> = (0..self.reached).rev().collect();
        match self.direction(&back, Phase::ResponseHead) {
            Ok(()) => {}
            Err(ChainStop::Reply(reply)) => {
                let reply = self.local(reply);
                self.response = Some(reply);
            }
            Err(ChainStop::Reset) => self.response = None,
        }
    }

    fn local(&mut self, reply: Response) -> Response {
        self.outcome.is_local = true;
        reply
    }

    fn finish(mut self) -> ChainOutcome {
        let order: Vec<usize> = (0..self.reached).collect();
        // Verdicts in this phase have no effect.
        let _ = self.phase(&order, Phase::Log, abi::CALL_END, &mut Vec::new());
        fake::end(self.number);
        let reason = if self.response.is_some() { abi::END_COMPLETE } else { abi::END_CUT };
        for (link, state) in self.chain.links.iter().zip(&self.states) {
            if *state != 0 {
                let ended =
                    abi::AbiExchangeEnd { filter: link.filter.number(), state: *state, reason, reserved: 0 };
                tell_ended(link.filter.library(), &[ended]);
                self.outcome.crossings += 1;
            }
        }
        self.outcome.answered = self.response;
        self.outcome
    }

    /// Runs head, body and trailers of one direction.
    fn direction(&mut self, order: &[usize], head: Phase) -> Result<(), ChainStop> {
        let (body, trailers) = if head.is_request() {
            (Phase::RequestBody, Phase::RequestTrailers)
        } else {
            (Phase::ResponseBody, Phase::ResponseTrailers)
        };
        let mut pieces = std::mem::take(self.body(head));
        let has_trailers = !self.trailers(head).is_empty();
        // Number of filters that have finished the head, and the body.
        let (mut head_done, mut body_done) = (0, 0);
        loop {
            let flags = if pieces.is_empty() && !has_trailers { abi::CALL_END } else { 0 };
            let rest = order.get(head_done..).unwrap_or_default();
            let PhaseResult::Buffer(place) = self.phase(rest, head, flags, &mut Vec::new())? else { break };
            let place = head_done + place;
            let before = order.get(body_done..place).unwrap_or_default();
            let mut whole = self.pieces(before, body, pieces)?.concat();
            let wanting = order.get(place..=place).unwrap_or_default();
            self.phase(wanting, body, abi::CALL_END | abi::CALL_BUFFERED, &mut whole)?;
            pieces = if whole.is_empty() { Vec::new() } else { vec![whole] };
            (head_done, body_done) = (place + 1, place + 1);
        }
        let rest = order.get(body_done..).unwrap_or_default();
        *self.body(head) = self.pieces(rest, body, pieces)?;
        if has_trailers {
            self.phase(order, trailers, abi::CALL_END, &mut Vec::new())?;
        }
        Ok(())
    }

    /// Runs the pieces of a body, one after the other.
    fn pieces(
        &mut self,
        order: &[usize],
        phase: Phase,
        pieces: Vec<Vec<u8>>,
    ) -> Result<Vec<Vec<u8>>, ChainStop> {
        let mut out = Vec::new();
        let mut left = pieces.into_iter().peekable();
        while let Some(mut piece) = left.next() {
            let is_end = left.peek().is_none();
            let flags = if is_end { abi::CALL_END } else { 0 };
            if let PhaseResult::Buffer(place) = self.phase(order, phase, flags, &mut piece)? {
                // Earlier filters have seen this piece and see the rest; then the filter that needs the whole body
                // gets it.
                let rest: Vec<Vec<u8>> = left.by_ref().collect();
                let before = order.get(..place).unwrap_or_default();
                for more in self.pieces(before, phase, rest)? {
                    piece.extend_from_slice(&more);
                }
                let flags = abi::CALL_BUFFERED | abi::CALL_END;
                let from = order.get(place..).unwrap_or_default();
                self.phase(from, phase, flags, &mut piece)?;
            }
            if !piece.is_empty() {
                out.push(piece);
            }
        }
        Ok(out)
    }

    /// Calls the filters of a phase until all have continued.
    fn phase(
        &mut self,
        order: &[usize],
        phase: Phase,
        flags: u8,
        body: &mut Vec<u8>,
    ) -> Result<PhaseResult, ChainStop> {
        let places: Vec<usize> =
            (0..order.len()).filter(|place| self.is_entered(order[*place], phase)).collect();
        let mut rest = places.as_slice();
        while let Some(&first) = rest.first() {
            let library = |place: usize| self.chain.links[order[place]].filter.library();
            let together = rest.iter().take_while(|place| library(**place).is(library(first))).count();
            let run: Vec<usize> = rest.iter().take(together).map(|place| order[*place]).collect();
            let crossed = self.cross(&run, phase, flags, body);
            if let Some(last) = run.get(crossed.stopped).or_else(|| run.last()) {
                self.reach(*last, phase);
            }
            if phase == Phase::Log {
                rest = &rest[run.len()..];
                continue;
            }
            match self.settle(&run, &crossed, phase, flags, body)? {
                Settled::On(steps) => rest = &rest[steps.min(run.len())..],
                Settled::Buffer(step) => return Ok(PhaseResult::Buffer(rest[step])),
            }
        }
        if let Some(last) = order.iter().max() {
            self.reach(*last, phase);
        }
        Ok(PhaseResult::Done)
    }

    fn reach(&mut self, index: usize, phase: Phase) {
        if phase == Phase::RequestHead {
            self.reached = self.reached.max(index + 1);
        }
    }

    fn is_entered(&self, index: usize, phase: Phase) -> bool {
        self.chain.links[index].filter.is_entered(phase) && !self.skipped[index]
    }

    fn cross(&mut self, run: &[usize], phase: Phase, flags: u8, body: &[u8]) -> Crossed {
        self.turn += 1;
        self.outcome.crossings += 1;
        fake::next_turn(self.number, self.turn);
        let entered: Vec<Entered<'_>> = run.iter().map(|index| self.entered(*index)).collect();
        let library = self.chain.links[run[0]].filter.library();
        let trailers = match self.response.as_ref() {
            Some(response) if phase == Phase::ResponseTrailers => Some(&response.trailers),
            _ if phase == Phase::RequestTrailers => Some(&self.request.trailers),
            _ => None,
        };
        let is_local = self.outcome.is_local && !phase.is_request();
        let crossing = TestLibraryCall {
            phase: phase.number(),
            flags: flags | abi::CALL_SAMPLED | if is_local { abi::CALL_LOCAL } else { 0 },
            exchange: self.number,
            turn: self.turn,
            request: &self.request,
            response: self.response.as_ref(),
            trailers,
            body,
            metadata: &self.outcome.metadata,
            facts: &self.facts,
            room: self.chain.room,
        };
        let crossed = crossing.run(library, &entered);
        for (index, step) in run.iter().zip(&crossed.steps) {
            self.states[*index] = step.state;
        }
        crossed
    }

    fn entered(&self, index: usize) -> Entered<'_> {
        let link = &self.chain.links[index];
        Entered {
            filter: &link.filter,
            rule: link.rule.as_ref(),
            state: self.states[index],
            is_blocking: link.is_blocking,
        }
    }

    /// Applies the filters' edits and verdicts, waits if one pauses, and returns the continuation.
    fn settle(
        &mut self,
        run: &[usize],
        crossed: &Crossed,
        phase: Phase,
        flags: u8,
        body: &mut Vec<u8>,
    ) -> Result<Settled, ChainStop> {
        let step = crossed.stopped;
        let mut verdict = crossed.steps.get(step).map_or(abi::CONTINUE, |stopped| stopped.verdict);
        let mut edits = crossed.written();
        loop {
            let mut reply = Response::new(0);
            if let Err(message) = self.apply(&edits, phase, body, &mut reply) {
                self.outcome.faults.push(message);
                verdict = abi::FAULT;
            }
            let has_changed =
                edits.iter().any(|edit| usize::from(edit.step) == step && edit.op != abi::EDIT_FAULT);
            match verdict {
                abi::CONTINUE => return Ok(Settled::On(step + 1)),
                abi::BUFFER if flags & (abi::CALL_END | abi::CALL_BUFFERED) != 0 => {
                    return Ok(Settled::On(step + 1));
                }
                abi::BUFFER => return Ok(Settled::Buffer(step)),
                abi::REPLY => return Err(ChainStop::Reply(reply)),
                abi::RESET => return Err(ChainStop::Reset),
                abi::PAUSE => match fake::wait(self.number) {
                    Some(resumed) => (verdict, edits) = (resumed.verdict, Written::all(&resumed.edits)),
                    None => {
                        self.outcome.timed_out += 1;
                        return Err(ChainStop::Reply(Response::new(504)));
                    }
                },
                _ => match run.get(step) {
                    Some(index) if self.chain.links[*index].is_open && !has_changed => {
                        self.skipped[*index] = true;
                        return Ok(Settled::On(step + 1));
                    }
                    _ if phase.is_response() && phase != Phase::ResponseHead => return Err(ChainStop::Reset),
                    _ => return Err(ChainStop::Reply(Response::new(500))),
                },
            }
        }
    }

    fn apply(
        &mut self,
        edits: &[Written],
        phase: Phase,
        body: &mut Vec<u8>,
        reply: &mut Response,
    ) -> Result<(), String> {
        let (request, response) = (&mut self.request, self.response.as_mut());
        EditTarget { phase, request, response, body, outcome: &mut self.outcome, reply }.apply(edits)
    }

    fn body(&mut self, head: Phase) -> &mut Vec<Vec<u8>> {
        match (head, &mut self.response) {
            (Phase::ResponseHead, Some(response)) => &mut response.body,
            _ => &mut self.request.body,
        }
    }

    fn trailers(&self, head: Phase) -> &TestFields {
        match (head, &self.response) {
            (Phase::ResponseHead, Some(response)) => &response.trailers,
            _ => &self.request.trailers,
        }
    }
}
