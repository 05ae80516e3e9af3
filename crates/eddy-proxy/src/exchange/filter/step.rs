//! Parts of an exchange and of its chain that are there whenever its filters run.

use std::rc::Rc;

use eddy_filter::{ChainStep, Handle};

use crate::exchange::context::ExchangeCx;
use crate::resolved::WorkerChain;
use crate::stats::FilterSeries;

/// Returns the chain of an exchange that has filters.
pub(super) fn chain_of(ctx: &ExchangeCx<'_>) -> Rc<WorkerChain> {
    ctx.route.chain.clone().expect("a listener with filters has a chain for each request")
}

/// Returns the handle of an exchange whose filters have begun.
pub(super) fn handle_of(ctx: &ExchangeCx<'_>) -> Handle {
    ctx.exchange.filtering.handle.expect("filters begin with a handle, and keep it until they end")
}

/// Returns a step of a chain, also by an index into the chain of another rule of the listener.
pub(super) fn step_of(chain: &WorkerChain, place: u8) -> &ChainStep {
    chain.chain.steps().get(usize::from(place)).expect("all chains of a listener have a step for each filter")
}

/// Returns the counters of the filter of a step.
pub(super) fn series_of(chain: &WorkerChain, place: u8) -> &FilterSeries {
    chain.series(place).expect("each step of a chain has counters")
}
