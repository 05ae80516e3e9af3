//! One call into the filters of a chain: its result checked and applied.

use std::rc::Rc;

use eddy_filter::{
    EndReason, EndedExchange, ExchangeFacts, ExchangeInfo, ExchangeView, FilterPause, Handle, LibraryCall,
    Phase, PhaseCall, RequestView, ResponseView, StepResult, TURN_MAX, TlsInfo, Verdict,
};
use eddy_ids::Millis;

use crate::exchange::context::ExchangeCx;
use crate::exchange::filter::apply::{self, Applied, EditSteps};
use crate::exchange::filter::step::{handle_of, step_of};
use crate::fault::Fault;
use crate::host::{CrossingScratch, EndedExchanges};
use crate::plan::FilterChain;
use crate::resolved::WorkerChain;
use crate::worker::Worker;

/// Outcome of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CallOutcome {
    /// All filters have passed the message on.
    Passed,
    /// A step has paused.
    Paused(FilterPause),
    /// A step has stopped the message with this result, perhaps with a reply.
    Stopped { step: u8, result: StepResult },
}

/// Notifies every library of ended exchanges that it has not been notified of.
///
/// # Cost
/// One crossing per library, none when there is nothing to report.
pub(crate) fn flush_ended(worker: &Worker) {
    let crossing = &worker.crossing;
    let queues = crossing.take_all_ended();
    if queues.is_empty() {
        return;
    }
    let mut scratch = crossing.scratch.borrow_mut();
    for EndedExchanges { library, ended } in queues.iter().filter(|queue| !queue.ended.is_empty()) {
        library.run(&mut LibraryCall {
            worker: worker.number(),
            exchange: Handle::from_number(0),
            turn: 0,
            is_sampled: false,
            view: None,
            steps: &mut [],
            ended,
            edits: &mut scratch.edits,
            stopped: 0,
            wait: None,
            current: &worker.page.worker(worker.index).filter,
        });
        scratch.edits.clear();
    }
}

/// Enters the filters of a call, in order.
///
/// # Errors
/// The fault of a failed filter that must not be left out.
///
/// # Cost
/// One crossing, unless a filter fails and is left out; no allocation once the buffers have grown.
pub(crate) fn enter(
    ctx: &mut ExchangeCx<'_>,
    chain: &WorkerChain,
    mut call: PhaseCall,
) -> Result<CallOutcome, Fault> {
    let worker = Rc::clone(ctx.worker);
    let crossing = &worker.crossing;
    let mut scratch = crossing.scratch.borrow_mut();
    let scratch = &mut *scratch;
    let phase = call.phase;
    let mut is_rerouted = false;
    // Loops only when a filter has failed and is skipped.
    loop {
        ctx.exchange.filtering.run.select(&chain.chain, &call, &mut scratch.steps, &mut scratch.places);
        let Some(library) = scratch.places.last().map(|place| &step_of(chain, *place).filter.library) else {
            // Edits of the filters before the failed one remain in force.
            if is_rerouted {
                crate::exchange::matching::again(ctx)?;
            }
            return Ok(CallOutcome::Passed);
        };
        let handle = handle_of(ctx);
        let turn = ctx.exchange.filtering.turn % TURN_MAX + 1;
        ctx.exchange.filtering.turn = turn;
        let announced = crossing.host.table.announce(handle, phase.direction(), turn);
        crossing.take_ended(library, &mut scratch.ended);
        scratch.edits.clear();
        let is_sampled = crossing.is_sampled();
        let (stopped, wait) = {
            let view = view(ctx, &call);
            let mut call = LibraryCall {
                worker: worker.number(),
                exchange: handle,
                turn,
                is_sampled,
                view: Some(&view),
                steps: &mut scratch.steps,
                ended: &scratch.ended,
                edits: &mut scratch.edits,
                stopped: 0,
                wait: None,
                current: &worker.page.worker(worker.index).filter,
            };
            library.run(&mut call);
            (call.stopped, call.wait)
        };
        let stopped = stopped.min(scratch.steps.len());
        note(ctx, chain, phase, scratch, stopped, is_sampled);
        // Most crossings end here: every filter has continued, and none has changed anything.
        if stopped == scratch.steps.len() && scratch.edits.is_empty() && !is_rerouted {
            announced.withdraw();
            return Ok(CallOutcome::Passed);
        }
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
            let fault = failed.end(ctx, chain);
            // The verdict of a skipped filter is ignored, too.
            if fault.is_some() || stop.is_some_and(|(_, stopped)| stopped == place) {
                announced.withdraw();
                call = call.behind(place);
                let Some(fault) = fault else { continue };
                return Err(fault);
            }
        }
        if let Some(failed) = faulty {
            let place = failed.place;
            if let Some(fault) = failed.end(ctx, chain) {
                return Err(fault);
            }
            call = call.behind(place);
            continue;
        }
        if is_rerouted && let Err(fault) = crate::exchange::matching::again(ctx) {
            announced.withdraw();
            return Err(fault);
        }
        return match stop {
            None | Some((Verdict::Continue, _)) => Ok(CallOutcome::Passed),
            Some((Verdict::Pause, place)) => {
                Ok(CallOutcome::Paused(pause(ctx, chain, phase, place, turn, wait)))
            }
            Some((verdict, step)) => Ok(CallOutcome::Stopped { step, result: result_of(verdict)? }),
        };
    }
}

