//! Failover to another cluster when one cannot serve a request.

use eddy_config::FailoverReason;
use eddy_upstream::Tried;

use crate::exchange::attempt::{cluster, fail};
use crate::exchange::phase::ExchangePhase;
use crate::exchange::run::ExchangeCx;
use crate::fault::{Fault, RetryClass};

/// Moves to the next cluster of the rule if there is one for `fault`; otherwise responds with the fault.
pub(super) fn go_on_or_fail(ctx: &mut ExchangeCx<'_>, fault: Fault) -> ExchangePhase {
    if !claim(ctx, fault) {
        return fail(ctx, fault);
    }
    ctx.exchange.end_attempt(&ctx.worker.buffers);
    ExchangePhase::Endpoint
}

/// Returns whether the exchange moves to another cluster after `fault`; if so, that cluster becomes the current one.
///
/// Failover does not draw on a retry budget: no endpoint of the new cluster was tried before.
pub(super) fn claim(ctx: &mut ExchangeCx<'_>, fault: Fault) -> bool {
    let Some(next) = next(ctx, fault) else { return false };
    if let Some(cluster) = cluster(ctx) {
        cluster.series.left.increment();
    }
    let exchange = &mut *ctx.exchange;
    exchange.cluster = Some(next);
    exchange.clusters_left = exchange.clusters_left.saturating_add(1);
    exchange.attempts_elsewhere = exchange.attempts;
    exchange.tried = Tried::new();
    exchange.retry_place = None;
    exchange.upload_slot = None;
    true
}

/// Returns the next cluster of the rule for `fault`.
pub(super) fn next(ctx: &ExchangeCx<'_>, fault: Fault) -> Option<usize> {
    let exchange = &*ctx.exchange;
    let next = ctx.action()?.failover.get(usize::from(exchange.clusters_left))?;
    let is_unseen = is_unreachable(fault);
    let is_safe = !exchange.is_consumed() && !exchange.is_answered && (is_unseen || exchange.may_repeat());
    let is_reason = |reason: &FailoverReason| match reason {
        FailoverReason::Any => is_unseen || is_error(fault),
        FailoverReason::Unreachable => is_unseen,
        FailoverReason::NotFound => fault == Fault::RetryStatus(NOT_FOUND),
    };
    (is_safe && next.when.iter().any(is_reason)).then_some(next.cluster)
}

/// Whether no endpoint of the cluster has seen the request.
fn is_unreachable(fault: Fault) -> bool {
    fault.retry() == RetryClass::Unseen
        || matches!(fault, Fault::NoEndpoint | Fault::LinksExhausted | Fault::Limit(_))
}

/// Whether an endpoint has failed, or has responded that it cannot serve the request.
fn is_error(fault: Fault) -> bool {
    if let Fault::RetryStatus(status) = fault {
        return status == NOT_FOUND || status >= 500;
    }
    fault.blames_endpoint() || fault == Fault::LinkStale
}

const NOT_FOUND: u16 = 404;
