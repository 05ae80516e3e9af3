//! Failover to another cluster when one cannot serve a request.

use std::rc::Rc;

use eddy_config::FailoverReason;
use eddy_upstream::TriedEndpoints;

use crate::exchange::attempt::outcome::AttemptFailure;
use crate::exchange::context::ExchangeCx;
use crate::fault::{Fault, RetryClass};
use crate::upstream::WorkerCluster;

/// Returns whether the exchange moves to another cluster after `failure`; if so, that cluster becomes the current one.
///
/// Failover does not draw on a retry budget: no endpoint of the new cluster was tried before.
pub(crate) fn claim(ctx: &mut ExchangeCx<'_>, failure: AttemptFailure) -> bool {
    let Some(next) = next(ctx, failure).cloned() else { return false };
    if let Some(cluster) = &ctx.route.cluster {
        cluster.series.left.increment();
    }
    ctx.route.cluster = Some(next);
    let exchange = &mut *ctx.exchange;
    exchange.clusters_failed = exchange.clusters_failed.saturating_add(1);
    exchange.earlier_cluster_attempts = exchange.attempts;
    exchange.tried = TriedEndpoints::new();
    exchange.retry_permit = None;
    exchange.upload_slot = None;
    true
}

/// Returns the next cluster of the rule for `failure`.
pub(crate) fn next<'c>(ctx: &'c ExchangeCx<'_>, failure: AttemptFailure) -> Option<&'c Rc<WorkerCluster>> {
    let exchange = &*ctx.exchange;
    let action = ctx.route.action.as_ref()?;
    let left = usize::from(exchange.clusters_failed);
    let (next, cluster) = action.config.failover.get(left).zip(action.failover.get(left))?;
    let is_unseen = is_unreachable(failure);
    let is_safe = !exchange.is_consumed() && !exchange.is_answered && (is_unseen || exchange.may_resend());
    let is_reason = |reason: &FailoverReason| match reason {
        FailoverReason::Any => is_unseen || is_error(failure),
        FailoverReason::Unreachable => is_unseen,
        FailoverReason::NotFound => failure == AttemptFailure::Status(NOT_FOUND),
    };
    (is_safe && next.when.iter().any(is_reason)).then_some(cluster)
}

/// Whether no endpoint of the cluster has seen the request.
fn is_unreachable(failure: AttemptFailure) -> bool {
    let AttemptFailure::Fault(fault) = failure else { return false };
    fault.retry() == RetryClass::NotSeen
        || matches!(fault, Fault::NoEndpoint | Fault::LinksExhausted | Fault::Limit(_))
}

/// Whether an endpoint has failed, or has responded that it cannot serve the request.
fn is_error(failure: AttemptFailure) -> bool {
    match failure {
        AttemptFailure::Fault(fault) => fault.blames_endpoint() || fault == Fault::LinkStale,
        AttemptFailure::Status(status) => status == NOT_FOUND || status >= 500,
        AttemptFailure::Grpc(_) => false,
    }
}

const NOT_FOUND: u16 = 404;
