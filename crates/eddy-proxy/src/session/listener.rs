//! A listener, as its sessions and the accept loop see it.

use std::cell::Cell;

use eddy_config::ListenAddress;

use crate::clock::share;
use crate::worker::Worker;

/// A listener as its sessions see it. Sessions outlive plans and look up their listener in each new one.
#[derive(Debug)]
pub(crate) struct ListenerHandle {
    pub(crate) address: ListenAddress,
    /// Index in the current plan; `None` when the listener was removed.
    pub(crate) index: Cell<Option<usize>>,
    pub(crate) connections: Cell<u32>,
}

impl ListenerHandle {
    /// Creates a handle that is not part of a plan yet.
    pub(crate) fn new(address: ListenAddress) -> Self {
        Self { address, index: Cell::new(None), connections: Cell::new(0) }
    }

    /// Whether the listener receives datagrams.
    pub(crate) fn takes_datagrams(&self) -> bool {
        matches!(self.address, ListenAddress::Udp(_))
    }
}

/// Whether there is capacity for another connection or datagram session.
pub(crate) fn has_room(worker: &Worker, handle: &ListenerHandle) -> bool {
    let plan = worker.plan();
    let listener = handle.index.get().and_then(|index| plan.listener(index));
    let Some(listener) = listener else { return false };
    let of_listener = share(listener.config.limits.connections_max, worker.workers);
    !worker.room.is_full(plan.plan.config.limits.connections_max) && handle.connections.get() < of_listener
}
