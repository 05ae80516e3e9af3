//! Links for hedged attempts: the attempt that gets its link first becomes the current one.

use std::future::poll_fn;
use std::task::{Context, Poll};

use crate::exchange::attempt::note_failure_at;
use crate::exchange::due::Due;
use crate::exchange::hedge::begin::begin_due;
use crate::exchange::hedge::state::{AttemptInfo, ConnectingAttempt, HedgedAttempt};
use crate::exchange::run::ExchangeCx;
use crate::exchange::watch::{Watch, poll_patience, until_linked};
use crate::fault::Fault;
use crate::link::UpstreamChannel;
use crate::worker::EndpointGuard;

/// Outcome of an attempt that waited for its link.
pub(crate) enum AttemptLinkOutcome {
    /// The attempt with its link.
    Linked(Box<HedgedAttempt>),
    /// The attempt's guard and the reason why it has no link.
    Failed(EndpointGuard, Fault),
}

/// Obtains a link for the attempt that begins, or for another one started meanwhile. The endpoint guard of the linked
/// attempt becomes the exchange's.
///
/// # Errors
/// The fault of the last attempt, when no attempt got a link.
pub(crate) async fn obtain(ctx: &mut ExchangeCx<'_>) -> Result<UpstreamChannel, Fault> {
    let exchange = &mut *ctx.exchange;
    if let (Some(hedge), Some(guard)) = (&mut exchange.hedge, exchange.guard.take()) {
        let entry = AttemptInfo { due_ms: exchange.attempt_due_ms, source: hedge.source };
        hedge.coming.push(ConnectingAttempt::begin(ctx.worker, guard, entry));
    }
    let mut watch = until_linked(exchange);
    poll_fn(|cx| poll_obtain(ctx, cx, &mut watch)).await
}

fn poll_obtain(
    ctx: &mut ExchangeCx<'_>,
    cx: &mut Context<'_>,
    watch: &mut Option<Watch>,
) -> Poll<Result<UpstreamChannel, Fault>> {
    begin_due(ctx);
    while let Poll::Ready(came) = poll_coming(ctx, cx) {
        let exchange = &mut *ctx.exchange;
        let Some(hedge) = &mut exchange.hedge else { return Poll::Ready(Err(Fault::NoEndpoint)) };
        match came {
            AttemptLinkOutcome::Linked(rival) => {
                let HedgedAttempt { guard, upstream, due_ms, source, .. } = *rival;
                hedge.source = source;
                exchange.attempt_due_ms = due_ms;
                exchange.endpoint = Some(guard.address.clone());
                exchange.guard = Some(guard);
                return Poll::Ready(Ok(upstream));
            }
            AttemptLinkOutcome::Failed(guard, fault) if hedge.is_coming() => {
                note_failure_at(&guard, fault, ctx.worker.timers.now_ms());
            }
            AttemptLinkOutcome::Failed(guard, fault) => {
                exchange.guard = Some(guard);
                return Poll::Ready(Err(fault));
            }
        }
    }
    let due = Due { at_ms: ctx.exchange.due_ms, fault: Fault::ExchangeTimeout };
    let wakes_ms = ctx.exchange.hedge.as_ref().map_or(u64::MAX, |hedge| hedge.due_ms);
    let ended = poll_patience(cx, ctx.down, ctx.worker, watch, due, wakes_ms);
    ended.map(Err)
}

/// Waits until one of the attempts without a link gets one, or fails to.
pub(crate) fn poll_coming(ctx: &mut ExchangeCx<'_>, cx: &mut Context<'_>) -> Poll<AttemptLinkOutcome> {
    let Some(hedge) = &mut ctx.exchange.hedge else { return Poll::Pending };
    for index in 0..hedge.coming.len() {
        let Some(coming) = hedge.coming.get_mut(index) else { break };
        if let Poll::Ready((entry, guard, link)) = coming.poll(cx) {
            hedge.coming.swap_remove(index);
            let now_ms = ctx.worker.timers.now_ms();
            return Poll::Ready(match link {
                Ok(upstream) => {
                    AttemptLinkOutcome::Linked(Box::new(HedgedAttempt::new(entry, guard, upstream, now_ms)))
                }
                Err(fault) => AttemptLinkOutcome::Failed(guard, fault),
            });
        }
    }
    Poll::Pending
}
