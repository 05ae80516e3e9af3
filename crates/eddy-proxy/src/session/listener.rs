//! A listener, as its sessions and the accept loop see it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use eddy_config::ListenAddress;

use crate::resolved::WorkerListener;
use crate::worker::Worker;

/// A listener as its sessions see it. Sessions outlive plans and look up their listener in each new one.
#[derive(Debug)]
pub(crate) struct ListenerHandle {
    pub(crate) address: ListenAddress,
    /// The listener in the current plan; `None` when it was removed.
    current: RefCell<Option<Rc<WorkerListener>>>,
    pub(crate) connections: Cell<u32>,
}

impl ListenerHandle {
    /// Creates a handle that is not part of a plan yet.
    pub(crate) fn new(address: ListenAddress) -> Self {
        Self { address, current: RefCell::default(), connections: Cell::new(0) }
    }

    /// Returns the listener in the current plan; `None` when it was removed.
    pub(crate) fn current(&self) -> Option<Rc<WorkerListener>> {
        self.current.borrow().clone()
    }

    /// Makes sessions follow another plan, together with their worker.
    pub(crate) fn follow(&self, listener: Option<Rc<WorkerListener>>) {
        self.current.replace(listener);
    }

    /// Whether the listener is part of the current plan.
    pub(crate) fn is_served(&self) -> bool {
        self.current.borrow().is_some()
    }

    /// Whether the listener receives datagrams.
    pub(crate) fn receives_datagrams(&self) -> bool {
        matches!(self.address, ListenAddress::Udp(_))
    }
}

/// Whether there is capacity for another connection or datagram session.
pub(crate) fn has_room(worker: &Worker, handle: &ListenerHandle) -> bool {
    let plan = worker.plan();
    let Some(listener) = handle.current() else { return false };
    let of_listener = worker.share_of(listener.config.limits.connections_max);
    !worker.room.is_full(plan.plan.config.settings.limits.connections_max)
        && handle.connections.get() < of_listener
}
