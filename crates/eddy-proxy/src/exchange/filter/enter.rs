//! One filter phase passed through a chain: crossing by crossing, each result checked and applied.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use eddy_filter::{
    Direction, EditLog, EndReason, EndedExchange, ExchangeInfo, ExchangeView, FilterInvocation,
    FilterLibrary, Handle, LibraryCall, Phase, RequestView, ResponseView, Verdict,
};
use eddy_http::Fields;
use eddy_io::TICK_MS;

use crate::exchange::filter::apply::{self, Applied, EditSteps};
use crate::exchange::filter::chain::FilterChain;
use crate::exchange::filter::state::FilterPause;
use crate::exchange::run::ExchangeCx;
use crate::fault::Fault;
use crate::host::{FilterHost, Slots};
use crate::plan::ListenerPlan;
use crate::stats::{FILTER_FAULT_LABELS, FilterSeries};
use crate::worker::{Worker, WorkerPlan, millis};

/// One crossing in this many is timed; a power of two.
const SAMPLE_EVERY: u32 = 64;

/// State that a worker needs to call filters; reused for each crossing.
pub(crate) struct WorkerFilterState {
    pub(crate) host: Arc<FilterHost>,
    pub(crate) slots: RefCell<Slots>,
    scratch: RefCell<Scratch>,
    /// Ended exchanges by library, reported at the library's next crossing.
    ended: RefCell<Vec<EndedOf>>,
    has_ended: Cell<bool>,
    count: Cell<u32>,
    connections: Cell<u64>,
}

#[derive(Default)]
struct Scratch {
    steps: Vec<FilterInvocation>,
    /// Chain index of each step of the crossing.
    places: Vec<u8>,
    edits: EditLog,
    ended: Vec<EndedExchange>,
}

struct EndedOf {
    library: Arc<dyn FilterLibrary>,
    ended: Vec<EndedExchange>,
}

/// Range of the steps that a phase calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    /// This step and those behind it.
    pub(crate) from: Option<u8>,
    /// Only steps behind this one.
    pub(crate) after: Option<u8>,
    /// Only steps before this one.
    pub(crate) before: Option<u8>,
    /// This step and those before it.
    pub(crate) through: Option<u8>,
}

/// Outcome of a phase.
#[derive(Debug)]
pub(crate) enum FilterPhaseOutcome {
    /// All filters have passed the message on.
    Through,
    /// A step has paused; the direction's [`FilterPause`] holds the details.
    Paused,
    /// The step wants the whole body.
    Buffer(u8),
    /// The step holds the head while it is shown the body.
    Hold(u8),
    /// The step replies.
    Replied(u8),
    /// A filter whose failure policy does not allow skipping it has failed.
    Failed(Fault),
}

impl Range {
    /// All steps.
    pub(crate) const ALL: Self = Self { from: None, after: None, before: None, through: None };

    fn has(self, step: u8, is_reversed: bool) -> bool {
        let is_before = |a: u8, b: u8| if is_reversed { a > b } else { a < b };
        self.from.is_none_or(|first| step == first || is_before(first, step))
            && self.after.is_none_or(|after| is_before(after, step))
            && self.before.is_none_or(|before| is_before(step, before))
            && self.through.is_none_or(|last| step == last || is_before(step, last))
    }
}

impl WorkerFilterState {
    pub(crate) fn new(host: Arc<FilterHost>) -> Self {
        Self {
            host,
            slots: RefCell::default(),
            scratch: RefCell::default(),
            ended: RefCell::default(),
            has_ended: Cell::new(false),
            count: Cell::new(0),
            connections: Cell::new(0),
        }
    }

    /// Returns a number for a new connection.
    pub(crate) fn number_connection(&self) -> u64 {
        self.connections.set(self.connections.get() + 1);
        self.connections.get()
    }

    fn is_sampled(&self) -> bool {
        self.count.set(self.count.get().wrapping_add(1));
        self.count.get() & (SAMPLE_EVERY - 1) == 0
    }

    /// Records the end of an exchange for which a filter keeps state.
    pub(crate) fn note_ended(&self, library: &Arc<dyn FilterLibrary>, ended: EndedExchange) {
        let mut queues = self.ended.borrow_mut();
        match queues.iter_mut().find(|queue| Arc::ptr_eq(&queue.library, library)) {
            Some(queue) => queue.ended.push(ended),
            None => queues.push(EndedOf { library: Arc::clone(library), ended: vec![ended] }),
        }
        self.has_ended.set(true);
    }

