//! What the host's numbers stand for, and a crossing through the filters of a call.

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

/// A filter, or what takes its place for a rule; the host keeps a counted reference to it as a number.
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

    /// The number that the host keeps.
    pub(crate) fn into_number(self: Arc<Self>) -> u64 {
        Arc::into_raw(self).expose_provenance() as u64
    }

    /// What a number of the host stands for.
    ///
    /// # Safety
    /// `number` is of [`Self::into_number`] and not taken back for `'a`.
    pub(crate) unsafe fn of<'a>(number: u64) -> &'a Self {
        // SAFETY: the host's reference keeps it alive, as the caller says.
        unsafe { &*Self::pointer(number) }
    }

    /// Another reference beside the host's.
    ///
    /// # Safety
    /// As [`Self::of`], for the moment.
    pub(crate) unsafe fn share(number: u64) -> Arc<Self> {
        // SAFETY: the host's reference keeps it alive, as the caller says.
        unsafe { Arc::increment_strong_count(Self::pointer(number)) };
        // SAFETY: this is the reference just counted.
        unsafe { Arc::from_raw(Self::pointer(number)) }
    }

    /// Takes the host's reference back.
    ///
    /// # Safety
    /// `number` is of [`Self::into_number`] and used no more.
    pub(crate) unsafe fn take(number: u64) -> Arc<Self> {
        // SAFETY: as the caller says, the reference is ours to count down.
        unsafe { Arc::from_raw(Self::pointer(number)) }
    }

    fn pointer(number: u64) -> *const Self {
        std::ptr::with_exposed_provenance(usize::try_from(number).unwrap_or_default())
    }
}

/// Enters the filters of a call, one after the other, until one does not continue.
///
/// # Safety
/// `call` is a call of the host by the contract: valid while this runs, with numbers that this library gave.
pub(crate) unsafe fn run(call: *mut abi::AbiCall) {
    // SAFETY: the call is valid for reading.
    let seen = unsafe { call.read() };
    let _on_worker = OnWorker::enter(seen.worker);
    // SAFETY: what the call points to is valid and unchanged while this runs.
    let view = unsafe { CallView::new(seen) };
    // SAFETY: the ends and the place for the filter's number are the host's, as the caller says.
    unsafe { handle_ended(view.ended(), seen.current) };
    let (Some(phase), Some(host)) = (view.phase(), host::host()) else { return };
    let is_sampled = view.has(abi::CALL_SAMPLED);
    // SAFETY: this is the thread of the call, and nobody else touches its edits while this runs.
    let room = unsafe { HostRoom::new(call, host.edits_grow) };
    let crossing = CallContext::new(view, phase, &[], EditLog::Host(room));
    let mut stopped = seen.steps_len;
    for index in 0..seen.steps_len {
        // SAFETY: the host has `steps_len` steps there.
        let step = unsafe { seen.steps.add(index as usize) };
        // SAFETY: the step is valid, and while this runs nobody else touches it.
        let step = unsafe { &mut *step };
        // SAFETY: the place is the host's, as the caller says.
        unsafe { write_current(seen.current, step.id) };
        let started = is_sampled.then(Instant::now);
        // SAFETY: the step's numbers are what this library gave.
        step.verdict = unsafe { enter(step, index, &crossing) };
        if let Some(started) = started {
            step.nanos = u32::try_from(started.elapsed().as_nanos()).unwrap_or(u32::MAX);
        }
        // Nobody can stop what is over: every filter may look at it.
        if step.verdict != abi::CONTINUE && phase != Phase::Log {
            stopped = index;
            break;
        }
    }
    // SAFETY: the place is the host's, as the caller says.
    unsafe { write_current(seen.current, 0) };
    drop(crossing);
    // SAFETY: the call is valid for writing, and nothing refers to it any more.
    let call = unsafe { &mut *call };
    call.stopped = stopped;
}

/// Enters one filter.
///
/// # Safety
/// The numbers in the step are what this library gave, and their things are in use.
unsafe fn enter(step: &mut abi::AbiStep, index: u32, crossing: &CallContext<'_>) -> u8 {
    let call = crossing.view.call();
    let number = if step.config == 0 { step.filter } else { step.config };
    let place = FilterPosition {
        slot: number,
        exchange: call.exchange,
        turn: call.turn,
        filter: step.id,
        // A chain is far shorter than 65,536 filters.
        step: u16::try_from(index).unwrap_or(u16::MAX),
        phase: crossing.phase,
    };
    if step.flags & abi::STEP_BLOCKING == 0 {
        // SAFETY: as the caller says.
        let slot = unsafe { FilterSlot::of(number) };
        // SAFETY: the state is what an earlier entry left in the step.
        return unsafe { slot.instance().enter(crossing, place, &mut step.state) };
    }
    // SAFETY: as the caller says.
    let slot = unsafe { FilterSlot::share(number) };
    if step.state == 0 {
        step.state = slot.instance().state_for_blocking();
    }
    // SAFETY: the state is of this filter, and the host has it.
    unsafe { slot.instance().retain(step.state) };
    // SAFETY: the reference just counted is given away.
    let detached = unsafe { blocking::enter(slot, place, step.state, crossing) };
    match detached {
        Ok(()) if crossing.phase == Phase::Log => abi::CONTINUE,
        Ok(()) => abi::PAUSE,
        Err(fault) => {
            // Without room for the message the number has to say it.
            let _ = crossing.append(fault_record(place.step, fault.message()));
            abi::FAULT
        }
    }
}

/// Gives back the states of exchanges that are over. Meanwhile `current` names their filters.
///
/// # Safety
/// The ends are of filters and states of this library; each state is told once. `current` is null or the host's place.
unsafe fn handle_ended(ended: &[abi::AbiExchangeEnd], current: *mut u32) {
    for ended in ended {
        if ended.filter == 0 || ended.state == 0 {
            continue;
        }
        let end = End::from_number(ended.reason);
        let state = ended.state;
        // SAFETY: as the caller says.
        let slot = unsafe { FilterSlot::share(ended.filter) };
        // SAFETY: the state is of this filter, and still the host's.
        let is_blocking = unsafe { slot.instance().is_blocking(state) };
        if !is_blocking {
            // SAFETY: the place is the host's, as the caller says.
            unsafe { write_current(current, slot.id()) };
            // SAFETY: the state is told once, so it is ours now.
            unsafe { slot.instance().end(state, end) };
            continue;
        }
        let elsewhere = Box::new(move || {
            // SAFETY: the state is told once, so it is ours now.
            unsafe { slot.instance().end(state, end) };
        });
        if let Err(fault) = blocking::run(elsewhere) {
            host::log(0, abi::ERROR, &format!("a state is lost: {fault}"));
        }
    }
    // SAFETY: the place is the host's, as the caller says.
    unsafe { write_current(current, 0) };
}

/// Says which filter this thread is in; another process may read it.
///
/// # Safety
/// `current` is null or the host's place for it.
unsafe fn write_current(current: *mut u32, id: u32) {
    if !current.is_null() {
        // SAFETY: the place is the host's, aligned and valid while the call lasts.
        unsafe { current.write_volatile(id) };
    }
}
