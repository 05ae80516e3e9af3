//! Start of a hedged attempt: when, at which endpoint, and on which link. The attempt that gets its link first becomes
//! the current one.

use std::future::poll_fn;
use std::task::{Context, Poll};

use eddy_ids::WorkerTime;
use eddy_model::LimitKind;

use crate::exchange::attempt::{
    Attempt, AttemptTrigger, ChosenEndpoint, attempt_deadline, lease, note_failure, take_retry,
};
use crate::exchange::context::ExchangeCx;
use crate::exchange::hedge::state::{Hedge, LinkOutcome};
use crate::exchange::watch::{Watch, poll_timeout, until_linked};
use crate::fault::Fault;
use crate::upstream::EndpointGuard;

/// Enables hedging for the attempt that begins, if the rule configures it and the request may be sent twice.
pub(crate) fn arm(ctx: &mut ExchangeCx<'_>, now: WorkerTime) {
    let Some(config) = ctx.route.action().and_then(|action| action.hedge) else { return };
    let exchange = &mut *ctx.exchange;
    let is_bound = exchange.filtering.endpoint.as_ref().is_some_and(|wish| wish.is_strict);
    let may_hedge = exchange.may_resend()
        && !exchange.upgrade.is_asked()
        && !is_bound
        && exchange.attempts_here() <= config.attempts;
    exchange.hedge = may_hedge.then(|| Box::new(Hedge::new(config, now)));
}

/// Starts an attempt at another endpoint when it is due. If none is available or allowed, the attempts in progress go
/// on alone.
pub(crate) fn begin_due(ctx: &mut ExchangeCx<'_>) {
    let now = ctx.worker.timers.now();
    let Some(hedge) = ctx.exchange.hedge.as_mut().filter(|hedge| hedge.deadline <= now) else { return };
    hedge.deadline = WorkerTime::NEVER;
    let Some(chosen) = begin(ctx, now) else { return };
    let attempts = ctx.exchange.attempts_here();
    let hedge = ctx.exchange.hedge_mut();
    hedge.connect(ctx.worker, chosen);
    if attempts <= hedge.config.attempts {
        hedge.wait(now);
    }
}

fn begin(ctx: &mut ExchangeCx<'_>, now: WorkerTime) -> Option<ChosenEndpoint> {
    let cluster = ctx.attempted_cluster();
    if cluster.state().borrow().endpoints().len() < 2 {
        return None;
    }
    let admitted = cluster.take(LimitKind::Requests).ok()?;
    if !take_retry(ctx, &cluster) {
        return None;
    }
    let tried = ctx.exchange.tried.clone();
    let lease = lease(ctx, &cluster, now)?;
    let guard = EndpointGuard::begin(&cluster, lease, admitted)?;
    if tried.contains(guard.lease().endpoint()) {
        // No other endpoint is available; more load would only make a slow endpoint slower.
        return None;
    }
    ctx.exchange.attempts = ctx.exchange.attempts.saturating_add(1);
    cluster.series.hedges.increment();
    Some(ChosenEndpoint { guard, trigger: AttemptTrigger::Delay, deadline: attempt_deadline(ctx, now) })
}

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
    if !ctx.exchange.hedge_mut().is_connecting() {
        return Poll::Ready(Err((None, Fault::NoEndpoint)));
    }
    while let Poll::Ready((chosen, link)) = poll_connecting(ctx, cx) {
        let now = ctx.worker.timers.now();
        match link {
            Ok(upstream) => return Poll::Ready(Ok(chosen.linked(upstream, now))),
            Err(fault) if ctx.exchange.hedge_mut().is_connecting() => note_failure(&chosen.guard, fault, now),
            Err(fault) => return Poll::Ready(Err((Some(chosen.guard), fault))),
        }
    }
    let due = ctx.exchange.due;
    let wakes_at = ctx.exchange.hedge_mut().deadline;
    let ended = poll_timeout(cx, ctx.down, ctx.worker, watch, due, wakes_at);
    ended.map(|fault| Err((None, fault)))
}

/// Waits until one of the attempts without a link gets one, or fails to.
pub(crate) fn poll_connecting(ctx: &mut ExchangeCx<'_>, cx: &mut Context<'_>) -> Poll<LinkOutcome> {
    let coming = &mut ctx.exchange.hedge_mut().coming;
    let polled = coming.iter_mut().enumerate().find_map(|(index, attempt)| match attempt.poll(cx) {
        Poll::Ready(outcome) => Some((index, outcome)),
        Poll::Pending => None,
    });
    let Some((index, outcome)) = polled else { return Poll::Pending };
    coming.swap_remove(index);
    Poll::Ready(outcome)
}
