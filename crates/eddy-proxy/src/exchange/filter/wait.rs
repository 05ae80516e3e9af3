//! Pause of a filter: conditions that end it, and how the exchange goes on.

use std::rc::Rc;
use std::task::{Context, Poll};

use eddy_filter::{Direction, EditLog, FilterPause, StepResult};
use eddy_ids::WorkerTime;

use crate::exchange::context::ExchangeCx;
use crate::exchange::filter::apply::{self, Applied, EditSteps, Failed};
use crate::exchange::filter::enter::result_of;
use crate::exchange::filter::state::Filtering;
use crate::exchange::filter::step::{chain_of, handle_of, step_of};
use crate::fault::Fault;
use crate::stats::FailureKind;

/// Waits for the end of a direction's pause, and returns the result of its filter.
pub(crate) fn poll(
    ctx: &mut ExchangeCx<'_>,
    cx: &Context<'_>,
    wait: FilterPause,
    direction: Direction,
) -> Result<Poll<StepResult>, Fault> {
    let handle = handle_of(ctx);
    let worker = Rc::clone(ctx.worker);
    let crossing = &worker.crossing;
    let arrived = crossing.slots.borrow_mut().poll(handle, direction, wait.turn, cx.waker());
    let now = worker.timers.now();
    let is_due = wait.due <= now;
    let goes_on = wait.goes_on.is_some_and(|goes_on| goes_on <= now);
    if arrived.is_none() && !is_due && !goes_on {
        return Ok(Poll::Pending);
    }
    ctx.exchange.filtering.run.message_mut(direction).resume();
    let chain = chain_of(ctx);
    chain.series(wait.step).paused.decrement();
    let Some(resumed) = arrived else {
        // A filter that resumes later finds that nothing waits.
        crossing.host.table.withdraw(handle, direction);
        if goes_on {
            return Ok(Poll::Ready(StepResult::Continue));
        }
        let timeout = step_of(&chain, wait.step).filter.policy.pause_timeout;
        let why = format!("it paused the exchange and did not resume it within its `timeout` ({timeout:?})");
        let failed = Failed { place: wait.step, kind: FailureKind::Timeout, why };
        return failed.end(ctx, &chain).map_or(Ok(Poll::Ready(StepResult::Continue)), Err);
    };
    let mut edits = EditLog::new();
    edits.append(&resumed.edits).expect("the size was checked when the edits arrived");
    let stop = Some((resumed.verdict, wait.step));
    let Applied { refused, faulty, is_rerouted } =
        apply::apply(ctx, wait.phase, &edits, EditSteps::One(wait.step), stop);
    let outcome = match refused.or(faulty) {
        Some(failed) => failed.end(ctx, &chain).map_or(Ok(StepResult::Continue), Err),
        None => result_of(resumed.verdict),
    };
    if is_rerouted {
        crate::exchange::matching::again(ctx)?;
    }
    outcome.map(Poll::Ready)
}

/// Ends the pauses of both directions without an outcome.
pub(crate) fn abandon(ctx: &mut ExchangeCx<'_>) {
    for direction in [Direction::Request, Direction::Response] {
        let Some(wait) = ctx.exchange.filtering.run.message_mut(direction).resume() else { continue };
        ctx.worker.crossing.host.table.withdraw(handle_of(ctx), direction);
        chain_of(ctx).series(wait.step).paused.decrement();
    }
}

impl Filtering {
    /// Returns the earlier of `other` and the time at which the pause of a direction must be checked again.
    pub(crate) fn wakes_at(&self, direction: Direction, other: Option<WorkerTime>) -> Option<WorkerTime> {
        let own = self.run.message(direction).paused().map(FilterPause::wakes);
        own.into_iter().chain(other).min()
    }
}
