//! Pause of a filter: conditions that end it, and how the exchange goes on.

use std::rc::Rc;
use std::task::{Context, Poll};

use eddy_filter::{Direction, EditLog, FilterEdit, FilterPause, StepResult, Verdict};
use eddy_ids::{Millis, WorkerTime};

use crate::exchange::context::ExchangeCx;
use crate::exchange::filter::apply::{self, Applied, EditSteps, Failed};
use crate::exchange::filter::enter::result_of;
use crate::exchange::filter::state::Filtering;
use crate::exchange::filter::step::{chain_of, handle_of, step_of};
use crate::fault::Fault;
use crate::stats::FailureKind;

/// Change in a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PauseOutcome {
    /// The pause has ended with this result of its filter.
    Ended(StepResult),
    /// The filter has sent data, which passes on, and stays paused.
    Sent,
}

/// Waits for the end of a direction's pause, or for data that its filter sends. Output that was staged before has been
/// written.
pub(crate) fn poll(
    ctx: &mut ExchangeCx<'_>,
    cx: &Context<'_>,
    mut wait: FilterPause,
    direction: Direction,
) -> Result<Poll<PauseOutcome>, Fault> {
    let handle = handle_of(ctx);
    let worker = Rc::clone(ctx.worker);
    let crossing = &worker.crossing;
    let now = worker.timers.now();
    let chain = chain_of(ctx);
    let timeout = step_of(&chain, wait.step).filter.policy.pause_timeout;
    if wait.is_sending {
        wait.due = now.deadline(Millis::of(timeout));
        ctx.exchange.filtering.run.message_mut(direction).has_sent(wait.due);
        crossing.host.table.announce(handle, direction, wait.turn);
    }
    let mut arrived = crossing.slots.borrow_mut().poll(handle, direction, wait.turn, cx.waker());
    if let Some(sent) = arrived.take_if(|arrived| arrived.verdict == Verdict::Pause) {
        match data_of(&sent.edits) {
            Ok(data) if ctx.exchange.filtering.run.message_mut(direction).send(&data, wait.due) => {
                ctx.exchange.filtering.run.changed(wait.step);
                return Ok(Poll::Ready(PauseOutcome::Sent));
            }
            sent => {
                ctx.exchange.filtering.run.message_mut(direction).resume();
                chain.series(wait.step).paused.decrement();
                crossing.host.table.withdraw(handle, direction);
                let why =
                    sent.err().unwrap_or("it sent data, which is possible only while a body hook is paused");
                let failed = Failed { place: wait.step, kind: FailureKind::Edit, why: why.to_owned() };
                return failed.end(ctx, &chain).map_or(Ok(GOES_ON), Err);
            }
        }
    }
    let is_due = wait.due <= now;
    let goes_on = wait.goes_on.is_some_and(|goes_on| goes_on <= now);
    if arrived.is_none() && !is_due && !goes_on {
        return Ok(Poll::Pending);
    }
    ctx.exchange.filtering.run.message_mut(direction).resume();
    chain.series(wait.step).paused.decrement();
    let Some(resumed) = arrived else {
        // A filter that resumes later finds that nothing waits.
        crossing.host.table.withdraw(handle, direction);
        if goes_on {
            return Ok(GOES_ON);
        }
        let why = format!("it paused the exchange and did not resume it within its `timeout` ({timeout:?})");
        let failed = Failed { place: wait.step, kind: FailureKind::Timeout, why };
        return failed.end(ctx, &chain).map_or(Ok(GOES_ON), Err);
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
    outcome.map(|result| Poll::Ready(PauseOutcome::Ended(result)))
}

/// Returns the data of the edits with which a filter sends data.
fn data_of(edits: &[u8]) -> Result<Vec<u8>, &'static str> {
    let mut log = EditLog::new();
    log.append(edits).expect("the size was checked when the edits arrived");
    let mut data = Vec::new();
    for record in log.records() {
        let Ok(FilterEdit::BodyAppend(more)) = record.map(|record| record.edit) else {
            return Err("it sent data with edits other than EDDY_EDIT_BODY_APPEND");
        };
        data.extend_from_slice(more);
    }
    Ok(data)
}

/// Ends the pauses of both directions without an outcome.
pub(crate) fn abandon(ctx: &mut ExchangeCx<'_>) {
    for direction in [Direction::Request, Direction::Response] {
        while let Some(wait) = ctx.exchange.filtering.run.message_mut(direction).abandon_pause() {
            ctx.worker.crossing.host.table.withdraw(handle_of(ctx), direction);
            chain_of(ctx).series(wait.step).paused.decrement();
        }
    }
}

impl Filtering {
    /// Returns the earlier of `other` and the time at which the pause of a direction must be checked again.
    pub(crate) fn wakes_at(&self, direction: Direction, other: Option<WorkerTime>) -> Option<WorkerTime> {
        let own = self.run.message(direction).paused().map(FilterPause::wakes);
        own.into_iter().chain(other).min()
    }
}

/// The filter is skipped, or its pause has ended by itself.
const GOES_ON: Poll<PauseOutcome> = Poll::Ready(PauseOutcome::Ended(StepResult::Continue));
