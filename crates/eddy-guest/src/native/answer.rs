//! Validation of a guest's results: any violation of the ABI is a fault of the guest.

use std::fmt::Write;
use std::mem::offset_of;

use eddy_filter::{FilterEdit, FilterInvocation, LibraryCall, Phase, Verdict};

use super::abi;

/// Result of a guest, as in memory, besides those of the steps.
#[derive(Clone, Copy)]
pub(crate) struct NativeCallResult {
    /// Number of steps that the guest was given.
    pub(crate) count: usize,
    pub(crate) stopped: u32,
    pub(crate) edits_len: u32,
    /// Room for edits that the guest had, in bytes.
    pub(crate) room: u32,
    /// Offset of its edits in the log.
    pub(crate) base: usize,
}

/// Violation of the ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AbiViolation {
    /// More edits than room.
    Edits { len: u32, room: u32 },
    /// Invalid step index.
    Stopped(u32),
    /// Invalid verdict.
    Verdict(u8),
    /// A step before the last one did not continue.
    Order,
    /// The last step entered continues.
    Stop,
}

/// Returns the steps of a call as a guest reads and writes them.
///
/// # Safety
/// Verdicts written are made valid before the steps are used again: [`take`] does that.
#[inline]
pub(crate) unsafe fn native_steps(steps: &mut [FilterInvocation]) -> &mut [abi::NativeStep] {
    // SAFETY: both have the same layout (asserted below), every pattern is a valid native step, and so is every step
    // that is written, except for its verdict, for which the caller cares.
    unsafe { std::slice::from_raw_parts_mut(steps.as_mut_ptr().cast(), steps.len()) }
}

/// Validates a result and writes it into the call, whose steps may have verdicts that do not exist.
#[inline]
pub(crate) fn take(answer: &NativeCallResult, call: &mut LibraryCall<'_>) {
    // SAFETY: every verdict is made valid here.
    let steps = unsafe { native_steps(call.steps) };
    let checked = check(answer, steps.get(..answer.count).unwrap_or(steps));
    for step in steps {
        step.verdict = Verdict::Continue as u8;
    }
    call.stopped = call.steps.len();
    let Some(view) = call.view else {
        call.edits.truncate(answer.base);
        return;
    };
    if view.phase == Phase::Log {
        // Edits and verdicts have no effect in this phase.
        call.edits.truncate(answer.base);
        return;
    }
    match checked {
        Ok(None) => {}
        Ok(Some((index, verdict))) => stop_at(call, index, verdict),
        Err((index, broken)) => blame(call, answer.base, index, broken),
    }
}

/// Returns the step that did not continue, if any.
///
/// # Errors
/// The violation, and the index of the step to blame.
#[inline]
fn check(
    answer: &NativeCallResult,
    steps: &[abi::NativeStep],
) -> Result<Option<(usize, Verdict)>, (usize, AbiViolation)> {
    let stopped = answer.stopped as usize;
    if stopped > steps.len() {
        return Err((0, AbiViolation::Stopped(answer.stopped)));
    }
    if answer.edits_len > answer.room {
        let index = stopped.min(steps.len().saturating_sub(1));
        return Err((index, AbiViolation::Edits { len: answer.edits_len, room: answer.room }));
    }
    let (before, rest) = steps.split_at(stopped);
    if let Some(index) = before.iter().position(|step| step.verdict != 0) {
        return Err((index, AbiViolation::Order));
    }
    let Some(step) = rest.first() else { return Ok(None) };
    match Verdict::from_number(u32::from(step.verdict)) {
        Some(Verdict::Continue) => Err((stopped, AbiViolation::Stop)),
        Some(verdict) => Ok(Some((stopped, verdict))),
        None => Err((stopped, AbiViolation::Verdict(step.verdict))),
    }
}

fn stop_at(call: &mut LibraryCall<'_>, index: usize, verdict: Verdict) {
    call.stopped = index;
    if let Some(step) = call.steps.get_mut(index) {
        step.verdict = verdict;
    }
}

#[cold]
fn blame(call: &mut LibraryCall<'_>, base: usize, index: usize, broken: AbiViolation) {
    // If it is unclear which steps were entered, all edits are dropped; otherwise the host drops only those of the
    // blamed filter.
    if matches!(broken, AbiViolation::Edits { .. } | AbiViolation::Stopped(_) | AbiViolation::Order) {
        call.edits.truncate(base);
    }
    let mut why = String::from("the library violates the filter ABI: ");
    // Writing to a string never fails.
    let _ = match broken {
        AbiViolation::Edits { len, room } => {
            write!(why, "it wrote {len} bytes of edits to a buffer of {room}")
        }
        AbiViolation::Stopped(index) => write!(why, "it stopped at step {index}, which does not exist"),
        AbiViolation::Verdict(number) => write!(why, "it returned verdict {number}, which does not exist"),
        AbiViolation::Order => write!(why, "it continued after a filter that did not continue"),
        AbiViolation::Stop => write!(why, "it stopped at a filter that continues"),
    };
    // If the log has no room for the reason, it is left out; the verdict still counts.
    let _ = call.edits.push(u16::try_from(index).unwrap_or(u16::MAX), &FilterEdit::Fault(why.as_bytes()));
    stop_at(call, index, Verdict::Fault);
}

// Steps are passed in place, so their layout is part of the ABI.
const _: () = {
    assert!(size_of::<FilterInvocation>() == size_of::<abi::NativeStep>());
    assert!(align_of::<FilterInvocation>() == align_of::<abi::NativeStep>());
    assert!(offset_of!(FilterInvocation, filter) == offset_of!(abi::NativeStep, filter));
    assert!(offset_of!(FilterInvocation, config) == offset_of!(abi::NativeStep, config));
    assert!(offset_of!(FilterInvocation, state) == offset_of!(abi::NativeStep, state));
    assert!(offset_of!(FilterInvocation, id) == offset_of!(abi::NativeStep, id));
    assert!(offset_of!(FilterInvocation, nanos) == offset_of!(abi::NativeStep, nanos));
    assert!(offset_of!(FilterInvocation, verdict) == offset_of!(abi::NativeStep, verdict));
    assert!(offset_of!(FilterInvocation, flags) == offset_of!(abi::NativeStep, flags));
    assert!(FilterInvocation::BLOCKING == abi::STEP_BLOCKING);
};
