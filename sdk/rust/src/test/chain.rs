//! A chain of filters, and the execution of an exchange through it.
//!
//! The state machine of the gateway ([`FilterRun`]) decides which filters are called with what; this host carries it
//! out.

use std::sync::Arc;

use eddy_filter::{
    ChainStep, Direction, FailureOutcome, FailurePolicy, Filter, FilterEvent, FilterInfo, FilterInvocation,
    FilterLibrary, FilterPolicy, FilterRun, HttpFilterChain, IncomingBody, Interest, LibraryCall,
    LibraryKeepAlive, PhaseCall, RunOutput, StepOrder, StepResult,
};

use super::apply::EditTarget;
use super::crossing::{Crossed, Entered, ExchangeFacts, TestLibraryCall, Written, report_ended};
use super::fake;
use super::library::{Configured, Library, RuleConfig};
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
    /// The filters and their order, as the gateway has them.
    filters: HttpFilterChain,
    run: FilterRun,
    /// Filters of the crossing, and their steps in the chain.
    steps: Vec<FilterInvocation>,
    places: Vec<u8>,
    number: u64,
    turn: u32,
    request: Request,
    response: Option<Response>,
    /// Reply of a filter.
    reply: Response,
    outcome: ChainOutcome,
    facts: ExchangeFacts,
}

/// Result of a message's passage through the filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MessageOutcome {
    Through,
    Replied,
    /// A filter has failed; the gateway responds with this status.
    Failed(u16),
    /// The exchange is cut off.
    Cut,
}

/// Result of a crossing.
enum Settled {
    Ended(MessageOutcome),
    /// The filters behind one that has failed are called.
    RemainingCalled(PhaseCall),
}

/// Stands for a library in the gateway's chain, which calls neighbours of one library together.
#[derive(Debug)]
struct ChainLibrary(Library);

impl FilterLibrary for ChainLibrary {
    fn name(&self) -> &str {
        "library"
    }

