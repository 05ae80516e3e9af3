//! End of an attempt that has completed or failed.

use crate::exchange::attempt::{Attempt, AttemptEnd, again, note_failure, retry_or_fail};
use crate::exchange::context::ExchangeCx;
use crate::exchange::phase::ExchangePhase;
use crate::exchange::transfer::run::Transfer;
use crate::exchange::{filter, grpc, site};
use crate::fault::Fault;
use crate::upstream::UpstreamChannel;

impl Transfer<'_, '_> {
    /// Returns the link to the pool, starts the tunnel, retries, or responds with the fault.
    pub(super) fn end(self, result: Result<(), AttemptEnd>) -> ExchangePhase {
        let Self { ctx, attempt, .. } = self;
        if result.is_ok() && ctx.exchange.upgrade.is_done() {
            // The permit is not held during a tunnel, which may last for days.
            ctx.exchange.retry_permit = None;
            return ExchangePhase::Tunnel(attempt);
        }
        let attempt = attempt.into_attempt();
        match result {
            Ok(()) => complete(ctx, attempt),
            Err(AttemptEnd::Failed(fault)) => fail(ctx, attempt, fault),
            Err(AttemptEnd::Deferred) => {
                leave(ctx, attempt);
                ExchangePhase::HedgedLink
            }
            Err(AttemptEnd::Repeated) => {
                drop(attempt);
                again(ctx)
            }
            Err(AttemptEnd::ErrorPage(status)) => {
                drop(attempt);
                ctx.exchange.end_attempts(&ctx.worker.buffers);
                site::replace_answer(ctx, status)
            }
            Err(AttemptEnd::FilterReply) => {
                drop(attempt);
                ctx.exchange.end_attempts(&ctx.worker.buffers);
                filter::answer(ctx)
            }
        }
    }
}

fn complete(ctx: &mut ExchangeCx<'_>, attempt: Attempt) -> ExchangePhase {
    let exchange = &mut *ctx.exchange;
    let is_clean = exchange.response.keep_alive
        && exchange.upload.is_finished()
        && !attempt.is_upload_broken
        && exchange.response_input.is_empty();
    let Attempt { guard, upstream, .. } = attempt;
    if let (true, UpstreamChannel::Link(link)) = (is_clean, upstream) {
        guard.return_link(link, ctx.worker.timers.now());
    }
    exchange.end_attempts(&ctx.worker.buffers);
    ExchangePhase::Finish
}

fn fail(ctx: &mut ExchangeCx<'_>, attempt: Attempt, fault: Fault) -> ExchangePhase {
    let fault = grpc::fault_at_deadline(ctx.exchange, fault);
    attempt.give_up(fault);
    let now = ctx.worker.timers.now();
    if ctx.exchange.is_answered {
        note_failure(&attempt.guard, fault, now);
        drop(attempt);
        ctx.exchange.end_attempts(&ctx.worker.buffers);
        ctx.exchange.fault = Some(fault);
        return ExchangePhase::Finish;
    }
    let is_connecting = ctx.exchange.hedge.as_ref().is_some_and(|hedge| hedge.is_connecting());
    if is_connecting && fault.ends_attempt_only() {
        note_failure(&attempt.guard, fault, now);
        leave(ctx, attempt);
        return ExchangePhase::HedgedLink;
    }
    let Attempt { guard, upstream, .. } = attempt;
    drop(upstream);
    retry_or_fail(ctx, Some(&guard), fault)
}

/// Ends one attempt; those that wait for their links go on.
fn leave(ctx: &mut ExchangeCx<'_>, attempt: Attempt) {
    drop(attempt);
    ctx.worker.buffers.release(&mut ctx.exchange.response_input);
}
