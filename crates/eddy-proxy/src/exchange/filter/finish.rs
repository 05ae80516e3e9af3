//! End of an exchange, as filters see it.

use std::rc::Rc;

use eddy_filter::{EndReason, Phase};

use crate::exchange::filter::enter::{Range, end_states, enter, flush_ended};
use crate::exchange::filter::wait::abandon;
use crate::exchange::run::ExchangeCx;

/// Calls the filters of the log phase.
pub(crate) fn log(ctx: &mut ExchangeCx<'_>, duration_us: u64) {
    if ctx.exchange.filtering.handle.is_none() {
        return;
    }
    abandon(ctx);
    ctx.exchange.filtering.duration_us = duration_us;
    // Verdicts have no effect any more.
    let _ = enter(ctx, Phase::Log, Range::ALL, true, false);
    ctx.exchange.filtering.request.wait = None;
}

/// Ends the exchange for its filters; its handle is invalid from here on.
pub(crate) fn finish(ctx: &mut ExchangeCx<'_>, reason: EndReason) {
    let Some(handle) = ctx.exchange.filtering.handle.take() else { return };
    let worker = ctx.worker;
    worker.crossing.slots.borrow_mut().close(worker.crossing.host.table(), handle);
    let plan = Rc::clone(&ctx.plan);
    let filtering = &mut ctx.exchange.filtering;
    if let Some(chain) = plan.chain(ctx.index, filtering.chain) {
        end_states(worker, chain, &mut filtering.states, reason);
    }
    if !Rc::ptr_eq(&plan, &worker.plan()) {
        // The old plan, and its filters, may be freed with this exchange.
        flush_ended(worker);
    }
}
