//! Links for hedged attempts: the attempt that gets its link first becomes the current one.

use std::future::poll_fn;
use std::task::{Context, Poll};

use eddy_io::WorkerTime;

use crate::exchange::attempt::{Attempt, note_failure};
use crate::exchange::context::ExchangeCx;
use crate::exchange::due::Due;
use crate::exchange::hedge::begin::begin_due;
use crate::exchange::hedge::state::LinkOutcome;
use crate::exchange::watch::{Watch, poll_patience, until_linked};
use crate::fault::Fault;
use crate::upstream::EndpointGuard;

/// Fault of the last attempt, and its endpoint guard, if the fault is that of an endpoint.
pub(crate) type ObtainFailure = (Option<EndpointGuard>, Fault);

/// Waits until one of the attempts without a link gets one; others may be started meanwhile.
///
/// # Errors
/// The fault of the last attempt, when no attempt got a link.
pub(crate) async fn obtain(ctx: &mut ExchangeCx<'_>) -> Result<Attempt, ObtainFailure> {
    let mut watch = until_linked(ctx.exchange);
    poll_fn(|cx| poll_obtain(ctx, cx, &mut watch)).await
}

fn poll_obtain(
    ctx: &mut ExchangeCx<'_>,
    cx: &mut Context<'_>,
    watch: &mut Option<Watch>,
) -> Poll<Result<Attempt, ObtainFailure>> {
    begin_due(ctx);
    let is_coming = |ctx: &ExchangeCx<'_>| ctx.exchange.hedge.as_ref().is_some_and(|hedge| hedge.is_coming());
    if !is_coming(ctx) {
        return Poll::Ready(Err((None, Fault::NoEndpoint)));
    }
    while let Poll::Ready((chosen, link)) = poll_coming(ctx, cx) {
        let now = ctx.worker.timers.now();
        match link {
            Ok(upstream) => return Poll::Ready(Ok(chosen.linked(upstream, now))),
            Err(fault) if is_coming(ctx) => note_failure(&chosen.guard, fault, now),
            Err(fault) => return Poll::Ready(Err((Some(chosen.guard), fault))),
        }
    }
    let due = Due { at: ctx.exchange.deadline, fault: Fault::ExchangeTimeout };
    let wakes_at = ctx.exchange.hedge.as_ref().map_or(WorkerTime::NEVER, |hedge| hedge.deadline);
    let ended = poll_patience(cx, ctx.down, ctx.worker, watch, due, wakes_at);
    ended.map(|fault| Err((None, fault)))
}

/// Waits until one of the attempts without a link gets one, or fails to.
pub(crate) fn poll_coming(ctx: &mut ExchangeCx<'_>, cx: &mut Context<'_>) -> Poll<LinkOutcome> {
    let Some(hedge) = &mut ctx.exchange.hedge else { return Poll::Pending };
    for index in 0..hedge.coming.len() {
        let Some(coming) = hedge.coming.get_mut(index) else { break };
        if let Poll::Ready(outcome) = coming.poll(cx) {
            hedge.coming.swap_remove(index);
            return Poll::Ready(outcome);
        }
    }
    Poll::Pending
}