/// Returns how a message goes on behind a filter with this verdict.
pub(crate) fn result_of(verdict: Verdict) -> Result<StepResult, Fault> {
    match verdict {
        // When a reply can no longer be given, the message goes on behind the filter.
        Verdict::Continue | Verdict::Pause | Verdict::Reply => Ok(StepResult::Continue),
        Verdict::Buffer => Ok(StepResult::Buffer),
        Verdict::Hold => Ok(StepResult::Hold),
        Verdict::Fault => Err(Fault::FilterFailed),
        Verdict::Reset => Err(Fault::FilterReset),
    }
}

/// Stores the per-exchange state that filters have set, and updates the counters.
fn note(
    ctx: &mut ExchangeCx<'_>,
    chain: &WorkerChain,
    phase: Phase,
    scratch: &CrossingScratch,
    stopped: usize,
    is_sampled: bool,
) {
    let run = &mut ctx.exchange.filtering.run;
    for (step, place) in scratch.steps.iter().zip(&scratch.places).take(stopped + 1) {
        run.keep_state(*place, step.state);
        run.entered(phase, *place);
        chain.series(*place).entered(phase, is_sampled.then_some(step.nanos));
    }
    if !scratch.edits.is_empty()
        && let Some(first) = scratch.places.first()
    {
        chain.series(*first).edit_bytes.add(scratch.edits.len() as u64);
    }
}

fn pause(
    ctx: &mut ExchangeCx<'_>,
    chain: &WorkerChain,
    phase: Phase,
    place: u8,
    turn: u32,
    wait: Option<Millis>,
) -> FilterPause {
    let now = ctx.worker.timers.now();
    let timeout = Millis::of(step_of(chain, place).filter.policy.pause_timeout);
    chain.series(place).paused.increment();
    FilterPause {
        phase,
        step: place,
        turn,
        due: now.deadline(timeout),
        goes_on: wait.map(|wait| now.deadline(wait)),
        is_sending: false,
    }
}

#[inline]
fn view<'a>(ctx: &'a ExchangeCx<'_>, call: &PhaseCall) -> ExchangeView<'a> {
    let exchange = &*ctx.exchange;
    let filtering = &exchange.filtering;
    let bytes = exchange.head_bytes.as_slice();
    let head = &exchange.head;
    let message = filtering.run.message(call.phase.direction());
    let is_body = matches!(call.phase, Phase::RequestBody | Phase::ResponseBody);
    let has_response = !filtering.response_head.is_empty();
    ExchangeView {
        phase: call.phase,
        is_end: call.is_end,
        is_buffered: call.is_buffered,
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
        trailers: message.trailers(),
        body: if is_body { message.data() } else { &[] },
        facts: ctx,
    }
}

impl ExchangeFacts for ExchangeCx<'_> {
    fn info(&self) -> ExchangeInfo<'_> {
        let (exchange, listener) = (&*self.exchange, &*self.listener);
        // The generator's state has no more bits, so a second number would not be less predictable.
        let bits = self.worker.rng.borrow_mut().bits();
        ExchangeInfo {
            peer: self.down.client.address().as_bytes(),
            peer_ip: self.down.client.peer.ip_address(),
            local: listener.address_text.as_bytes(),
            listener: listener.config.name.as_bytes(),
            rule: self.route.rule_name().unwrap_or_default().as_bytes(),
            cluster: self.route.cluster_name().unwrap_or_default().as_bytes(),
            endpoint: exchange.filtering.endpoint_text.as_bytes(),
            request_id: exchange.request_id.as_bytes(),
            details: exchange.fault.map_or(b"", |fault| fault.reason().as_bytes()),
            metadata: Some(&exchange.filtering.metadata),
            started_unix_us: exchange.filtering.started_unix_us,
            duration_us: exchange.filtering.duration_us,
            now: self.worker.timers.now(),
            entropy: [bits, bits.rotate_left(32)],
            connection: self.down.client.number(),
            request_bytes: exchange.upload.data_bytes,
            response_bytes: exchange.answer.data_bytes,
            attempts: exchange.attempts.into(),
            tls: self.down.client.secure().map(|secure| TlsInfo {
                version: secure.facts.version.as_bytes(),
                suite: secure.facts.suite.as_bytes(),
                server_name: secure.facts.server_name.as_deref().unwrap_or_default().as_bytes(),
                certificate: secure.facts.peer_certificate.as_deref().unwrap_or_default(),
            }),
        }
    }
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
