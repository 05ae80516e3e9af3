//! Chain of an exchange: its choice, its steps, and their failures.

use std::rc::Rc;

use eddy_filter::{ChainStep, Direction, FailureOutcome, Handle, IncomingBody, StepOrder};
use eddy_io::unix_micros;

use crate::exchange::context::ExchangeCx;
use crate::fault::Fault;
use crate::resolved::WorkerChain;
use crate::stats::{FILTER_FAULT_LABELS, FailureKind};

/// Selects the chain of the rule and prepares its filters.
///
/// # Errors
/// [`Fault::Overload`] when the worker has no handle left.
pub(crate) fn begin(ctx: &mut ExchangeCx<'_>) -> Result<(), Fault> {
    let own = ctx.route.rule.as_ref().map(|rule| &rule.chain);
    ctx.route.chain.clone_from(own.unwrap_or(&ctx.listener.chain));
    let Some(chain) = &ctx.route.chain else { return Ok(()) };
    if ctx.exchange.filtering.handle.is_some() {
        return Ok(());
    }
    let crossing = &ctx.worker.crossing;
    let handle = crossing.slots.borrow_mut().open(&crossing.host.table, ctx.worker.index);
    ctx.exchange.filtering.handle = Some(handle.ok_or(Fault::Overload)?);
    ctx.exchange.filtering.is_begun = true;
    ctx.exchange.filtering.started_unix_us = unix_micros();
    let body =
        if ctx.exchange.upload.reader.is_done() { IncomingBody::Absent } else { IncomingBody::Streamed };
    ctx.exchange.filtering.run.request.begin(StepOrder::new(Direction::Request, &chain.chain), body);
    ctx.down.client.name(crossing);
    Ok(())
}

/// Returns the chain of an exchange that has filters.
pub(super) fn chain_of(ctx: &ExchangeCx<'_>) -> Rc<WorkerChain> {
    ctx.route.chain.clone().expect("a listener with filters has a chain for each request")
}

/// Returns the handle of an exchange whose filters have begun.
pub(super) fn handle_of(ctx: &ExchangeCx<'_>) -> Handle {
    ctx.exchange.filtering.handle.expect("filters begin with a handle, and keep it until they end")
}

/// Returns a step of a chain, also by an index into the chain of another rule of the listener.
pub(super) fn step_of(chain: &WorkerChain, place: u8) -> &ChainStep {
    chain.chain.steps().get(usize::from(place)).expect("all chains of a listener have a step for each filter")
}

/// Counts and logs a failure. Returns the fault that ends the exchange, or `None` when the filter is skipped instead.
pub(crate) fn fail(
    ctx: &mut ExchangeCx<'_>,
    chain: &WorkerChain,
    place: u8,
    kind: FailureKind,
    why: &str,
) -> Option<Fault> {
    let step = step_of(chain, place);
    let now = ctx.worker.timers.now();
    if let Some(unreported) = chain.series(place).failed(kind, now) {
        let cause = FILTER_FAULT_LABELS[kind as usize];
        tracing::error!(filter = &*step.filter.name, cause, unreported, "a filter failed: {why}");
    }
    match ctx.exchange.filtering.run.fail(place, step.filter.policy.on_failure) {
        FailureOutcome::FilterSkipped => None,
        FailureOutcome::Failed => Some(fault_of(kind)),
    }
}

fn fault_of(kind: FailureKind) -> Fault {
    match kind {
        FailureKind::Fault | FailureKind::Edit | FailureKind::Memory | FailureKind::Cpu => {
            Fault::FilterFailed
        }
        FailureKind::Timeout => Fault::FilterTimeout,
        FailureKind::Body => Fault::FilterBody,
    }
}