    fn run(&self, _: &mut LibraryCall<'_>) {}

    fn event(&self, _: &FilterEvent<'_>) {}
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
    ///
    /// # Panics
    /// If the chain has more than 64 filters.
    #[must_use]
    pub fn send(&self, request: Request, endpoint: impl FnOnce(&Request) -> Response) -> ChainOutcome {
        let mut way = ChainRun {
            chain: self,
            filters: self.filters(),
            run: FilterRun::default(),
            steps: Vec::new(),
            places: Vec::new(),
            number: fake::begin(),
            turn: 0,
            request,
            response: None,
            reply: Response::new(0),
            outcome: ChainOutcome::default(),
            facts: ExchangeFacts::default(),
        };
        way.go(endpoint);
        way.finish()
    }

    /// Returns the chain as the gateway has it.
    fn filters(&self) -> HttpFilterChain {
        let mut libraries: Vec<Arc<ChainLibrary>> = Vec::new();
        let mut steps = Vec::new();
        for link in &self.links {
            let own = link.filter.library();
            let library = libraries.iter().find(|known| known.0.is(own)).cloned().unwrap_or_else(|| {
                libraries.push(Arc::new(ChainLibrary(own.clone())));
                Arc::clone(&libraries[libraries.len() - 1])
            });
            steps.push(link.step(library));
        }
        HttpFilterChain::new(steps).expect("a chain has at most 64 filters")
    }
}

impl ChainFilter {
    /// Returns the filter's step in the gateway's chain.
    fn step(&self, library: Arc<ChainLibrary>) -> ChainStep {
        let is_entered = |phase: &&Phase| self.filter.is_entered(**phase);
        let bits = Phase::ALL.iter().filter(is_entered).fold(0, |bits, phase| bits | 1 << phase.number());
        let policy = FilterPolicy {
            on_failure: if self.is_open { FailurePolicy::Open } else { FailurePolicy::Closed },
            is_blocking: self.is_blocking,
            ..FilterPolicy::default()
        };
        let filter = Filter {
            name: self.filter.name().into(),
            id: self.filter.id(),
            library,
            number: self.filter.number(),
            info: FilterInfo {
                interest: Interest::from_bits(bits),
                keeps_length: self.filter.only_reads_bodies(),
                expects_tunnels: false,
            },
            policy,
            owner: LibraryKeepAlive::default(),
        };
        let config = self.rule.as_ref().map_or(0, RuleConfig::number);
        ChainStep { filter: Arc::new(filter), is_disabled: false, config, owner: LibraryKeepAlive::default() }
    }
}

impl ChainRun<'_> {
    fn go(&mut self, endpoint: impl FnOnce(&Request) -> Response) {
        let mut response = match self.pass(Direction::Request) {
            MessageOutcome::Through => {
                self.outcome.sent = Some(self.request.clone());
                endpoint(&self.request)
            }
            MessageOutcome::Replied => self.local_reply(),
            MessageOutcome::Failed(status) => self.refusal(status),
            MessageOutcome::Cut => return,
        };
        // A filter that has failed is not called again, so that one of the responses is the last.
        loop {
            self.response = Some(response);
            response = match self.pass(Direction::Response) {
                MessageOutcome::Through => return,
                MessageOutcome::Replied => self.local_reply(),
                MessageOutcome::Failed(status) => self.refusal(status),
                MessageOutcome::Cut => {
                    self.response = None;
                    return;
                }
            }
        }
    }

    /// Returns the reply of a filter.
    fn local_reply(&mut self) -> Response {
        self.outcome.is_local = true;
        std::mem::replace(&mut self.reply, Response::new(0))
    }

    /// Returns the gateway's own response for a failure.
    fn refusal(&mut self, status: u16) -> Response {
        self.outcome.is_local = true;
        Response::new(status)
    }

    fn finish(mut self) -> ChainOutcome {
        let mut log = PhaseCall::log(&self.filters, None);
        while let Some(call) = log {
            self.run.select(&self.filters, &call, &mut self.steps, &mut self.places);
            if !self.steps.is_empty() {
                // Verdicts and edits in this phase have no effect.
                self.cross(Phase::Log, &call);
            }
            log = PhaseCall::log(&self.filters, Some(&call));
        }
        fake::end(self.number);
        let reason = if self.response.is_some() { abi::END_COMPLETE } else { abi::END_CUT };
        for (link, state) in self.chain.links.iter().zip(self.run.states_mut()) {
            if *state != 0 {
                let ended =
                    abi::AbiExchangeEnd { filter: link.filter.number(), state: *state, reason, reserved: 0 };
                report_ended(link.filter.library(), &[ended]);
                self.outcome.crossings += 1;
            }
        }
        self.outcome.answered = self.response;
        self.outcome
    }

    /// Passes a message through the filters: head, body (in pieces or as a whole) and trailers.
    fn pass(&mut self, direction: Direction) -> MessageOutcome {
        let is_reply = direction == Direction::Response && self.outcome.is_local;
        let pieces = std::mem::take(self.body(direction));
        let (bytes, fields) = self.trailers(direction).placed();
        let whole = pieces.concat();
        let body = match pieces.is_empty() && fields.is_empty() {
            // The gateway has its own responses, and those of filters, as a whole.
            _ if is_reply => IncomingBody::Whole(&whole),
            true => IncomingBody::Absent,
            false => IncomingBody::Streamed,
        };
        let travel = StepOrder::new(direction, &self.filters);
        self.run.message_mut(direction).begin(travel, body);
        let mut pieces = pieces.iter();
        loop {
            let message = self.run.message_mut(direction);
            match message.poll(&self.filters) {
                RunOutput::Enter(call) => match self.enter(direction, call) {
                    MessageOutcome::Through => {}
                    // A reply to a local response is not sent.
                    MessageOutcome::Replied if is_reply => {}
                    _ if direction == Direction::Response && !self.run.response.is_head_open() => {
                        return MessageOutcome::Cut;
                    }
                    end @ (MessageOutcome::Replied | MessageOutcome::Failed(_) | MessageOutcome::Cut) => {
                        return end;
                    }
                },
                RunOutput::Read => {
                    // Trailers need a body, even if it is empty.
                    let piece = pieces.next().map_or(&[][..], Vec::as_slice);
                    if pieces.len() == 0 {
                        message.push_last(piece, eddy_http::Fields::new(&bytes, &fields));
                    } else {
                        message.push_piece(piece);
                    }
                }
                RunOutput::Head => message.seal(),
                RunOutput::Piece | RunOutput::LastPiece => {
                    self.write(direction);
                    self.run.message_mut(direction).taken();
                }
                RunOutput::Message | RunOutput::Body => {
                    self.write(direction);
                    self.run.message_mut(direction).seal();
                    return MessageOutcome::Through;
                }
                RunOutput::End => return MessageOutcome::Through,
                RunOutput::TooLarge(step) => {
                    self.outcome.faults.push("the body is larger than `body_bytes_max`".to_owned());
                    self.run.fail(step, FailurePolicy::Closed);
                    return match direction {
                        Direction::Request => MessageOutcome::Failed(413),
                        Direction::Response if self.run.response.is_head_open() => {
                            MessageOutcome::Failed(502)
                        }
                        Direction::Response => MessageOutcome::Cut,
                    };
                }
                // A pause is waited for before `enter` returns.
                RunOutput::Waiting(_) => return MessageOutcome::Cut,
            }
        }
    }

    /// Passes on what the filters let through.
    fn write(&mut self, direction: Direction) {
        let data = self.run.message(direction).data().to_vec();
        if !data.is_empty() {
            self.body(direction).push(data);
        }
    }

    /// Calls the filters of a crossing; those behind a filter that is left out are called again.
    fn enter(&mut self, direction: Direction, mut call: PhaseCall) -> MessageOutcome {
        loop {
            self.run.select(&self.filters, &call, &mut self.steps, &mut self.places);
            let Some(phase) = Phase::from_number(call.phase as u8).filter(|_| !self.steps.is_empty()) else {
                self.run.message_mut(direction).passed(&self.filters, &call);
                return MessageOutcome::Through;
            };
            let crossed = self.cross(phase, &call);
            match self.settle(direction, phase, &call, &crossed) {
                Settled::Ended(passage) => return passage,
                Settled::RemainingCalled(behind) => call = behind,
            }
        }
    }

    fn cross(&mut self, phase: Phase, call: &PhaseCall) -> Crossed {
        self.turn += 1;
        self.outcome.crossings += 1;
        fake::next_turn(self.number, self.turn);
        let links = self.places.iter().map(|place| &self.chain.links[usize::from(*place)]);
        let entered: Vec<Entered<'_>> =
            links.zip(&self.steps).map(|(link, step)| link.entered(step.state)).collect();
        let library = entered[0].filter.library();
        let direction = call.phase.direction();
        let trailers = match self.response.as_ref() {
            Some(response) if phase == Phase::ResponseTrailers => Some(&response.trailers),
            _ if phase == Phase::RequestTrailers => Some(&self.request.trailers),
            _ => None,
        };
        let is_local = self.outcome.is_local && !phase.is_request();
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        let crossing = TestLibraryCall {
            phase: phase.number(),
            flags: abi::CALL_SAMPLED
                | flag(call.is_end, abi::CALL_END)
                | flag(call.is_buffered, abi::CALL_BUFFERED)
                | flag(is_local, abi::CALL_LOCAL),
            exchange: self.number,
            turn: self.turn,
            request: &self.request,
            response: self.response.as_ref(),
            trailers,
            body: if phase.is_body() { self.run.message(direction).data() } else { &[] },
            metadata: &self.outcome.metadata,
            facts: &self.facts,
            room: self.chain.room,
        };
        let crossed = crossing.run(library, &entered);
        for (index, (place, step)) in self.places.iter().zip(&crossed.steps).enumerate() {
            self.run.keep_state(*place, step.state);
            if index <= crossed.stopped {
                self.run.entered(call.phase, *place);
            }
        }
        crossed
    }

    /// Applies the filters' edits and verdicts, waits if one pauses, and returns the continuation.
    fn settle(&mut self, direction: Direction, phase: Phase, call: &PhaseCall, crossed: &Crossed) -> Settled {
        let places = self.places.clone();
        let stop = crossed.steps.get(crossed.stopped).zip(places.get(crossed.stopped));
        let Some((mut verdict, place)) = stop.map(|(step, place)| (step.verdict, *place)) else {
            let applied = self.apply(phase, &crossed.written(), |step| places.get(step).copied(), None);
            if let Err(refused) = applied
                && !self.is_left_out(refused)
            {
                return Settled::Ended(MessageOutcome::Failed(500));
            }
            self.run.message_mut(direction).passed(&self.filters, call);
            return Settled::Ended(MessageOutcome::Through);
        };
        let mut edits = crossed.written();
        let mut is_resumed = false;
        loop {
            let place_of = |step: usize| if is_resumed { Some(place) } else { places.get(step).copied() };
            let faulty = (verdict == abi::FAULT).then_some(place);
            match self.apply(phase, &edits, place_of, faulty) {
                Err(refused) if self.is_left_out(refused) => {
                    // The verdict of a filter that is left out is ignored, too.
                    if refused == place {
                        return self.continue_after(direction, call, place, is_resumed);
                    }
                }
                Err(_) => return Settled::Ended(MessageOutcome::Failed(500)),
                Ok(()) => {}
            }
            if verdict == abi::REPLY && self.reply.status == 0 {
                self.outcome.faults.push("it replied without giving a reply".to_owned());
                verdict = abi::FAULT;
            }
            let result = match verdict {
                abi::CONTINUE => StepResult::Continue,
                abi::BUFFER => StepResult::Buffer,
                abi::REPLY => {
                    self.run.message_mut(direction).stopped(call.phase, place, StepResult::Continue);
                    return Settled::Ended(MessageOutcome::Replied);
                }
                abi::RESET => return Settled::Ended(MessageOutcome::Cut),
                abi::PAUSE => {
                    let Some(resumed) = fake::wait(self.number) else {
                        self.outcome.timed_out += 1;
                        if self.is_left_out(place) {
                            return self.continue_after(direction, call, place, true);
                        }
                        return Settled::Ended(MessageOutcome::Failed(504));
                    };
                    (verdict, edits, is_resumed) = (resumed.verdict, Written::all(&resumed.edits), true);
                    continue;
                }
                _ if self.is_left_out(place) => {
                    return self.continue_after(direction, call, place, is_resumed);
                }
                _ => return Settled::Ended(MessageOutcome::Failed(500)),
            };
            self.run.message_mut(direction).stopped(call.phase, place, result);
            return Settled::Ended(MessageOutcome::Through);
        }
    }

    /// Records that a filter has failed; returns whether it is left out of the exchange.
    fn is_left_out(&mut self, place: u8) -> bool {
        let step = self.filters.steps().get(usize::from(place));
        let policy = step.map_or(FailurePolicy::Closed, |step| step.filter.policy.on_failure);
        self.run.fail(place, policy) == FailureOutcome::FilterSkipped
    }

    /// Continues behind a filter that is left out: in the same crossing, or in a new one if it had paused.
    fn continue_after(
        &mut self,
        direction: Direction,
        call: &PhaseCall,
        place: u8,
        has_paused: bool,
    ) -> Settled {
        if !has_paused {
            return Settled::RemainingCalled(call.behind(place));
        }
        self.run.message_mut(direction).stopped(call.phase, place, StepResult::Continue);
        Settled::Ended(MessageOutcome::Through)
    }

    /// Applies the edits of a crossing; a filter that reports a failure loses its own.
    ///
    /// # Errors
    /// The filter that requested an impossible edit, whose later edits are not applied.
    fn apply(
        &mut self,
        phase: Phase,
        edits: &[Written],
        place_of: impl Fn(usize) -> Option<u8>,
        faulty: Option<u8>,
    ) -> Result<(), u8> {
        let mut refused = None;
        for edit in edits {
            let Some(place) = place_of(usize::from(edit.step)) else { continue };
            if refused == Some(place) || (faulty == Some(place) && edit.op != abi::EDIT_FAULT) {
                continue;
            }
            if let Err(why) = self.apply_one(phase, edit, place) {
                self.outcome.faults.push(why);
                refused.get_or_insert(place);
            }
        }
        refused.map_or(Ok(()), Err)
    }

    fn apply_one(&mut self, phase: Phase, edit: &Written, place: u8) -> Result<(), String> {
        let direction = if phase.is_request() { Direction::Request } else { Direction::Response };
        let (request, response) = (&mut self.request, self.response.as_mut());
        let (message, reply) = (self.run.message_mut(direction), &mut self.reply);
        let mut target =
            EditTarget { phase, step: place, request, response, message, outcome: &mut self.outcome, reply };
        target.apply(std::slice::from_ref(edit))?;
        if phase.is_trailers() {
            let (bytes, fields) = self.trailers(direction).placed();
            let message = self.run.message_mut(direction);
            (*message.trailers_mut().0, *message.trailers_mut().1) = (bytes, fields);
        }
        if edit.op != abi::EDIT_FAULT {
            self.run.changed(place);
        }
        Ok(())
    }

    fn body(&mut self, direction: Direction) -> &mut Vec<Vec<u8>> {
        match (direction, &mut self.response) {
            (Direction::Response, Some(response)) => &mut response.body,
            _ => &mut self.request.body,
        }
    }

    fn trailers(&self, direction: Direction) -> &TestFields {
        match (direction, &self.response) {
            (Direction::Response, Some(response)) => &response.trailers,
            _ => &self.request.trailers,
        }
    }
}

impl ChainFilter {
    fn entered(&self, state: u64) -> Entered<'_> {
        Entered { filter: &self.filter, rule: self.rule.as_ref(), state, is_blocking: self.is_blocking }
    }
}
