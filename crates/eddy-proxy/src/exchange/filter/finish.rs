//! End of an exchange, as filters see it.

use std::rc::Rc;

use eddy_filter::{EndReason, PhaseCall};

use crate::exchange::context::ExchangeCx;
use crate::exchange::filter::enter::{end_states, enter, flush_ended};
use crate::exchange::filter::step::chain_of;
use crate::exchange::filter::wait::abandon;

/// Calls the filters of the log phase.
pub(crate) fn log(ctx: &mut ExchangeCx<'_>, duration_us: u64) {
    if ctx.exchange.filtering.handle.is_none() {
        return;
    }
    abandon(ctx);
    ctx.exchange.filtering.duration_us = duration_us;
    let chain = chain_of(ctx);
    let mut call = PhaseCall::log(&chain.chain, None);
    while let Some(entered) = call {
        // Verdicts have no effect any more.
        if enter(ctx, &chain, entered).is_err() {
            return;
        }
        call = PhaseCall::log(&chain.chain, Some(&entered));
    }
}

/// Ends the exchange for its filters; its handle is invalid from here on.
pub(crate) fn finish(ctx: &mut ExchangeCx<'_>, reason: EndReason) {
    let Some(handle) = ctx.exchange.filtering.handle.take() else { return };
    let worker = ctx.worker;
    worker.crossing.slots.borrow_mut().close(&worker.crossing.host.table, handle);
    end_states(worker, &chain_of(ctx), ctx.exchange.filtering.run.states_mut(), reason);
    if !Rc::ptr_eq(&ctx.plan, &worker.plan()) {
        // The old plan, and its filters, may be freed with this exchange.
        flush_ended(worker);
    }
}
