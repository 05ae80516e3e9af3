//! Crossings into a native library: lays out a call as the ABI requires, enters the guest, and reads the result.
//!
//! Only small data is copied: heads, bodies and ends are passed in place. Nothing is allocated once the edit log has
//! its size.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::Relaxed;

use eddy_filter::{
    CALL_WITHOUT_PHASE, DynamicMetadata, EDITS_BYTES_MAX, ExchangeInfo, ExchangeView, FilterEvent, HostError,
    LibraryCall,
};
use eddy_http::{Fields, Method, Version};

use super::{abi, answer};
use crate::guest::scheme;
use crate::thread::prepare_thread;

/// Call in progress on this thread, for requests of the guest for more room or for facts about the exchange.
struct NativeCallFrame {
    /// Call passed to the guest, which passes it back when it asks for room.
    call: *mut abi::NativeCall,
    /// Bytes of the edit log.
    log: *mut Vec<u8>,
    /// Length of the log before the call.
    base: usize,
    /// Room after the log's end that the guest knows of.
    room: u32,
    /// Outgrown buffers; the guest may hold views of its edits in them until it returns.
    outgrown: Vec<Vec<u8>>,
    /// View of the call, until [`run`] returns.
    view: Option<NonNull<ExchangeView<'static>>>,
    /// Facts about the exchange, once the guest has them.
    about: MaybeUninit<abi::NativeAbout>,
    /// Metadata that `about` points to.
    pairs: Vec<abi::NativePair>,
}

thread_local! {
    static FRAME: Cell<*mut NativeCallFrame> = const { Cell::new(ptr::null_mut()) };
    /// Reused by every call with metadata.
    static PAIRS: Cell<Vec<abi::NativePair>> = const { Cell::new(Vec::new()) };
}

/// Enters the filters of a call, and reads the result.
///
/// A guest that `asks_about` the exchange gets the facts about it by [`show_about`], any other one at once.
///
/// # Cost
/// Some 300 bytes written on the stack, 200 more with the facts; no allocation, unless the edit log grows.
#[inline]
pub(crate) fn run(
    enter: unsafe extern "C" fn(*mut abi::NativeCall),
    asks_about: bool,
    call: &mut LibraryCall<'_>,
) {
    prepare_thread();
    let count = call.steps.len();
    // SAFETY: `answer::take` makes the verdicts valid.
    let steps = unsafe { answer::native_steps(call.steps) }.as_mut_ptr();
    // Zeroed, so that a guest that reports more bytes than it has written does not expose earlier data.
    let log = call.edits.with_zeroed_room(LOG_SPACE_MIN, LOG_CAPACITY_INITIAL);
    let base = log.len();
    let room = room_of(log, base);
    // SAFETY: `base` is the length, so the place is inside the allocation or at its end.
    let edits = unsafe { log.as_mut_ptr().add(base) };
    let log: *mut Vec<u8> = log;
    let mut raw = call.view.map_or_else(call_without_view, call_of);
    raw.worker = call.worker;
    raw.flags |= if call.is_sampled { abi::CALL_SAMPLED } else { 0 };
    raw.exchange = call.exchange.number();
    raw.turn = call.turn;
    raw.steps_len = narrow(count);
    raw.steps = steps;
    raw.edits = edits;
    raw.edits_cap = room;
    raw.ended = call.ended.as_ptr();
    raw.ended_len = narrow(call.ended.len());
    raw.stopped = narrow(count);
    raw.current = call.current.as_ptr();
    let mut frame = NativeCallFrame {
        call: &raw mut raw,
        log,
        base,
        room,
        outgrown: Vec::new(),
        view: call.view.map(|view| NonNull::from(view).cast()),
        about: MaybeUninit::uninit(),
        pairs: Vec::new(),
    };
    if !asks_about {
        frame.show_about();
    }
    FRAME.set(&raw mut frame);
    // If a guest crashes before it reports its position, it is in the first step.
    call.current.store(call.steps.first().map_or(0, |step| step.id), Relaxed);
    // SAFETY: all that the call points to is valid until the function returns: the steps, the view, the metadata and the
    // ends are borrowed by `call` and this function, the edits are spare room of the log that only `grow` touches
    // meanwhile, and `current` is an atomic that outlives the call.
    unsafe { enter(frame.call) };
    FRAME.set(ptr::null_mut());
    call.current.store(0, Relaxed);
    if !frame.pairs.is_empty() {
        frame.pairs.clear();
        PAIRS.set(std::mem::take(&mut frame.pairs));
    }
    // SAFETY: the call lives as long as the frame, and the guest that could write it has returned.
    let &abi::NativeCall { stopped, edits_len, .. } = unsafe { &*frame.call };
    let room = frame.room;
    let used = if edits_len <= room { edits_len as usize } else { 0 };
    // SAFETY: the log outlives the call, and the guest that could have reached it has returned.
    let log = unsafe { &mut *frame.log };
    // SAFETY: `used` bytes after `base` are inside the allocation, and all its room was zeroed before the guest was
    // entered, or when `grow` allocated it.
    unsafe { log.set_len(base + used) };
    call.edits.note_written();
    answer::take(&answer::NativeCallResult { count, stopped, edits_len, room, base }, call);
}

