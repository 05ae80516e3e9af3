//! Datagram sessions of one listener on one worker, by flow.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use eddy_io::{DATAGRAM_BYTES_MAX, DatagramListener, Flow};
use tokio::sync::Notify;

use crate::error::ProxyError;

/// Datagram sessions of type `S` by flow. Like the sessions, this outlives plans.
///
/// The kernel delivers all datagrams of a flow to one of the sockets bound to the address, so no other worker receives
/// them.
pub(crate) struct Flows<S> {
    /// Sessions that accept datagrams; their number is limited by [`crate::session::ConnectionSlot`].
    by_flow: RefCell<HashMap<Flow, Rc<S>>>,
    /// The worker's own sockets of the address.
    sockets: RefCell<Vec<Rc<DatagramListener>>>,
    /// Buffer for a datagram while it is forwarded. Forwarding takes a single turn, so one buffer serves all sessions.
    pub(super) room: RefCell<Box<[u8]>>,
    /// Notified when the listener is gone.
    pub(super) closing: Notify,
    is_closed: Cell<bool>,
}

impl<S> Default for Flows<S> {
    fn default() -> Self {
        Self {
            by_flow: RefCell::default(),
            sockets: RefCell::default(),
            room: RefCell::new(vec![0; DATAGRAM_BYTES_MAX].into()),
            closing: Notify::new(),
            is_closed: Cell::new(false),
        }
    }
}

impl<S> Flows<S> {
    /// Returns the worker's sockets of the address, obtained from `listen` the first time.
    pub(crate) fn sockets(
        &self,
        listen: impl FnOnce() -> Result<Vec<Rc<DatagramListener>>, ProxyError>,
    ) -> Result<Vec<Rc<DatagramListener>>, ProxyError> {
        let mut sockets = self.sockets.borrow_mut();
        if sockets.is_empty() {
            *sockets = listen()?;
        }
        Ok(sockets.clone())
    }

    /// Ends every session. The listener is gone, and a socket that stays bound without being read would take datagrams
    /// away from one that is bound there later.
    pub(crate) fn close(&self) {
        self.by_flow.borrow_mut().clear();
        self.sockets.borrow_mut().clear();
        self.is_closed.set(true);
        self.closing.notify_waiters();
    }

    /// Whether the listener is gone.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    pub(super) fn find(&self, flow: &Flow) -> Option<Rc<S>> {
        self.by_flow.borrow().get(flow).map(Rc::clone)
    }

    pub(super) fn add(&self, flow: Flow, session: &Rc<S>) {
        let before = self.by_flow.borrow_mut().insert(flow, Rc::clone(session));
        debug_assert!(before.is_none(), "a flow has one session that takes its datagrams");
    }

    /// Removes a session, so that the next datagram of its flow begins another one.
    pub(super) fn forget(&self, flow: Flow, session: &S) {
        let mut by_flow = self.by_flow.borrow_mut();
        let is_it = by_flow.get(&flow).is_some_and(|known| std::ptr::eq(&**known, session));
        if is_it {
            by_flow.remove(&flow);
        }
    }
}

impl<S> fmt::Debug for Flows<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flows").field("sessions", &self.by_flow.borrow().len()).finish_non_exhaustive()
    }
}
