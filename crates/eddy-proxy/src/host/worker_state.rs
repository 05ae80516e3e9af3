//! State that a worker needs to call filters.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use eddy_filter::{EditLog, EndedExchange, FilterInvocation, FilterLibrary};

use crate::host::filter_host::FilterHost;
use crate::host::slots::Slots;

/// One crossing in this many is timed; a power of two.
const SAMPLE_EVERY: u32 = 64;

/// State that a worker needs to call filters; reused for each crossing.
pub(crate) struct WorkerFilterState {
    pub(crate) host: Arc<FilterHost>,
    pub(crate) slots: RefCell<Slots>,
    pub(crate) scratch: RefCell<CrossingScratch>,
    /// Ended exchanges by library, reported at the library's next crossing.
    ended: RefCell<Vec<EndedExchanges>>,
    has_ended: Cell<bool>,
    count: Cell<u32>,
    connections: Cell<u64>,
}

/// Buffers of one crossing.
#[derive(Default)]
pub(crate) struct CrossingScratch {
    pub(crate) steps: Vec<FilterInvocation>,
    /// Chain index of each step of the crossing.
    pub(crate) places: Vec<u8>,
    pub(crate) edits: EditLog,
    pub(crate) ended: Vec<EndedExchange>,
}

/// Ended exchanges of which a library has not been notified.
pub(crate) struct EndedExchanges {
    pub(crate) library: Arc<dyn FilterLibrary>,
    pub(crate) ended: Vec<EndedExchange>,
}

impl WorkerFilterState {
    pub(crate) fn new(host: Arc<FilterHost>) -> Self {
        Self {
            host,
            slots: RefCell::default(),
            scratch: RefCell::default(),
            ended: RefCell::default(),
            has_ended: Cell::new(false),
            count: Cell::new(0),
            connections: Cell::new(0),
        }
    }

    /// Returns a number for a new connection.
    pub(crate) fn number_connection(&self) -> u64 {
        self.connections.set(self.connections.get() + 1);
        self.connections.get()
    }

    /// Whether the next crossing is timed.
    pub(crate) fn is_sampled(&self) -> bool {
        self.count.set(self.count.get().wrapping_add(1));
        self.count.get() & (SAMPLE_EVERY - 1) == 0
    }

    /// Records the end of an exchange for which a filter keeps state.
    pub(crate) fn note_ended(&self, library: &Arc<dyn FilterLibrary>, ended: EndedExchange) {
        let mut queues = self.ended.borrow_mut();
        match queues.iter_mut().find(|queue| Arc::ptr_eq(&queue.library, library)) {
            Some(queue) => queue.ended.push(ended),
            None => queues.push(EndedExchanges { library: Arc::clone(library), ended: vec![ended] }),
        }
        self.has_ended.set(true);
    }

    /// Takes the ended exchanges of which libraries have not been notified.
    pub(crate) fn take_all_ended(&self) -> Vec<EndedExchanges> {
        if !self.has_ended.replace(false) {
            return Vec::new();
        }
        self.ended.take()
    }

    /// Moves the ended exchanges that a library has not been notified of into `into`.
    pub(crate) fn take_ended(&self, library: &Arc<dyn FilterLibrary>, into: &mut Vec<EndedExchange>) {
        into.clear();
        if !self.has_ended.get() {
            return;
        }
        let mut queues = self.ended.borrow_mut();
        if let Some(queue) = queues.iter_mut().find(|queue| Arc::ptr_eq(&queue.library, library)) {
            std::mem::swap(into, &mut queue.ended);
        }
        self.has_ended.set(queues.iter().any(|queue| !queue.ended.is_empty()));
    }
}