    /// Moves the ended exchanges that a library has not been notified of into `into`.
    fn take_ended(&self, library: &Arc<dyn FilterLibrary>, into: &mut Vec<EndedExchange>) {
        into.clear();
        if !self.has_ended.get() {
            return;
        }
        let mut queues = self.ended.borrow_mut();
        if let Some(queue) = queues.iter_mut().find(|queue| Arc::ptr_eq(&queue.library, library)) {
            std::mem::swap(into, &mut queue.ended);
        }
        self.has_ended.set(queues.iter().any(|queue| !queue.ended.is_empty()));
    }
}

/// Notifies every library of ended exchanges that it has not been notified of.
///
/// # Cost
/// One crossing per library, none when there is nothing to report.
pub(crate) fn flush_ended(worker: &Worker) {
    let crossing = &worker.crossing;
    if !crossing.has_ended.get() {
        return;
    }
    let queues = std::mem::take(&mut *crossing.ended.borrow_mut());
    crossing.has_ended.set(false);
    let mut scratch = crossing.scratch.borrow_mut();
    for EndedOf { library, ended } in queues.iter().filter(|queue| !queue.ended.is_empty()) {
        library.run(&mut LibraryCall {
            worker: narrow(worker.index),
            exchange: Handle::from_number(0),
            turn: 0,
            is_sampled: false,
            view: None,
            steps: &mut [],
            ended,
            edits: &mut scratch.edits,
            stopped: 0,
            wait_ms: 0,
            current: &worker.page.worker(worker.index).filter,
        });
        scratch.edits.clear();
    }
}

/// Calls the filters of `phase` that are in `range`, in order.
///
/// # Cost
/// One call per run of neighbouring steps of one library; no allocation once the buffers have grown.
pub(crate) fn enter(
    ctx: &mut ExchangeCx<'_>,
    phase: Phase,
    range: Range,
    is_end: bool,
    is_buffered: bool,
) -> FilterPhaseOutcome {
    let plan = Rc::clone(&ctx.plan);
    let Some(listener) = plan.listener(ctx.index) else { return FilterPhaseOutcome::Through };
    let mut range = range;
    loop {
        // Looked up each time: a filter may have changed the rule, and thereby the chain.
        let index = ctx.exchange.filtering.chain;
        let Some(chain) = plan.chain(ctx.index, index) else { return FilterPhaseOutcome::Through };
        let order = chain.chain.order(phase);
        let first = order.iter().position(|entry| range.has(entry.step, phase.is_reversed()));
        let Some((first, entry)) = first.and_then(|first| Some((first, order.get(first)?))) else {
            return FilterPhaseOutcome::Through;
        };
        let run = first..usize::from(entry.run_end);
        let is_last = run.end == order.len();
        let last = order.get(run.end - 1).map(|entry| entry.step);
        let outcome = cross(ctx, &plan, listener, chain, phase, run, range, is_end, is_buffered);
        let FilterPhaseOutcome::Through = outcome else { return outcome };
        if is_last && ctx.exchange.filtering.chain == index {
            return FilterPhaseOutcome::Through;
        }
        range.after = last;
    }
}

