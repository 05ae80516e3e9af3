//! State shared by the task of an HTTP/2 connection and its exchanges.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::task::{Context, Waker};

use eddy_http::Http2;

/// An HTTP/2 connection, as client or server: the protocol state and the tasks that wait for it.
pub(crate) struct H2Connection {
    state: RefCell<Http2>,
    /// Task that reads and writes.
    task: RefCell<Option<Waker>>,
    /// Tasks of exchanges that wait for their streams; at most one per stream.
    waiting: RefCell<HashMap<u32, Waker, BuildHasherDefault<StreamIdHasher>>>,
}

/// Hash of a stream identifier. A peer that chooses identifiers with equal hashes gains nothing: the number of streams
/// at once is limited.
#[derive(Default)]
struct StreamIdHasher(u64);

impl Hasher for StreamIdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }

    fn write_u32(&mut self, id: u32) {
        // 2⁶⁴ divided by the golden ratio, which spreads successive identifiers over all bits.
        self.0 = (self.0 ^ u64::from(id)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl H2Connection {
    /// Creates a connection in this state.
    pub(crate) fn new(state: Http2) -> Self {
        Self { state: RefCell::new(state), task: RefCell::new(None), waiting: RefCell::default() }
    }

    /// Reads the protocol state.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Http2) -> T) -> T {
        look(&self.state.borrow())
    }

    /// Changes the protocol state on behalf of the connection's own task, then wakes the affected exchanges.
    pub(crate) fn update<T>(&self, act: impl FnOnce(&mut Http2) -> T) -> T {
        let mut state = self.state.borrow_mut();
        let done = act(&mut state);
        let mut waiting = self.waiting.borrow_mut();
        while let Some(id) = state.next_woken() {
            if let Some(waker) = waiting.remove(&id) {
                waker.wake();
            }
        }
        done
    }

    /// Changes the protocol state on behalf of an exchange, and wakes the connection's task if there is output to write
    /// or no stream is left.
    pub(crate) fn act<T>(&self, act: impl FnOnce(&mut Http2) -> T) -> T {
        let done = self.update(act);
        if self.look(|state| !state.output().is_empty() || !state.has_streams()) {
            self.wake();
        }
        done
    }

    /// Wakes the connection's task.
    pub(crate) fn wake(&self) {
        if let Some(task) = &*self.task.borrow() {
            task.wake_by_ref();
        }
    }

    /// Makes the current task the one that reads and writes.
    pub(crate) fn register(&self, cx: &Context<'_>) {
        let mut task = self.task.borrow_mut();
        match &mut *task {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
    }

    /// Registers the current task to be woken when a stream changes.
    pub(super) fn wait(&self, id: u32, cx: &Context<'_>) {
        self.waiting.borrow_mut().insert(id, cx.waker().clone());
    }

    /// Removes the waker of a stream.
    pub(super) fn forget(&self, id: u32) {
        self.waiting.borrow_mut().remove(&id);
    }
}
