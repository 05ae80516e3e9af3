//! Streams of a worker: an exchange in a filter, with the state that callbacks read and change.
//!
//! All streams of a worker are in one table of its thread. A module refers to a stream by a number with slot, worker
//! and generation, which it believes to be a pointer: the number of a stream that has ended, or that belongs to another
//! worker, finds nothing. The table is borrowed for the duration of a callback, never while a module runs.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use eddy_filter::{Direction, EditLog, FilterEdit, Handle, Phase, Verdict};
use slab::Slab;

use super::abi::{AbiBuffer, EnvoyPtr, ModulePtr};
use super::arena::Arena;
use super::instance::{Instance, RouteInstance};
use super::streamed_reply::StreamedReply;
use crate::message_view::MessageView;

thread_local! {
    static STREAMS: RefCell<Streams> = RefCell::new(Streams::default());
}

/// Streams of a worker.
#[derive(Default)]
struct Streams {
    slots: Slab<Box<Stream>>,
    generation: u64,
    /// Filter state of exchanges that have any.
    states: HashMap<u64, Weak<RefCell<FilterState>>>,
}

/// Exchange in a filter.
pub(super) struct Stream {
    number: u64,
    pub(super) instance: Arc<Instance>,
    /// Configuration of the exchange's rule, if it has one.
    pub(super) route: Option<Arc<RouteInstance>>,
    /// The module's object.
    pub(super) module: ModulePtr,
    pub(super) exchange: Handle,
    pub(super) worker: u16,
    /// View in the crossing that is in progress.
    pub(super) view: MessageView,
    /// Phase of the crossing that is in progress.
    pub(super) phase: Option<Phase>,
    /// Paused messages, by direction.
    pub(super) paused: [Option<PausedMessage>; 2],
    pub(super) requested: RequestedActions,
    /// By direction, whether the module has resumed a message that it has not paused yet.
    pub(super) resumes_later: [bool; 2],
    /// By direction, how many bytes of a body that this filter buffers its hooks have seen.
    pub(super) seen: [usize; 2],
    /// By direction, whether this filter buffers the body.
    pub(super) is_buffering: [bool; 2],
    /// Edits for the next crossing, made while no message was at hand.
    pub(super) later: EditLog,
    /// Reply for the next crossing, made while no message was at hand.
    pub(super) replies_later: bool,
    /// Reply that the module sends piece by piece.
    pub(super) streamed: Option<StreamedReply>,
    /// Word with which the module has explained its reply.
    pub(super) reply_details: Vec<u8>,
    /// Whether the module has replied itself. As in Envoy, its response hooks are then not called.
    pub(super) has_replied: bool,
    /// Whether the module was informed of a local reply.
    pub(super) knows_reply: bool,
    /// Whether the client's connection is closed after the response.
    pub(super) closes: bool,
    /// AbiBuffer limit that the module has set.
    pub(super) buffer_limit: Option<u64>,
    /// Tokens of the outbound requests whose outcome the module has not seen.
    pub(super) calls: Vec<u64>,
    /// Schedulers of the stream that exist.
    pub(super) schedulers: Arc<AtomicUsize>,
    /// Reason for which the exchange fails.
    pub(super) failure: Option<String>,
    state: Option<Rc<RefCell<FilterState>>>,
    arena: Arena,
}

/// Message that is paused until the module resumes it.
pub(super) struct PausedMessage {
    pub(super) turn: u32,
    pub(super) view: MessageView,
    /// Verdict with which the message is resumed, once the module has decided.
    pub(super) decision: Option<Verdict>,
}

/// Actions that a module requests during a crossing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RequestedActions {
    /// By direction, whether the message continues.
    pub(super) continues: [bool; 2],
    pub(super) is_replied: bool,
    pub(super) is_reset: bool,
}

/// Filter state of an exchange: bytes by key, shared by its filters in dynamic modules.
#[derive(Debug, Default)]
pub(super) struct FilterState {
    entries: Vec<(Vec<u8>, Vec<u8>)>,
    bytes: usize,
}

impl Streams {
    fn get(&mut self, number: u64) -> Option<&mut Stream> {
        let slot = usize::try_from(number & SLOT_MASK).ok()?;
        let stream = self.slots.get_mut(slot)?;
        (stream.number == number).then_some(&mut **stream)
    }
}

/// Adds a stream without an object of the module; returns its number.
pub(super) fn add(instance: Arc<Instance>, exchange: Handle, worker: u16) -> Option<u64> {
    STREAMS.with_borrow_mut(|streams| {
        let slot = u64::try_from(streams.slots.vacant_key()).ok().filter(|slot| *slot <= SLOT_MASK)?;
        streams.generation = (streams.generation % GENERATION_MAX) + 1;
        let number = streams.generation << 32 | u64::from(worker & 0xff) << 24 | slot;
        streams.slots.insert(Box::new(Stream::new(number, instance, exchange, worker)));
        Some(number)
    })
}

/// Removes a stream: its number refers to nothing any more.
pub(super) fn remove(number: u64) -> Option<Box<Stream>> {
    STREAMS.with_borrow_mut(|streams| {
        streams.get(number)?;
        let stream = streams.slots.try_remove(usize::try_from(number & SLOT_MASK).ok()?)?;
        let is_last = stream.state.as_ref().is_some_and(|state| Rc::strong_count(state) == 1);
        if is_last {
            streams.states.remove(&stream.exchange.number());
        }
        Some(stream)
    })
}

/// Reads or changes a stream of this worker. `None` for a number that refers to none, and within another access.
pub(super) fn with<R>(number: u64, access: impl FnOnce(&mut Stream) -> R) -> Option<R> {
    let access = |streams: &RefCell<Streams>| {
        let mut streams = streams.try_borrow_mut().ok()?;
        streams.get(number).map(access)
    };
    STREAMS.try_with(access).ok().flatten()
}

