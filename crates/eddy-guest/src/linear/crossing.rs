//! Crossings into a module over linear memory.

use std::mem::offset_of;
use std::sync::atomic::Ordering::Relaxed;

use eddy_filter::{EDITS_BYTES_MAX, ExchangeInfo, ExchangeView, FilterEvent, LibraryCall};

use super::image::GuestMemoryWriter;
use super::instance::{LinearCallFailure, LinearInstance};
use super::lane::{Numbers, States};
use super::layout::{self, ResultAddresses};
use crate::failure::GuestFailure;
use crate::native::abi;
use crate::native::answer::{self, NativeCallResult};

/// Enters the filters of a call. On an error, the instance must be replaced; the call is completed nevertheless.
///
/// # Cost
/// One copy of the view; no allocation, unless the module's buffer or the edit log grows.
pub(super) fn run(
    instance: &mut LinearInstance,
    filters: &[u64],
    configs: &[u64],
    states: &mut States,
    call: &mut LibraryCall<'_>,
) -> Result<(), LinearCallFailure> {
    let lost = call.steps.iter().position(|step| states.is_lost(step.state));
    let count = lost.unwrap_or(call.steps.len());
    call.current.store(call.steps.first().map_or(0, |step| step.id), Relaxed);
    let numbers = Numbers { filters, configs, states };
    instance.store.data_mut().filter = match call.steps {
        [only] => only.id,
        _ => 0,
    };
    let entered = enter(instance, &numbers, call, count);
    call.current.store(0, Relaxed);
    for end in call.ended {
        states.end(end.state);
    }
    let ran = match entered {
        Ok((laid, ran)) => {
            take(instance, states, call, &laid, count, ran.is_ok());
            ran
        }
        Err(ended) => Err(ended),
    };
    match (&ran, lost) {
        (Err(LinearCallFailure(why)), _) => {
            let index = call.stopped.min(call.steps.len().saturating_sub(1));
            why.with_message(format!("the module failed: {why}")).blame(call, index);
        }
        (Ok(()), Some(index)) if call.stopped == call.steps.len() => {
            GuestFailure::from(LOST).blame(call, index);
        }
        (Ok(()), _) => {}
    }
    ran
}

type Entered = (ResultAddresses, Result<(), LinearCallFailure>);

fn enter(
    instance: &mut LinearInstance,
    numbers: &Numbers<'_>,
    call: &mut LibraryCall<'_>,
    count: usize,
) -> Result<Entered, LinearCallFailure> {
    let about = call.view.map_or(ExchangeInfo::UNKNOWN, ExchangeView::about);
    let needed = layout::bytes_of(call, &about);
    let (base, room) = instance.room(needed).inspect_err(|_| call.stopped = 0)?;
    let laid = layout::write_call(&mut GuestMemoryWriter::new(room, base), call, &about, count, numbers);
    let ran = instance.run(laid.call);
    Ok((laid, ran))
}

/// Reads the results of a module. If the call failed, the edits of the filters before count, and `stopped` is the index
/// of the filter that was entered.
fn take(
    instance: &LinearInstance,
    states: &mut States,
    call: &mut LibraryCall<'_>,
    laid: &ResultAddresses,
    count: usize,
    is_whole: bool,
) {
    let memory = instance.memory();
    let number = |offset: usize| memory.u32(laid.call + offset as u64);
    let (edits_len, edits_cap) =
        (number(offset_of!(abi::NativeCall, edits_len)), number(offset_of!(abi::NativeCall, edits_cap)));
    let log = call.edits.bytes_mut();
    let base = log.len();
    let edits = memory
        .bytes(memory.u64(laid.call + offset_of!(abi::NativeCall, edits) as u64), u64::from(edits_len))
        .filter(|edits| base + edits.len() <= EDITS_BYTES_MAX);
    let room = if let Some(edits) = edits {
        log.extend_from_slice(edits);
        edits_cap
    } else {
        // The edits are outside the memory or too large: the result is refused like one with more edits than room.
        0
    };
    if !is_whole {
        let current = memory.u32(laid.current);
        call.stopped = call.steps.iter().position(|step| step.id == current).unwrap_or(0);
        return;
    }
    // SAFETY: `answer::take` makes the verdicts valid.
    let steps = unsafe { answer::native_steps(call.steps) };
    for (index, step) in steps.iter_mut().enumerate().take(count) {
        let at = laid.steps + (index * size_of::<abi::NativeStep>()) as u64;
        step.state = states.put(step.state, memory.u64(at + offset_of!(abi::NativeStep, state) as u64));
        step.nanos = memory.u32(at + offset_of!(abi::NativeStep, nanos) as u64);
        step.verdict = memory.u8(at + offset_of!(abi::NativeStep, verdict) as u64);
    }
    let stopped = number(offset_of!(abi::NativeCall, stopped));
    answer::take(&NativeCallResult { count, stopped, edits_len, room, base }, call);
}

/// Delivers an event to a module.
pub(super) fn tell(instance: &mut LinearInstance, event: &FilterEvent<'_>) -> Result<(), LinearCallFailure> {
    instance.store.data_mut().filter = event.filter;
    let (base, room) = instance.room(layout::event_bytes(event))?;
    let at = layout::write_event(&mut GuestMemoryWriter::new(room, base), event);
    instance.event(at)
}

const LOST: &str = "the filter state of this exchange is lost, because the module failed in another exchange \
     and was restarted";
