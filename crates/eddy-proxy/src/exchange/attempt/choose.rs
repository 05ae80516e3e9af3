//! Choice of an endpoint, and of a link to it where one is at hand.

use std::rc::Rc;

use eddy_ids::WorkerTime;
use eddy_model::LimitKind;

use crate::exchange::attempt::begin::begin;
use crate::exchange::attempt::connect::{has_failover_cluster, link_requirement};
use crate::exchange::attempt::endpoint::{attempt_deadline, lease};
use crate::exchange::attempt::retry::{fail, fail_over_or_reply};
use crate::exchange::attempt::state::{AttemptTrigger, ChosenEndpoint};
use crate::exchange::context::ExchangeCx;
use crate::exchange::phase::ExchangePhase;
use crate::exchange::{hedge, upgrade, upload_wait};
use crate::fault::Fault;
use crate::upstream::{EndpointGuard, UpstreamChannel};

/// Selects an endpoint, preferably one that was not tried before; the transfer begins at once when a link to it is at
/// hand.
pub(crate) fn choose(ctx: &mut ExchangeCx<'_>) -> ExchangePhase {
    let Some(cluster) = ctx.route.cluster.clone() else { return fail_over_or_reply(ctx, Fault::NoEndpoint) };
    if let Err(fault) = upgrade::decide(ctx, cluster.shares_links()) {
        return fail(ctx, fault);
    }
    if !upload_wait::take_slot(ctx, &cluster) {
        return ExchangePhase::Upload(cluster);
    }
    let admitted = match cluster.take(LimitKind::Requests) {
        Ok(admitted) => admitted,
        Err(fault) => return fail_over_or_reply(ctx, fault),
    };
    let now = ctx.worker.timers.now();
    if ctx.exchange.attempts_here() == 0 {
        cluster.state().borrow_mut().budget().on_request(now);
    }
    let lease = lease(ctx, &cluster, now);
    ctx.exchange.attempts = ctx.exchange.attempts.saturating_add(1);
    let deadline = attempt_deadline(ctx, now);
    hedge::arm(ctx, now);
    let Some(guard) = lease.and_then(|lease| EndpointGuard::begin(&cluster, lease, admitted)) else {
        return fail_over_or_reply(ctx, Fault::NoEndpoint);
    };
    ctx.exchange.endpoint = Some(Rc::clone(&guard.address));
    let chosen = ChosenEndpoint { guard, trigger: AttemptTrigger::Sequential, deadline };
    match take_link(ctx, &chosen, now) {
        Some(upstream) => begin(ctx, chosen.linked(upstream, now)),
        None => ExchangePhase::Link(Box::new(chosen)),
    }
}

/// Takes a pooled or shared link to the endpoint, if the request need not wait for one.
fn take_link(ctx: &ExchangeCx<'_>, chosen: &ChosenEndpoint, now: WorkerTime) -> Option<UpstreamChannel> {
    let exchange = &*ctx.exchange;
    let is_alone = exchange.upgrade.is_open();
    if is_alone || exchange.hedge.is_some() || (chosen.guard.has_queue() && !has_failover_cluster(ctx)) {
        return None;
    }
    chosen.guard.take_ready(link_requirement(exchange), now)
}
