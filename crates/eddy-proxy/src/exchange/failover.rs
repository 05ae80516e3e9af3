//! To another cluster, where one could not serve a request.

use eddy_config::FailoverReason;
use eddy_upstream::Tried;

use crate::exchange::attempt::{cluster, fail};
use crate::exchange::phase::ExchangePhase;
use crate::exchange::run::ExchangeCx;
use crate::fault::{Fault, RetryClass};

/// Goes on to the next cluster of the rule where it has one for `fault`; otherwise answers the fault.
pub(super) fn go_on_or_fail(ctx: &mut ExchangeCx<'_>, fault: Fault) -> ExchangePhase {
    if !claim(ctx, fault) {
        return fail(ctx, fault);
    }
    ctx.exchange.end_attempt(&ctx.worker.buffers);
    ExchangePhase::Endpoint
}

/// Whether the exchange goes on at another cluster after `fault`; from then on that one is its own.
///
/// That takes nothing of a budget: nobody there was asked before.
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

/// The cluster that is next for `fault`.
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

/// Whether no endpoint of the cluster has looked at the request.
fn is_unreachable(fault: Fault) -> bool {
    fault.retry() == RetryClass::Unseen
        || matches!(fault, Fault::NoEndpoint | Fault::LinksExhausted | Fault::Limit(_))
}

/// Whether an endpoint has failed, or has answered that it can't serve the request.
fn is_error(fault: Fault) -> bool {
    if let Fault::RetryStatus(status) = fault {
        return status == NOT_FOUND || status >= 500;
    }
    fault.blames_endpoint() || fault == Fault::LinkStale
}

const NOT_FOUND: u16 = 404;
