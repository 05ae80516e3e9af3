//! The objects behind the host's numbers, and the execution of a call's filters.

use std::sync::Arc;
use std::time::Instant;

use crate::abi;
use crate::blocking;
use crate::crossing::CallContext;
use crate::edit_log::{EditLog, HostRoom};
use crate::filter::End;
use crate::host;
use crate::instance::FilterInstance;
use crate::metric::OnWorker;
use crate::paused::{FilterPosition, fault_record};
use crate::phase::Phase;
use crate::view::CallView;

/// A filter, or its replacement for a rule; the host holds a counted reference to it as a number.
pub(crate) struct FilterSlot {
    instance: Box<dyn FilterInstance>,
    id: u32,
}

impl FilterSlot {
    pub(crate) fn new(instance: Box<dyn FilterInstance>, id: u32) -> Arc<Self> {
        Arc::new(Self { instance, id })
    }

    pub(crate) fn instance(&self) -> &dyn FilterInstance {
        &*self.instance
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Converts the reference to the number that the host holds.
    pub(crate) fn into_number(self: Arc<Self>) -> u64 {
        Arc::into_raw(self).expose_provenance() as u64
    }

    /// Returns the object of a host's number.
    ///
    /// # Safety
    /// `number` was returned by [`Self::into_number`] and is not taken back during `'a`.
    pub(crate) unsafe fn of<'a>(number: u64) -> &'a Self {
        // SAFETY: the host's reference keeps it alive, as guaranteed by the caller.
        unsafe { &*Self::pointer(number) }
    }

    /// Returns another reference in addition to the host's.
    ///
    /// # Safety
    /// As [`Self::of`], during this call.
    pub(crate) unsafe fn share(number: u64) -> Arc<Self> {
        // SAFETY: the host's reference keeps it alive, as guaranteed by the caller.
        unsafe { Arc::increment_strong_count(Self::pointer(number)) };
        // SAFETY: this is the reference just counted.
        unsafe { Arc::from_raw(Self::pointer(number)) }
    }

    /// Takes over the host's reference.
    ///
    /// # Safety
    /// `number` was returned by [`Self::into_number`] and is not used any more.
    pub(crate) unsafe fn take(number: u64) -> Arc<Self> {
        // SAFETY: the reference is ours to release, as guaranteed by the caller.
        unsafe { Arc::from_raw(Self::pointer(number)) }
    }

    fn pointer(number: u64) -> *const Self {
        std::ptr::with_exposed_provenance(usize::try_from(number).unwrap_or_default())
    }
}

/// Calls the filters of a call, one after the other, until one does not continue.
///
/// # Safety
/// `call` is a call of the host that follows the ABI: valid while this runs, with numbers returned by this library.
pub(crate) unsafe fn run(call: *mut abi::AbiCall) {
    // SAFETY: the call and the data that it points to are valid and, but for the edits, unchanged while this runs.
    let view = unsafe { CallView::new(call) };
    let &abi::AbiCall { worker, current, steps, steps_len, .. } = view.call();
    let _on_worker = OnWorker::enter(worker);
    // SAFETY: the ends and the location of the filter's number are the host's, as guaranteed by the caller.
    unsafe { handle_ended(view.ended(), current) };
    let (Some(phase), Some(host)) = (view.phase(), host::host()) else { return };
    let is_sampled = view.has(abi::CALL_SAMPLED);
    // SAFETY: this is the thread of the call, and nothing else accesses its edits while this runs.
    let room = unsafe { HostRoom::new(call, host.edits_grow) };
    let crossing = CallContext::new(view, phase, &[], EditLog::Host(room));
    let mut stopped = steps_len;
    for index in 0..steps_len {
        // SAFETY: the host provides `steps_len` steps there.
        let step = unsafe { steps.add(index as usize) };
        // SAFETY: the step is valid, and nothing else accesses it while this runs.
        let step = unsafe { &mut *step };
        // SAFETY: the location is the host's, as guaranteed by the caller.
        unsafe { write_current(current, step.id) };
        let started = is_sampled.then(Instant::now);
        // SAFETY: the step's numbers were returned by this library.
        step.verdict = unsafe { enter(step, index, &crossing) };
        if let Some(started) = started {
            step.nanos = u32::try_from(started.elapsed().as_nanos()).unwrap_or(u32::MAX);
        }
        // An ended exchange cannot be stopped: every filter may log it.
        if step.verdict != abi::CONTINUE && phase != Phase::Log {
            stopped = index;
            break;
        }
    }
    // SAFETY: the location is the host's, as guaranteed by the caller.
    unsafe { write_current(current, 0) };
    drop(crossing);
    // SAFETY: the call is valid for writing, and no reference to it is alive.
    let call = unsafe { &mut *call };
    call.stopped = stopped;
}

/// Calls one filter.
///
/// # Safety
/// The numbers in the step were returned by this library, and their objects are alive.
unsafe fn enter(step: &mut abi::AbiStep, index: u32, crossing: &CallContext<'_>) -> u8 {
    let call = crossing.view.call();
    let number = if step.config == 0 { step.filter } else { step.config };
    let place = FilterPosition {
        slot: number,
        exchange: call.exchange,
        turn: call.turn,
        filter: step.id,
        // A chain has far fewer than 65,536 filters.
        step: u16::try_from(index).unwrap_or(u16::MAX),
        phase: crossing.phase,
    };
    if step.flags & abi::STEP_BLOCKING == 0 {
        // SAFETY: guaranteed by the caller.
        let slot = unsafe { FilterSlot::of(number) };
        // SAFETY: the state is the value left in the step by an earlier call.
        return unsafe { slot.instance().enter(crossing, place, &mut step.state) };
    }
    // SAFETY: guaranteed by the caller.
    let slot = unsafe { FilterSlot::share(number) };
    if step.state == 0 {
        step.state = slot.instance().state_for_blocking();
    }
    // SAFETY: the state is of this filter, and the host holds it.
    unsafe { slot.instance().retain(step.state) };
    // SAFETY: the reference just counted is passed on.
    let detached = unsafe { blocking::enter(slot, place, step.state, crossing) };
    match detached {
        Ok(()) if crossing.phase == Phase::Log => abi::CONTINUE,
        Ok(()) => abi::PAUSE,
        Err(fault) => {
            // Without room for the message, the verdict has to suffice.
            let _ = crossing.append(fault_record(place.step, fault.message()));
            abi::FAULT
        }
    }
}

/// Releases the states of ended exchanges. Meanwhile `current` identifies their filters.
///
/// # Safety
/// The ends are of filters and states of this library; each state is reported once. `current` is null or the host's
/// location.
unsafe fn handle_ended(ended: &[abi::AbiExchangeEnd], current: *mut u32) {
    if ended.is_empty() {
        return;
    }
    for ended in ended {
        if ended.filter == 0 || ended.state == 0 {
            continue;
        }
        let end = End::from_number(ended.reason);
        let state = ended.state;
        // SAFETY: guaranteed by the caller.
        let slot = unsafe { FilterSlot::share(ended.filter) };
        // SAFETY: the state is of this filter, and still held by the host.
        let is_blocking = unsafe { slot.instance().is_blocking(state) };
        if !is_blocking {
            // SAFETY: the location is the host's, as guaranteed by the caller.
            unsafe { write_current(current, slot.id()) };
            // SAFETY: the state is reported once, so it is ours now.
            unsafe { slot.instance().end(state, end) };
            continue;
        }
        let elsewhere = Box::new(move || {
            // SAFETY: the state is reported once, so it is ours now.
            unsafe { slot.instance().end(state, end) };
        });
        if let Err(fault) = blocking::run(elsewhere) {
            host::log(0, abi::ERROR, &format!("the state of an exchange was not released: {fault}"));
        }
    }
    // SAFETY: the location is the host's, as guaranteed by the caller.
    unsafe { write_current(current, 0) };
}

/// Records which filter this thread is executing; another process may read it.
///
/// # Safety
/// `current` is null or the host's location for it.
unsafe fn write_current(current: *mut u32, id: u32) {
    if !current.is_null() {
        // SAFETY: the location is the host's, aligned and valid during the call.
        unsafe { current.write_volatile(id) };
    }
}