impl NativeCallFrame {
    /// Lays out the facts about the exchange for the guest, unless it has them or the call has no view.
    fn show_about(&mut self) {
        // SAFETY: the view outlives the frame: the call that borrows it is borrowed by `run` until the frame is gone.
        let Some(view) = self.view.take().map(|view| unsafe { view.cast::<ExchangeView<'_>>().as_ref() })
        else {
            return;
        };
        let info = view.about();
        let about = self.about.write(about_of(&info));
        if let Some(metadata) = info.metadata.filter(|metadata| !metadata.is_empty()) {
            self.pairs = PAIRS.take();
            push_metadata_pairs(metadata, &mut self.pairs);
            (about.metadata, about.metadata_len) = (self.pairs.as_ptr(), self.pairs.len() as u64);
        }
        // SAFETY: the call is a local variable of `run`, to which only the guest has a pointer, and it waits.
        unsafe { (*self.call).about = about };
    }
}

/// Returns the frame of a call that this thread is in.
fn frame_of<'a>(call: *mut abi::NativeCall) -> Result<&'a mut NativeCallFrame, HostError> {
    let frame = FRAME.get();
    if frame.is_null() || call.is_null() {
        return Err(HostError::Invalid);
    }
    // SAFETY: the frame is set only while `run` of this thread waits for the guest, whose host function has the only
    // reference; `run` uses it only afterwards.
    let frame = unsafe { &mut *frame };
    if ptr::eq(frame.call, call) { Ok(frame) } else { Err(HostError::Invalid) }
}

/// Gives the guest the facts about the exchange, if it does not have them.
///
/// # Errors
/// [`HostError::Invalid`] if this thread is not in that call.
pub(crate) fn show_about(call: *mut abi::NativeCall) -> Result<(), HostError> {
    frame_of(call)?.show_about();
    Ok(())
}

/// Gives the guest more room for edits; the result is one of `enum eddy_result`.
pub(crate) fn grow(call: *mut abi::NativeCall, more: u32) -> Result<(), HostError> {
    let frame = frame_of(call)?;
    // SAFETY: it is the call of the frame, which lives as long; the guest that called does not write it meanwhile.
    let raw = unsafe { &mut *call };
    if raw.edits_len > frame.room {
        return Err(HostError::Invalid);
    }
    let used = frame.base + raw.edits_len as usize;
    let wanted = used.saturating_add(more as usize);
    if wanted > EDITS_BYTES_MAX {
        return Err(HostError::TooLarge);
    }
    // SAFETY: the log is borrowed by `run`, which does not touch it while the guest runs.
    let log = unsafe { &mut *frame.log };
    // SAFETY: the bytes up to `used` are inside the allocation, whose room was zeroed before the guest had it.
    unsafe { log.set_len(used) };
    let mut larger = Vec::new();
    if larger.try_reserve(wanted.max(log.capacity().saturating_mul(2)).min(EDITS_BYTES_MAX)).is_err() {
        return Err(HostError::TooLarge);
    }
    larger.extend_from_slice(log);
    larger.resize(larger.capacity(), 0);
    larger.truncate(used);
    frame.outgrown.push(std::mem::replace(log, larger));
    frame.room = room_of(log, frame.base);
    // SAFETY: `base` is at most the length.
    raw.edits = unsafe { log.as_mut_ptr().add(frame.base) };
    raw.edits_cap = frame.room;
    Ok(())
}

/// Delivers an event to a guest.
pub(crate) fn tell(told: unsafe extern "C" fn(*const abi::NativeEvent), event: &FilterEvent<'_>) {
    prepare_thread();
    let raw = abi::NativeEvent {
        size: size_of_u32::<abi::NativeEvent>(),
        kind: event.kind as u32,
        token: event.token,
        filter: event.filter,
        worker: event.worker,
        status: event.status,
        head: head_of(event.fields),
        body: abi::NativeText::of(event.body),
    };
    // SAFETY: all that the event points to is borrowed until the function returns.
    unsafe { told(&raw const raw) }
}

/// Returns a call without a view, which only reports ended exchanges.
#[inline]
fn call_without_view() -> abi::NativeCall {
    abi::NativeCall {
        abi: abi::ABI,
        size: size_of_u32::<abi::NativeCall>(),
        phase: CALL_WITHOUT_PHASE,
        ..abi::NativeCall::default()
    }
}

#[inline]
fn call_of(view: &ExchangeView<'_>) -> abi::NativeCall {
    let response = view.response.unwrap_or_default();
    abi::NativeCall {
        status: response.status,
        phase: view.phase as u8,
        flags: flags_of(view),
        version: version_of(view.request.version),
        method: method_of(view.request.method),
        request: head_of(view.request.fields),
        response: head_of(response.fields),
        trailers: if view.phase.is_of_trailers() {
            head_of(view.trailers)
        } else {
            abi::NativeHead::default()
        },
        method_name: abi::NativeText::of(view.request.method_name),
        target: abi::NativeText::of(view.request.target),
        authority: abi::NativeText::of(view.request.authority),
        scheme: abi::NativeText::of(scheme(view)),
        body: abi::NativeText::of(view.body),
        ..call_without_view()
    }
}

#[inline]
fn about_of(about: &ExchangeInfo<'_>) -> abi::NativeAbout {
    abi::NativeAbout {
        peer: abi::NativeText::of(about.peer),
        local: abi::NativeText::of(about.local),
        listener: abi::NativeText::of(about.listener),
        rule: abi::NativeText::of(about.rule),
        cluster: abi::NativeText::of(about.cluster),
        endpoint: abi::NativeText::of(about.endpoint),
        request_id: abi::NativeText::of(about.request_id),
        details: abi::NativeText::of(about.details),
        started_unix_us: about.started_unix_us,
        duration_us: about.duration_us,
        connection: about.connection,
        request_bytes: about.request_bytes,
        response_bytes: about.response_bytes,
        attempts: about.attempts,
        ..abi::NativeAbout::default()
    }
}

#[inline]
fn head_of(fields: Fields<'_>) -> abi::NativeHead {
    let (bytes, places) = (fields.bytes(), fields.places());
    debug_assert!(
        places
            .iter()
            .all(|field| [field.name, field.value].iter().all(|span| span.end as usize <= bytes.len())),
        "guests read places without a check of their own"
    );
    abi::NativeHead {
        bytes: bytes.as_ptr(),
        fields: places.as_ptr(),
        bytes_len: narrow(bytes.len()),
        fields_len: narrow(places.len()),
    }
}

fn push_metadata_pairs(metadata: &DynamicMetadata, pairs: &mut Vec<abi::NativePair>) {
    pairs.clear();
    pairs.extend(metadata.iter().map(|(space, key, value)| abi::NativePair {
        space: abi::NativeText::of(space),
        key: abi::NativeText::of(key),
        value: abi::NativeText::of(value),
    }));
}

/// Returns the call flags that result from a view.
#[inline]
pub(crate) fn flags_of(view: &ExchangeView<'_>) -> u8 {
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    flag(view.is_end, abi::CALL_END)
        | flag(view.response.is_some_and(|response| response.is_local), abi::CALL_LOCAL)
        | flag(view.is_buffered, abi::CALL_BUFFERED)
        | flag(view.request.is_tls, abi::CALL_TLS)
}

#[inline]
pub(crate) fn version_of(version: Version) -> u8 {
    match version {
        Version::Http10 => 10,
        Version::Http11 => 11,
        Version::Http2 => 20,
    }
}

#[inline]
pub(crate) fn method_of(method: Method) -> u8 {
    match method {
        Method::Other => 0,
        Method::Get => 1,
        Method::Head => 2,
        Method::Post => 3,
        Method::Put => 4,
        Method::Delete => 5,
        Method::Connect => 6,
        Method::Options => 7,
        Method::Trace => 8,
        Method::Patch => 9,
    }
}

/// Returns the room after `base`, within the size limit of the log.
fn room_of(log: &Vec<u8>, base: usize) -> u32 {
    narrow(log.capacity().min(EDITS_BYTES_MAX).saturating_sub(base))
}

/// Narrows a length; heads, steps and ends are limited to fewer than a `u32` counts.
#[inline]
pub(crate) fn narrow(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// Returns the size of an ABI structure.
pub(crate) const fn size_of_u32<T>() -> u32 {
    let size = size_of::<T>();
    assert!(size < 4096, "the contract's structures are small");
    #[expect(clippy::cast_possible_truncation, reason = "asserted above")]
    let size = size as u32;
    size
}

/// If a log has less room than this, it grows before a call, so that most calls never ask for more.
const LOG_SPACE_MIN: usize = 1024;
const LOG_CAPACITY_INITIAL: usize = 4096;