/// As [`with`], for the handle that a module passes to a callback.
pub(super) fn of<R>(handle: EnvoyPtr, access: impl FnOnce(&mut Stream) -> R) -> Option<R> {
    with(handle.number(), access)
}

/// Reads or changes the filter state of a stream's exchange.
pub(super) fn with_state<R>(handle: EnvoyPtr, access: impl FnOnce(&mut FilterState) -> R) -> Option<R> {
    STREAMS.with(|streams| {
        let mut streams = streams.try_borrow_mut().ok()?;
        let stream = streams.get(handle.number())?;
        let exchange = stream.exchange.number();
        let own = stream.state.clone();
        let state = own.or_else(|| streams.states.get(&exchange)?.upgrade()).unwrap_or_default();
        streams.states.insert(exchange, Rc::downgrade(&state));
        streams.get(handle.number())?.state = Some(Rc::clone(&state));
        Some(access(&mut state.borrow_mut()))
    })
}

impl Stream {
    fn new(number: u64, instance: Arc<Instance>, exchange: Handle, worker: u16) -> Self {
        Self {
            number,
            instance,
            route: None,
            module: ModulePtr::NULL,
            exchange,
            worker,
            view: MessageView::default(),
            phase: None,
            paused: [None, None],
            requested: RequestedActions::default(),
            resumes_later: [false; 2],
            seen: [0; 2],
            is_buffering: [false; 2],
            later: EditLog::new(),
            replies_later: false,
            streamed: None,
            reply_details: Vec::new(),
            has_replied: false,
            knows_reply: false,
            closes: false,
            buffer_limit: None,
            calls: Vec::new(),
            schedulers: Arc::new(AtomicUsize::new(0)),
            failure: None,
            state: None,
            arena: Arena::default(),
        }
    }

    /// Returns the number by which the module refers to the stream.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the view for a direction: that of the crossing in progress, or of a paused message.
    pub(super) fn view_of(&self, direction: Direction) -> Option<&MessageView> {
        if self.phase.is_some() {
            return Some(&self.view);
        }
        let [request, response] = &self.paused;
        let (first, second) = match direction {
            Direction::Request => (request, response),
            Direction::Response => (response, request),
        };
        first.as_ref().or(second.as_ref()).map(|paused| &paused.view)
    }

    /// Returns the view in which the message of a direction can be changed.
    pub(super) fn view_of_mut(&mut self, direction: Direction) -> Option<&mut MessageView> {
        if self.phase.is_some_and(|phase| phase.direction() == direction && phase != Phase::Log) {
            return Some(&mut self.view);
        }
        let paused = self.paused.get_mut(direction as usize)?.as_mut()?;
        paused.decision.is_none().then_some(&mut paused.view)
    }

    /// Records an edit that does not depend on a message: in the crossing in progress, with a paused message, or for
    /// the next crossing.
    pub(super) fn note(&mut self, edit: &FilterEdit<'_>) {
        let direction = self.phase.map_or(Direction::Request, Phase::direction);
        let other = match direction {
            Direction::Request => Direction::Response,
            Direction::Response => Direction::Request,
        };
        for direction in [direction, other] {
            if let Some(view) = self.view_of_mut(direction) {
                // An edit that is too large is lost; the log's size is far beyond that of edits of heads.
                let _ = view.push(edit);
                return;
            }
        }
        let _ = self.later.push(0, edit);
    }

    /// Returns the lengths of the parts of a body that this filter has buffered, and that it has just received.
    pub(super) fn body_parts(&self, direction: Direction, phase: Phase, len: usize) -> (usize, usize) {
        // Outside of its hook, all of a paused body is buffered.
        if self.phase != Some(phase) {
            return (len, 0);
        }
        let buffered = self.seen.get(direction as usize).copied().unwrap_or(0).min(len);
        (buffered, len - buffered)
    }

    /// Copies a value for the module; it stays in place until the hook returns.
    pub(super) fn lend(&mut self, bytes: &[u8]) -> AbiBuffer {
        self.arena.copy(bytes).map_or(AbiBuffer::NULL, AbiBuffer::of)
    }

    /// Frees the values that the module has read, after its hook.
    pub(super) fn take_back(&mut self) {
        self.arena.clear();
    }

    /// Whether the module waits for an event: a response to an outbound request, or a scheduled call.
    pub(super) fn has_events(&self) -> bool {
        !self.calls.is_empty() || self.schedulers.load(Relaxed) > 0
    }
}

impl FilterState {
    /// Returns the value of a key.
    pub(super) fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.entries.iter().find(|(known, _)| known == key).map(|(_, value)| &**value)
    }

    /// Sets the value of a key; `false` without room for it.
    pub(super) fn set(&mut self, key: &[u8], value: &[u8]) -> bool {
        let before = self.get(key).map_or(0, |value| key.len() + value.len());
        let bytes = self.bytes - before + key.len() + value.len();
        if bytes > STATE_BYTES_MAX || (before == 0 && self.entries.len() >= STATE_ENTRIES_MAX) {
            return false;
        }
        self.entries.retain(|(known, _)| known != key);
        self.entries.push((key.to_vec(), value.to_vec()));
        self.bytes = bytes;
        true
    }
}

const SLOT_MASK: u64 = 0xff_ffff;
/// The highest bit distinguishes handles of configurations.
const GENERATION_MAX: u64 = 0x7fff_ffff;
/// Maximum size of the filter state of an exchange, in bytes of keys and values.
const STATE_BYTES_MAX: usize = 1 << 20;
const STATE_ENTRIES_MAX: usize = 256;
