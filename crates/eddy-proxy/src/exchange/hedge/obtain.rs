//! Links for hedged attempts: the attempt that gets its link first becomes the current one.

use std::future::poll_fn;
use std::task::{Context, Poll};

use crate::exchange::attempt::{Attempt, note_failure};
use crate::exchange::context::ExchangeCx;
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
    if !ctx.exchange.hedge_mut().is_coming() {
        return Poll::Ready(Err((None, Fault::NoEndpoint)));
    }
    while let Poll::Ready((chosen, link)) = poll_coming(ctx, cx) {
        let now = ctx.worker.timers.now();
        match link {
            Ok(upstream) => return Poll::Ready(Ok(chosen.linked(upstream, now))),
            Err(fault) if ctx.exchange.hedge_mut().is_coming() => note_failure(&chosen.guard, fault, now),
            Err(fault) => return Poll::Ready(Err((Some(chosen.guard), fault))),
        }
    }
    let due = ctx.exchange.due;
    let wakes_at = ctx.exchange.hedge_mut().deadline;
    let ended = poll_patience(cx, ctx.down, ctx.worker, watch, due, wakes_at);
    ended.map(|fault| Err((None, fault)))
}

/// Waits until one of the attempts without a link gets one, or fails to.
pub(crate) fn poll_coming(ctx: &mut ExchangeCx<'_>, cx: &mut Context<'_>) -> Poll<LinkOutcome> {
    let coming = &mut ctx.exchange.hedge_mut().coming;
    let polled = coming.iter_mut().enumerate().find_map(|(index, attempt)| match attempt.poll(cx) {
        Poll::Ready(outcome) => Some((index, outcome)),
        Poll::Pending => None,
    });
    let Some((index, outcome)) = polled else { return Poll::Pending };
    coming.swap_remove(index);
    Poll::Ready(outcome)
}
