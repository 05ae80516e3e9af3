//! The steps of a call, for guests that are entered for each filter.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use eddy_filter::{ExchangeView, FilterInvocation, LibraryCall, Phase, Verdict};

use crate::failure::GuestFailure;

/// Enters the filters of a call, each by `enter` with its step and index, until one does not continue. The edits of a
/// filter that fails are dropped.
pub(crate) fn enter_steps<'c>(
    call: &mut LibraryCall<'c>,
    mut enter: impl FnMut(
        &mut LibraryCall<'c>,
        &ExchangeView<'c>,
        &mut FilterInvocation,
        u16,
    ) -> Result<Verdict, GuestFailure>,
) {
    call.stopped = call.steps.len();
    let Some(view) = call.view else { return };
    for index in 0..call.steps.len() {
        let Some(mut step) = call.steps.get(index).copied() else { break };
        call.current.store(step.id, Relaxed);
        let started = call.is_sampled.then(Instant::now);
        let base = call.edits.len();
        let position = u16::try_from(index).unwrap_or(u16::MAX);
        step.verdict = match enter(call, view, &mut step, position) {
            Ok(verdict) => verdict,
            Err(why) => {
                call.edits.bytes_mut().truncate(base);
                // If the log has no room for the reason, it is omitted.
                let _ = call.edits.push(position, &why.edit());
                Verdict::Fault
            }
        };
        if let Some(started) = started {
            step.nanos = u32::try_from(started.elapsed().as_nanos()).unwrap_or(u32::MAX);
        }
        let verdict = step.verdict;
        if let Some(place) = call.steps.get_mut(index) {
            *place = step;
        }
        if verdict != Verdict::Continue && view.phase != Phase::Log {
            call.stopped = index;
            break;
        }
    }
    call.current.store(0, Relaxed);
}
