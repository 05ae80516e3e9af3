//! What the task of a connection and its exchanges share.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};

use eddy_http::{Http2, Http2Limits};

use crate::session::client::Client;
use crate::stats::ListenerSeries;
use crate::worker::{ListenerHandle, Worker};

/// A connection of HTTP/2.
pub(super) struct Connection {
    pub(super) worker: Rc<Worker>,
    pub(super) handle: Rc<ListenerHandle>,
    pub(super) client: Rc<Client>,
    pub(super) series: Arc<ListenerSeries>,
    /// Exchanges begun.
    pub(super) requests: Cell<u64>,
    state: RefCell<Http2>,
    /// The task that reads and writes.
    task: RefCell<Option<Waker>>,
    /// The tasks of exchanges that wait for their streams; at most one for each stream.
    waiting: RefCell<HashMap<u32, Waker>>,
}

impl Connection {
    pub(super) fn new(
        worker: &Rc<Worker>,
        handle: &Rc<ListenerHandle>,
        client: Rc<Client>,
        series: Arc<ListenerSeries>,
        limits: Http2Limits,
    ) -> Rc<Self> {
        Rc::new(Self {
            worker: Rc::clone(worker),
            handle: Rc::clone(handle),
            client,
            series,
            requests: Cell::new(0),
            state: RefCell::new(Http2::new(limits, worker.timers.now_ms())),
            task: RefCell::new(None),
            waiting: RefCell::default(),
        })
    }

    /// Looks at the state of the protocol.
    pub(super) fn look<T>(&self, look: impl FnOnce(&Http2) -> T) -> T {
        look(&self.state.borrow())
    }

    /// Does something to the state of the protocol as the connection's own task, then wakes the exchanges for which
    /// something has changed.
    pub(super) fn drive<T>(&self, act: impl FnOnce(&mut Http2) -> T) -> T {
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

    /// Does something to the state of the protocol as an exchange: the connection's task is woken where there is
    /// something to be written then, or nobody left to write.
    pub(super) fn act<T>(&self, act: impl FnOnce(&mut Http2) -> T) -> T {
        let done = self.drive(act);
        if self.look(|state| !state.output().is_empty() || !state.has_streams())
            && let Some(task) = &*self.task.borrow()
        {
            task.wake_by_ref();
        }
        done
    }

    /// Makes the current task the one that reads and writes.
    pub(super) fn register(&self, cx: &Context<'_>) {
        let mut task = self.task.borrow_mut();
        match &mut *task {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
    }

    /// Wakes the current task once something of a stream changes.
    pub(super) fn wait(&self, id: u32, cx: &Context<'_>) {
        self.waiting.borrow_mut().insert(id, cx.waker().clone());
    }

    /// Forgets who waits for a stream.
    pub(super) fn forget(&self, id: u32) {
        self.waiting.borrow_mut().remove(&id);
    }
}
