//! The end of an exchange, as its filters hear of it.

use std::rc::Rc;

use eddy_filter::{EndReason, Phase};

use crate::exchange::drive::Drive;
use crate::exchange::filter::enter::{Range, end_states, enter, flush_ended};
use crate::exchange::filter::wait::abandon;

/// Shows the exchange to the filters that log.
pub(crate) fn log(drive: &mut Drive<'_>, duration_us: u64) {
    if drive.exchange.filtering.handle.is_none() {
        return;
    }
    abandon(drive);
    drive.exchange.filtering.duration_us = duration_us;
    // Verdicts mean nothing any more.
    let _ = enter(drive, Phase::Log, Range::ALL, true, false);
    drive.exchange.filtering.request.wait = None;
}

/// Ends the exchange for its filters: its handle names nothing from here on.
pub(crate) fn finish(drive: &mut Drive<'_>, reason: EndReason) {
    let Some(handle) = drive.exchange.filtering.handle.take() else { return };
    let worker = drive.worker;
    worker.crossing.slots.borrow_mut().close(worker.crossing.host.table(), handle);
    let plan = Rc::clone(&drive.plan);
    let filtering = &mut drive.exchange.filtering;
    if let Some(chain) = plan.chain(drive.index, filtering.chain) {
        end_states(worker, chain, &mut filtering.states, reason);
    }
    if !Rc::ptr_eq(&plan, &worker.plan()) {
        // The old plan may go with this exchange, and its filters with it.
        flush_ended(worker);
    }
}