#[expect(clippy::too_many_arguments, reason = "what one crossing is made of; it has one caller")]
fn cross(
    ctx: &mut ExchangeCx<'_>,
    plan: &Rc<WorkerPlan>,
    listener: &ListenerPlan,
    chain: &FilterChain,
    phase: Phase,
    run: std::ops::Range<usize>,
    range: Range,
    is_end: bool,
    is_buffered: bool,
) -> FilterPhaseOutcome {
    let worker = Rc::clone(ctx.worker);
    let crossing = &worker.crossing;
    let mut scratch = crossing.scratch.borrow_mut();
    let scratch = &mut *scratch;
    let mut after = range.after;
    let mut is_rerouted = false;
    // Loops only when a filter has failed and is skipped.
    loop {
        let range = Range { after, ..range };
        let Some(library) = select(ctx, chain, phase, run.clone(), range, scratch) else {
            // Edits of the filters before the failed one remain in force.
            return if is_rerouted { reroute(ctx) } else { FilterPhaseOutcome::Through };
        };
        let Some(handle) = ctx.exchange.filtering.handle else {
            return FilterPhaseOutcome::Failed(Fault::Overload);
        };
        let direction = direction_of(phase);
        ctx.exchange.filtering.turn += 1;
        let turn = ctx.exchange.filtering.turn;
        let announced = crossing.host.table().announce(handle, direction, turn);
        crossing.take_ended(library, &mut scratch.ended);
        scratch.edits.clear();
        let is_sampled = crossing.is_sampled();
        let (stopped, wait_ms) = {
            let view = view(ctx, plan, listener, phase, is_end, is_buffered);
            let mut call = LibraryCall {
                worker: narrow(worker.index),
                exchange: handle,
                turn,
                is_sampled,
                view: Some(&view),
                steps: &mut scratch.steps,
                ended: &scratch.ended,
                edits: &mut scratch.edits,
                stopped: 0,
                wait_ms: 0,
                current: &worker.page.worker(worker.index).filter,
            };
            library.run(&mut call);
            (call.stopped, call.wait_ms)
        };
        let stopped = stopped.min(scratch.steps.len());
        note(ctx, plan, chain, phase, scratch, stopped, is_sampled);
        let stop = scratch.steps.get(stopped).zip(scratch.places.get(stopped));
        // No verdict can delay an exchange that is over.
        let stop = stop.map(|(step, place)| (step.verdict, *place)).filter(|_| phase != Phase::Log);
        let is_paused = matches!(stop, Some((Verdict::Pause, _)));
        if !is_paused {
            // A filter that resumes without having paused is informed that nothing waits.
            announced.withdraw();
        }
        let Applied { refused, faulty, is_rerouted: is_asked } =
            apply::apply(ctx, phase, &scratch.edits, EditSteps::Each(&scratch.places), stop);
        is_rerouted |= is_asked;
        if let Some(failed) = refused {
            let place = failed.place;
            let fault = failed.end(ctx, plan, chain);
            // The verdict of a skipped filter is ignored, too.
            if fault.is_some() || stop.is_some_and(|(_, stopped)| stopped == place) {
                announced.withdraw();
                after = Some(place);
                let Some(fault) = fault else { continue };
                return FilterPhaseOutcome::Failed(fault);
            }
        }
        if let Some(failed) = faulty {
            let place = failed.place;
            if let Some(fault) = failed.end(ctx, plan, chain) {
                return FilterPhaseOutcome::Failed(fault);
            }
            after = Some(place);
            continue;
        }
        if is_rerouted && let FilterPhaseOutcome::Failed(fault) = reroute(ctx) {
            announced.withdraw();
            return FilterPhaseOutcome::Failed(fault);
        }
        return match stop {
            None | Some((Verdict::Continue, _)) => FilterPhaseOutcome::Through,
            Some((Verdict::Pause, place)) => {
                pause(ctx, plan, chain, phase, place, turn, wait_ms);
                FilterPhaseOutcome::Paused
            }
            Some((Verdict::Buffer, place)) => FilterPhaseOutcome::Buffer(place),
            Some((Verdict::Hold, place)) => FilterPhaseOutcome::Hold(place),
            Some((Verdict::Reply, place)) => FilterPhaseOutcome::Replied(place),
            Some((Verdict::Fault, _)) => FilterPhaseOutcome::Failed(Fault::FilterFailed),
            Some((Verdict::Reset, _)) => FilterPhaseOutcome::Failed(Fault::FilterReset),
        };
    }
}

/// Matches the request to a rule again.
fn reroute(ctx: &mut ExchangeCx<'_>) -> FilterPhaseOutcome {
    crate::exchange::route::again(ctx)
        .map_or_else(FilterPhaseOutcome::Failed, |()| FilterPhaseOutcome::Through)
}

/// Fills the scratch with the steps to call. Returns their library, or `None` if there are no steps.
fn select<'a>(
    ctx: &mut ExchangeCx<'_>,
    chain: &'a FilterChain,
    phase: Phase,
    run: std::ops::Range<usize>,
    range: Range,
    scratch: &mut Scratch,
) -> Option<&'a Arc<dyn FilterLibrary>> {
    scratch.steps.clear();
    scratch.places.clear();
    let filtering = &mut ctx.exchange.filtering;
    for entry in chain.chain.order(phase).get(run).unwrap_or_default() {
        let bit = 1_u64 << entry.step;
        let is_seen = direction_of(phase) == Direction::Request || filtering.has_seen(entry.step);
        if !range.has(entry.step, phase.is_reversed()) || filtering.skipped & bit != 0 || !is_seen {
            continue;
        }
        let position = usize::from(entry.step);
        if filtering.states.len() <= position {
            filtering.states.resize(position + 1, 0);
        }
        let state = filtering.states.get(position).copied().unwrap_or(0);
        scratch.steps.push(FilterInvocation { state, ..entry.template });
        scratch.places.push(entry.step);
    }
    let last = scratch.places.last().and_then(|place| chain.chain.steps().get(usize::from(*place)));
    last.map(|step| &step.filter.library)
}

