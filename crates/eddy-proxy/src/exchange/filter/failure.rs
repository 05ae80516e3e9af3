//! Failures of filters: how they are counted, and whether the exchange fails with them.

use eddy_filter::FailureOutcome;

use crate::exchange::context::ExchangeCx;
use crate::exchange::filter::step::{series_of, step_of};
use crate::fault::Fault;
use crate::resolved::WorkerChain;
use crate::stats::{FILTER_FAULT_LABELS, FailureKind};

/// Counts and logs a failure. Returns the fault that ends the exchange, or `None` when the filter is skipped instead.
pub(crate) fn fail(
    ctx: &mut ExchangeCx<'_>,
    chain: &WorkerChain,
    place: u8,
    kind: FailureKind,
    why: &str,
) -> Option<Fault> {
    let step = step_of(chain, place);
    let now = ctx.worker.timers.now();
    if let Some(unreported) = series_of(chain, place).failed(kind, now) {
        let cause = FILTER_FAULT_LABELS[kind as usize];
        tracing::error!(filter = &*step.filter.name, cause, unreported, "a filter failed: {why}");
    }
    match ctx.exchange.filtering.run.fail(place, step.filter.policy.on_failure) {
        FailureOutcome::LeftOut => None,
        FailureOutcome::Failed => Some(fault_of(kind)),
    }
}

fn fault_of(kind: FailureKind) -> Fault {
    match kind {
        FailureKind::Fault | FailureKind::Edit | FailureKind::Memory | FailureKind::Cpu => {
            Fault::FilterFailed
        }
        FailureKind::Timeout => Fault::FilterTimeout,
        FailureKind::Body => Fault::FilterBody,
    }
}
