//! Links that an attempt has to wait for: established, or freed by another request.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use eddy_ids::WorkerTime;

use crate::exchange::attempt::begin::begin;
use crate::exchange::attempt::failover;
use crate::exchange::attempt::outcome::AttemptFailure;
use crate::exchange::attempt::retry::retry_or_fail;
use crate::exchange::attempt::state::ChosenEndpoint;
use crate::exchange::context::ExchangeCx;
use crate::exchange::phase::ExchangePhase;
use crate::exchange::state::Exchange;
use crate::exchange::{hedge, watch};
use crate::fault::Fault;
use crate::upstream::{LinkRequirement, UpstreamChannel};

/// Waits for a link to the chosen endpoint, and begins the attempt.
pub(crate) async fn link(ctx: &mut ExchangeCx<'_>, chosen: ChosenEndpoint) -> ExchangePhase {
    if let Some(hedge) = &mut ctx.exchange.hedge {
        hedge.connect(ctx.worker, chosen);
        return race(ctx).await;
    }
    match obtain(ctx, &chosen).await {
        Ok(upstream) => begin(ctx, chosen.linked(upstream, ctx.worker.timers.now())),
        Err(fault) => retry_or_fail(ctx, Some(&chosen.guard), fault),
    }
}

/// Waits for the first of several hedged attempts to get its link, and begins that attempt.
pub(crate) async fn race(ctx: &mut ExchangeCx<'_>) -> ExchangePhase {
    match hedge::obtain(ctx).await {
        Ok(attempt) => begin(ctx, attempt),
        Err((guard, fault)) => retry_or_fail(ctx, guard.as_ref(), fault),
    }
}

/// Obtains a link before the deadlines of the exchange and of the attempt, as long as the client waits for it.
async fn obtain(ctx: &mut ExchangeCx<'_>, chosen: &ChosenEndpoint) -> Result<UpstreamChannel, Fault> {
    let worker = ctx.worker;
    let guard = &chosen.guard;
    let wanted = link_requirement(ctx.exchange);
    let is_alone = ctx.exchange.upgrade.is_open();
    let has_failover_cluster = has_failover_cluster(ctx);
    let mut due = ctx.exchange.due;
    due.sooner(chosen.deadline, Fault::AttemptTimeout);
    let mut watch = watch::until_linked(ctx.exchange);
    let mut obtaining = pin!(async {
        match () {
            // The target of a tunnel need not be an HTTP server.
            () if is_alone => worker.obtain_exclusive(guard).await,
            () if has_failover_cluster => worker.obtain(guard, wanted).await,
            () => worker.obtain_queued(guard, wanted).await,
        }
    });
    poll_fn(|cx| {
        if let Poll::Ready(obtained) = obtaining.as_mut().poll(cx) {
            return Poll::Ready(obtained);
        }
        watch::poll_timeout(cx, ctx.down, worker, &mut watch, due, WorkerTime::NEVER).map(Err)
    })
    .await
}

/// Returns which pooled links the request may be sent on.
pub(crate) fn link_requirement(exchange: &Exchange) -> LinkRequirement {
    match exchange {
        exchange if exchange.has_met_stale_link => LinkRequirement::New,
        exchange if exchange.may_resend() => LinkRequirement::Any,
        _ => LinkRequirement::Quiet,
    }
}

/// Whether another cluster can take over, so that the request does not queue for a link here.
pub(crate) fn has_failover_cluster(ctx: &ExchangeCx<'_>) -> bool {
    failover::next(ctx, AttemptFailure::Fault(Fault::LinksExhausted)).is_some()
}
