//! Pause of a filter: conditions that end it, and how the exchange goes on.

use std::rc::Rc;
use std::task::Context;

use eddy_filter::{Direction, EditLog, Phase, Verdict};

use crate::exchange::filter::apply::{self, Applied, EditSteps, Failed};
use crate::exchange::filter::enter::{FailureKind, FilterPhaseOutcome, series};
use crate::exchange::filter::state::{DirectionState, FilterPause};
use crate::exchange::run::ExchangeCx;
use crate::fault::Fault;

/// Status of a pause.
#[derive(Debug)]
pub(crate) enum FilterPauseStatus {
    /// The pause continues.
    Lasts,
    /// The pause is over, with this outcome for its step and phase.
    Over(FilterPause, FilterPhaseOutcome),
}

/// Checks whether a direction's pause is over.
pub(crate) fn poll(
    ctx: &mut ExchangeCx<'_>,
    cx: &Context<'_>,
    wait: FilterPause,
    direction: Direction,
) -> FilterPauseStatus {
    let Some(handle) = ctx.exchange.filtering.handle else {
        return FilterPauseStatus::Over(wait, FilterPhaseOutcome::Failed(Fault::FilterFailed));
    };
    let worker = Rc::clone(ctx.worker);
    let crossing = &worker.crossing;
    let arrived = crossing.slots.borrow_mut().poll(handle, direction, wait.turn, cx.waker());
    let now_ms = worker.timers.now_ms();
    let is_due = wait.due_ms <= now_ms;
    let goes_on = wait.goes_on_ms.is_some_and(|goes_on_ms| goes_on_ms <= now_ms);
    if arrived.is_none() && !is_due && !goes_on {
        return FilterPauseStatus::Lasts;
    }
    ctx.exchange.filtering.direction(direction).wait = None;
    let plan = Rc::clone(&ctx.plan);
    let Some(chain) = plan.chain(ctx.index, ctx.exchange.filtering.chain) else {
        return FilterPauseStatus::Over(wait, FilterPhaseOutcome::Failed(Fault::FilterFailed));
    };
    if let Some(series) = series(&plan, chain, wait.step) {
        series.paused.decrement();
    }
    let Some(resumed) = arrived else {
        // A filter that resumes later finds that nothing waits.
        crossing.host.table().withdraw(handle, direction);
        if goes_on {
            return FilterPauseStatus::Over(wait, FilterPhaseOutcome::Through);
        }
        let timeout =
            chain.chain.steps().get(usize::from(wait.step)).map(|step| step.filter.policy.pause_timeout);
        let timeout = timeout.unwrap_or_default();
        let why = format!("it paused the exchange and did not resume it within its `timeout` ({timeout:?})");
        let failed = Failed { place: wait.step, kind: FailureKind::Timeout, why };
        let outcome =
            failed.end(ctx, &plan, chain).map_or(FilterPhaseOutcome::Through, FilterPhaseOutcome::Failed);
        return FilterPauseStatus::Over(wait, outcome);
    };
    let mut edits = EditLog::new();
    // The size was checked when the edits arrived.
    let _ = edits.append(&resumed.edits);
    let stop = Some((resumed.verdict, wait.step));
    let Applied { refused, faulty, is_rerouted } =
        apply::apply(ctx, wait.phase, &edits, EditSteps::One(wait.step), stop);
    let outcome = match refused.or(faulty) {
        Some(failed) => {
            failed.end(ctx, &plan, chain).map_or(FilterPhaseOutcome::Through, FilterPhaseOutcome::Failed)
        }
        None => match resumed.verdict {
            Verdict::Continue | Verdict::Pause | Verdict::Fault => FilterPhaseOutcome::Through,
            Verdict::Buffer => FilterPhaseOutcome::Buffer(wait.step),
            Verdict::Hold => FilterPhaseOutcome::Hold(wait.step),
            Verdict::Reply => FilterPhaseOutcome::Replied(wait.step),
            Verdict::Reset => FilterPhaseOutcome::Failed(Fault::FilterReset),
        },
    };
    if is_rerouted && let Err(fault) = crate::exchange::route::again(ctx) {
        return FilterPauseStatus::Over(wait, FilterPhaseOutcome::Failed(fault));
    }
    FilterPauseStatus::Over(wait, outcome)
}

/// Ends the pauses of both directions without an outcome.
pub(crate) fn abandon(ctx: &mut ExchangeCx<'_>) {
    let plan = Rc::clone(&ctx.plan);
    for direction in [Direction::Request, Direction::Response] {
        let Some(wait) = ctx.exchange.filtering.direction(direction).wait.take() else { continue };
        if let Some(handle) = ctx.exchange.filtering.handle {
            ctx.worker.crossing.host.table().withdraw(handle, direction);
        }
        let chain = plan.chain(ctx.index, ctx.exchange.filtering.chain);
        if let Some(series) = chain.and_then(|chain| series(&plan, chain, wait.step)) {
            series.paused.decrement();
        }
    }
}

impl DirectionState {
    /// Returns the earlier of `other` and the time at which the pause must be checked again.
    pub(crate) fn wakes_ms(&self, other: Option<u64>) -> Option<u64> {
        let own = self.wait.map(|wait| wait.wakes_ms());
        own.into_iter().chain(other).min()
    }
}

impl FilterPause {
    /// Returns the time at which to check again, on the worker's clock.
    pub(crate) fn wakes_ms(&self) -> u64 {
        self.goes_on_ms.map_or(self.due_ms, |goes_on_ms| goes_on_ms.min(self.due_ms))
    }

    /// Whether the pause holds up the head.
    pub(crate) fn is_for_head(&self) -> bool {
        matches!(self.phase, Phase::RequestHead | Phase::ResponseHead)
    }
}
