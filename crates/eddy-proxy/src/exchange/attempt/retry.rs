//! The step after an attempt that brought no response for the client: a retry, another cluster, or a local reply.

use eddy_config::{FailureStatuses, RetryConfig};
use eddy_ids::WorkerTime;
use eddy_model::LimitKind;

use crate::exchange::attempt::failover;
use crate::exchange::attempt::outcome::AttemptFailure;
use crate::exchange::context::ExchangeCx;
use crate::exchange::phase::ExchangePhase;
use crate::fault::{Fault, FaultSide, RetryClass};
use crate::upstream::{EndpointGuard, WorkerCluster};

/// Returns to another attempt where that is safe, allowed by the rule and within the retry budget; otherwise responds
/// with the fault. `guard` is that of the failed attempt, if it had an endpoint.
pub(crate) fn retry_or_fail(
    ctx: &mut ExchangeCx<'_>,
    guard: Option<&EndpointGuard>,
    fault: Fault,
) -> ExchangePhase {
    if let Some(guard) = guard {
        note_failure(guard, fault, ctx.worker.timers.now());
    }
    ctx.exchange.has_met_stale_link |= fault == Fault::LinkStale;
    if claim_another(ctx, AttemptFailure::Fault(fault)) {
        return again(ctx);
    }
    fail(ctx, fault)
}

/// Begins another attempt, which has been claimed.
pub(crate) fn again(ctx: &mut ExchangeCx<'_>) -> ExchangePhase {
    ctx.exchange.end_attempts(&ctx.worker.buffers);
    ExchangePhase::Endpoint
}

/// Moves to the next cluster of the rule if there is one for `fault`; otherwise responds with the fault.
pub(crate) fn fail_over_or_reply(ctx: &mut ExchangeCx<'_>, fault: Fault) -> ExchangePhase {
    if failover::claim(ctx, AttemptFailure::Fault(fault)) {
        return again(ctx);
    }
    fail(ctx, fault)
}

/// Ends all attempts and responds with the fault.
pub(crate) fn fail(ctx: &mut ExchangeCx<'_>, fault: Fault) -> ExchangePhase {
    ctx.exchange.end_attempts(&ctx.worker.buffers);
    ctx.fail(fault)
}

/// Reports an attempt without a complete response to its endpoint's health and to the counters.
pub(crate) fn note_failure(guard: &EndpointGuard, fault: Fault, now: WorkerTime) {
    if fault.side() == FaultSide::Upstream {
        guard.cluster.series.failures.increment();
        if fault.blames_endpoint() {
            guard.failed(now);
        }
    }
}

/// Returns whether another attempt follows: a retry, which draws on the retry budget, or one at the next cluster, which
/// then is the current one.
pub(crate) fn claim_another(ctx: &mut ExchangeCx<'_>, failure: AttemptFailure) -> bool {
    claim_retry(ctx, failure) || failover::claim(ctx, failure)
}

fn claim_retry(ctx: &mut ExchangeCx<'_>, failure: AttemptFailure) -> bool {
    if !may_retry(ctx, failure) {
        return false;
    }
    let cluster = ctx.attempted_cluster();
    // A request that no endpoint has looked at is not a retry.
    let is_free = failure == AttemptFailure::Fault(Fault::UpstreamGoAway);
    let is_claimed = is_free || take_retry(ctx, &cluster);
    if is_claimed {
        cluster.series.retries.increment();
    }
    is_claimed
}

/// Takes an additional attempt from the cluster's retry limit and retry budget.
pub(crate) fn take_retry(ctx: &mut ExchangeCx<'_>, cluster: &WorkerCluster) -> bool {
    if ctx.exchange.retry_permit.is_none() {
        match cluster.take(LimitKind::Retries) {
            Ok(place) => ctx.exchange.retry_permit = place,
            Err(_) => return false,
        }
    }
    let now = ctx.worker.timers.now();
    let is_granted = cluster.state().borrow_mut().budget().try_retry(now);
    if !is_granted {
        cluster.series.retries_refused.increment();
    }
    is_granted
}

/// Whether the rule permits a retry, apart from the budget.
fn may_retry(ctx: &ExchangeCx<'_>, failure: AttemptFailure) -> bool {
    let exchange = &*ctx.exchange;
    // The regular end of a link is no failure of the endpoint, so it does not count against the rule's number of
    // retries.
    let extra = match failure {
        AttemptFailure::Fault(Fault::UpstreamGoAway) => GOAWAY_RETRIES_MAX,
        AttemptFailure::Fault(Fault::LinkStale) => 1,
        AttemptFailure::Fault(_) | AttemptFailure::Status(_) | AttemptFailure::Grpc(_) => 0,
    };
    let attempts =
        ctx.route.action().map_or_else(|| RetryConfig::default().attempts, |action| action.retry.attempts);
    exchange.attempts_here() <= attempts.saturating_add(extra)
        && !exchange.is_answered
        && !exchange.is_consumed()
        && is_retried(ctx, failure)
}

/// Whether `failure` is one that the rule retries.
pub(crate) fn is_retried(ctx: &ExchangeCx<'_>, failure: AttemptFailure) -> bool {
    let exchange = &*ctx.exchange;
    let default = RetryConfig::default();
    let retry = ctx.route.action().map_or(&default, |action| &action.retry);
    let may_resend = exchange.may_resend();
    let fault = match failure {
        AttemptFailure::Status(status) => return may_resend && retry.statuses.contains(&status),
        // gRPC calls are POSTs with a body. An operator who lists gRPC statuses declares that these calls may be
        // repeated.
        AttemptFailure::Grpc(status) => return retry.grpc_statuses.contains(status),
        AttemptFailure::Fault(fault) => fault,
    };
    match fault.retry() {
        RetryClass::Never => false,
        RetryClass::NotSeen => true,
        // An endpoint that closes an idle link has not begun to process a request that has not arrived completely.
        RetryClass::MaybeSeen => may_resend || exchange.is_body_unread(),
        RetryClass::ByReset => may_resend && retry.on_reset,
        RetryClass::ByTimeout => may_resend && retry.on_timeout,
    }
}

/// Whether a response with this status counts as a failure of its endpoint.
pub(crate) fn is_failure_status(ctx: &ExchangeCx<'_>, status: u16) -> bool {
    let default = RetryConfig::default();
    let retry = ctx.route.action().map_or(&default, |action| &action.retry);
    match retry.failure_statuses {
        FailureStatuses::Gateway => matches!(status, 502..=504),
        // As in NGINX: 403 and 404 say nothing about the endpoint, and the response to the last permitted attempt is
        // not a failure.
        FailureStatuses::Retried => {
            let exchange = &*ctx.exchange;
            retry.statuses.contains(&status)
                && !matches!(status, 403 | 404)
                && exchange.head.method.is_idempotent()
                && exchange.attempts_here() <= retry.attempts
        }
    }
}

/// Maximum number of times that a request is sent again because its link had ended (GOAWAY).
const GOAWAY_RETRIES_MAX: u8 = 10;
