//! Start of a hedged attempt: when, and at which endpoint.

use eddy_ids::WorkerTime;
use eddy_model::LimitKind;

use crate::exchange::attempt::{AttemptTrigger, ChosenEndpoint, attempt_deadline, lease, take_retry};
use crate::exchange::context::ExchangeCx;
use crate::exchange::hedge::state::Hedge;
use crate::upstream::EndpointGuard;

/// Enables hedging for the attempt that begins, if the rule configures it and the request may be sent twice.
pub(crate) fn arm(ctx: &mut ExchangeCx<'_>, now: WorkerTime) {
    let Some(config) = ctx.route.action().and_then(|action| action.hedge) else { return };
    let exchange = &mut *ctx.exchange;
    let is_bound = exchange.filtering.endpoint.as_ref().is_some_and(|wish| wish.is_strict);
    let may_hedge = exchange.may_repeat()
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
