//! End of an attempt that has completed or failed.

use crate::exchange::attempt::{note_failure, retry_or_fail};
use crate::exchange::filter;
use crate::exchange::phase;
use crate::exchange::transfer::race::give_up;
use crate::exchange::transfer::run::Transfer;
use crate::fault::Fault;
use crate::link::UpstreamChannel;

impl Transfer<'_, '_> {
    /// Returns the link to the pool, starts the tunnel, retries, or responds with the fault.
    pub(super) fn end(self, result: Result<(), Fault>) -> phase::ExchangePhase {
        let Self { ctx, upstream, upstream_moved_ms, .. } = self;
        match result {
            Ok(()) if ctx.exchange.upgrade.is_done() => {
                ctx.exchange.upstream = Some(upstream);
                // The permit is not held during a tunnel, which may last for days.
                ctx.exchange.retry_place = None;
                phase::ExchangePhase::Tunnel
            }
            Ok(()) => {
                let exchange = &mut *ctx.exchange;
                let is_clean = exchange.response.keep_alive
                    && exchange.upload.is_finished()
                    && !self.is_upload_broken
                    && exchange.response_input.is_empty();
                if let (true, Some(guard), UpstreamChannel::Link(link)) =
                    (is_clean, &exchange.guard, upstream)
                {
                    let cluster = guard.cluster();
                    let id = guard.lease().endpoint();
                    let now_ms = ctx.worker.timers.now_ms();
                    cluster.pools().borrow_mut().at(id).put(link, &cluster.config.pool, now_ms);
                }
                exchange.end_attempt(&ctx.worker.buffers);
                phase::ExchangePhase::Finish
            }
            Err(Fault::FilterReply) => {
                drop(upstream);
                ctx.exchange.end_attempt(&ctx.worker.buffers);
                filter::answer(ctx)
            }
            Err(fault) if ctx.exchange.is_answered => {
                give_up(&upstream, fault, upstream_moved_ms);
                ctx.exchange.fault = Some(fault);
                note_failure(ctx, fault);
                ctx.exchange.end_attempt(&ctx.worker.buffers);
                phase::ExchangePhase::Finish
            }
            Err(fault) => {
                give_up(&upstream, fault, upstream_moved_ms);
                drop(upstream);
                let is_coming = ctx.exchange.hedge.as_ref().is_some_and(|hedge| hedge.is_coming());
                if is_coming && fault.is_of_attempt() {
                    note_failure(ctx, fault);
                    ctx.exchange.leave_endpoint(&ctx.worker.buffers);
                    return phase::ExchangePhase::Link;
                }
                retry_or_fail(ctx, fault)
            }
        }
    }
}