/// Stores the per-exchange state that filters have set, and updates the counters.
fn note(
    ctx: &mut ExchangeCx<'_>,
    plan: &WorkerPlan,
    chain: &FilterChain,
    phase: Phase,
    scratch: &Scratch,
    stopped: usize,
    is_sampled: bool,
) {
    let edit_bytes = scratch.edits.len() as u64;
    for (index, (step, place)) in scratch.steps.iter().zip(&scratch.places).enumerate() {
        if let Some(state) = ctx.exchange.filtering.states.get_mut(usize::from(*place)) {
            *state = step.state;
        }
        if index > stopped {
            break;
        }
        if phase == Phase::RequestHead {
            ctx.exchange.filtering.reached = Some(*place);
        }
        if let Some(series) = series(plan, chain, *place) {
            series.entered(phase, is_sampled.then_some(step.nanos));
            if index == 0 && edit_bytes > 0 {
                series.edit_bytes.add(edit_bytes);
            }
        }
    }
}

fn pause(
    ctx: &mut ExchangeCx<'_>,
    plan: &WorkerPlan,
    chain: &FilterChain,
    phase: Phase,
    place: u8,
    turn: u32,
    wait_ms: u32,
) {
    // The worker's clock may be a tick behind, and no pause may end early.
    let now_ms = ctx.worker.timers.now_ms().saturating_add(TICK_MS);
    let timeout = chain.chain.steps().get(usize::from(place)).map(|step| step.filter.policy.pause_timeout);
    let timeout_ms = timeout.map_or(0, millis);
    if let Some(series) = series(plan, chain, place) {
        series.paused.increment();
    }
    let wait = FilterPause {
        phase,
        step: place,
        turn,
        due_ms: now_ms.saturating_add(timeout_ms),
        goes_on_ms: (wait_ms > 0).then(|| now_ms.saturating_add(wait_ms.into())),
    };
    ctx.exchange.filtering.direction(direction_of(phase)).wait = Some(wait);
}

/// Kind of a filter failure, for the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The filter reported a failure, or panicked.
    Fault = 0,
    /// It requested an impossible edit.
    Edit = 1,
    /// It did not resume in time.
    Timeout = 2,
    /// It buffered more of a body than its limit.
    Body = 3,
    /// It reached its memory limit.
    Memory = 4,
    /// It reached its CPU time limit.
    Cpu = 5,
}

/// Counts and logs a failure. Returns the fault that ends the exchange, or `None` when the filter is skipped instead.
pub(crate) fn fail(
    ctx: &mut ExchangeCx<'_>,
    plan: &WorkerPlan,
    chain: &FilterChain,
    place: u8,
    kind: FailureKind,
    why: &str,
) -> Option<Fault> {
    let step = chain.chain.steps().get(usize::from(place))?;
    let now_ms = ctx.worker.timers.now_ms();
    if let Some(series) = series(plan, chain, place)
        && let Some(unreported) = series.failed(kind, now_ms)
    {
        let cause = FILTER_FAULT_LABELS[kind as usize];
        tracing::error!(filter = &*step.filter.name, cause, unreported, "a filter failed: {why}");
    }
    let filtering = &mut ctx.exchange.filtering;
    let bit = 1_u64 << place;
    let may_leave_out =
        step.filter.policy.on_failure == eddy_filter::FailurePolicy::Open && filtering.changed & bit == 0;
    // A failed filter is not called again in this exchange, not even for the reply that reports its failure.
    filtering.skipped |= bit;
    if may_leave_out {
        return None;
    }
    Some(match kind {
        FailureKind::Fault | FailureKind::Edit | FailureKind::Memory | FailureKind::Cpu => {
            Fault::FilterFailed
        }
        FailureKind::Timeout => Fault::FilterTimeout,
        FailureKind::Body => Fault::FilterBody,
    })
}

/// Returns the counters of a step.
pub(crate) fn series<'a>(plan: &'a WorkerPlan, chain: &FilterChain, place: u8) -> Option<&'a FilterSeries> {
    let index = chain.indices.get(usize::from(place))?;
    plan.series.filters.get(*index).map(|series| &**series)
}

/// Returns the direction that a phase belongs to.
pub(crate) fn direction_of(phase: Phase) -> Direction {
    match phase {
        Phase::RequestHead | Phase::RequestBody | Phase::RequestTrailers | Phase::Log | Phase::End => {
            Direction::Request
        }
        Phase::ResponseHead | Phase::ResponseBody | Phase::ResponseTrailers => Direction::Response,
    }
}

#[inline]
fn view<'a>(
    ctx: &'a ExchangeCx<'_>,
    plan: &'a WorkerPlan,
    listener: &'a ListenerPlan,
    phase: Phase,
    is_end: bool,
    is_buffered: bool,
) -> ExchangeView<'a> {
    let exchange = &*ctx.exchange;
    let filtering = &exchange.filtering;
    let bytes = exchange.head_bytes.as_slice();
    let head = &exchange.head;
    let way = match direction_of(phase) {
        Direction::Request => &filtering.request,
        Direction::Response => &filtering.response,
    };
    let is_body = matches!(phase, Phase::RequestBody | Phase::ResponseBody);
    let has_response = !filtering.response_head.is_empty();
    ExchangeView {
        phase,
        is_end,
        is_buffered,
        request: RequestView {
            fields: head.fields(bytes),
            method: head.method,
            method_name: head.method_name(bytes),
            target: head.target.of(bytes),
            authority: head.authority.of(bytes),
            version: head.version,
            is_tls: ctx.down.client.secure().is_some(),
        },
        response: has_response.then(|| ResponseView {
            fields: exchange.response.fields(&filtering.response_head),
            status: exchange.response.status,
            is_local: exchange.is_local,
        }),
        // Trailers are known once the body has ended.
        trailers: Fields::new(&way.trailers.bytes, &way.trailers.fields),
        body: match (is_body, is_buffered) {
            (false, _) => &[],
            (true, true) => &way.collected,
            (true, false) => &way.piece,
        },
        about: about(ctx, plan, listener),
    }
}

#[inline]
fn about<'a>(ctx: &'a ExchangeCx<'_>, plan: &'a WorkerPlan, listener: &'a ListenerPlan) -> ExchangeInfo<'a> {
    let exchange = &*ctx.exchange;
    let rule = exchange.rule.and_then(|rule| listener.rule_names().get(rule));
    let cluster = exchange.cluster.and_then(|cluster| plan.clusters.get(cluster));
    let mut rng = ctx.worker.rng.borrow_mut();
    ExchangeInfo {
        peer: ctx.down.client.address().as_bytes(),
        peer_ip: ctx.down.client.peer.ip_address(),
        local: listener.address_text.as_bytes(),
        listener: listener.config.name.as_bytes(),
        rule: rule.map_or(b"", |rule| rule.as_bytes()),
        cluster: cluster.map_or(b"", |cluster| cluster.config.name.as_bytes()),
        endpoint: exchange.filtering.endpoint_text.as_bytes(),
        request_id: exchange.request_id.as_bytes(),
        details: exchange.fault.map_or(b"", |fault| fault.reason().as_bytes()),
        metadata: Some(&exchange.filtering.metadata),
        started_unix_us: exchange.filtering.started_unix_us,
        duration_us: exchange.filtering.duration_us,
        now_ms: ctx.worker.timers.now_ms(),
        entropy: [rng.bits(), rng.bits()],
        connection: ctx.down.client.number(),
        request_bytes: exchange.upload.data_bytes,
        response_bytes: exchange.answer.data_bytes,
        attempts: exchange.attempts.into(),
    }
}

/// Converts a worker index; there are at most 256 workers.
fn narrow(index: usize) -> u16 {
    u16::try_from(index).unwrap_or(u16::MAX)
}

/// Records the end of the exchange for every filter that keeps state for it.
pub(crate) fn end_states(worker: &Worker, chain: &FilterChain, states: &mut [u64], reason: EndReason) {
    for (step, state) in chain.chain.steps().iter().zip(states) {
        if *state != 0 {
            let ended = EndedExchange { filter: step.filter.number, state: *state, reason };
            worker.crossing.note_ended(&step.filter.library, ended);
            *state = 0;
        }
    }
}
