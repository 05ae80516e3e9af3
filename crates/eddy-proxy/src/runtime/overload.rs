//! Overload of the gateway, shortage of descriptors, and the connection limit shared by all workers.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use rustix::io::Errno;

/// Overload of the whole gateway, as measured by the control thread.
#[derive(Debug, Default)]
pub(crate) struct Pressure {
    /// Memory is above its limit.
    pub(crate) memory: AtomicBool,
    /// The control group has used up its processor quota.
    pub(crate) throttled: AtomicBool,
}

impl Pressure {
    /// Whether new work should be refused.
    pub(crate) fn is_high(&self) -> bool {
        self.memory.load(Relaxed)
    }

    pub(crate) fn is_throttled(&self) -> bool {
        self.throttled.load(Relaxed)
    }
}

/// Connections of all workers, which share one limit: one worker may have many while the others have few.
#[derive(Debug)]
pub(crate) struct Room {
    connections: AtomicU32,
    /// Maximum number of connections that the limit of open files allows.
    descriptors_max: u32,
    /// A worker with less than its share has a client that waits to be accepted.
    is_wanted: AtomicBool,
}

impl Room {
    /// Creates the counter, limited by the limit of open files.
    pub(crate) fn new(descriptors_max: u32) -> Self {
        Self { connections: AtomicU32::new(0), descriptors_max, is_wanted: AtomicBool::new(false) }
    }

    /// Counts a connection. Workers that do so at the same moment may exceed a limit by one each.
    pub(crate) fn enter(&self) {
        self.connections.fetch_add(1, Relaxed);
    }

    /// Removes a connection from the count.
    pub(crate) fn leave(&self) {
        self.connections.fetch_sub(1, Relaxed);
    }

    /// Returns the maximum number of connections when the configuration allows `connections_max`.
    pub(crate) fn size(&self, connections_max: u32) -> u32 {
        connections_max.min(self.descriptors_max)
    }

    /// Whether the maximum is reached when the configuration allows `connections_max`.
    pub(crate) fn is_full(&self, connections_max: u32) -> bool {
        self.connections.load(Relaxed) >= self.size(connections_max)
    }

    /// Asks workers with more than their share to close idle connections.
    pub(crate) fn want(&self) {
        self.is_wanted.store(true, Relaxed);
    }

    /// Whether a worker has asked for capacity; true once per request.
    pub(crate) fn take_capacity_request(&self) -> bool {
        self.is_wanted.load(Relaxed) && self.is_wanted.swap(false, Relaxed)
    }
}

/// Whether an error of a new socket will recur at once unless a resource is freed.
pub(crate) fn is_shortage(error: &io::Error) -> bool {
    let shortages = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    shortages.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_freed_by_one_worker_is_available_to_others() {
        let room = Room::new(3);
        (0..3).for_each(|_| room.enter());
        assert!(room.is_full(100));
        room.leave();
        assert!(!room.is_full(100));
        assert!(room.is_full(2));
    }

    #[test]
    fn a_capacity_request_is_taken_once() {
        let room = Room::new(1);
        assert!(!room.take_capacity_request());
        room.want();
        assert!(room.take_capacity_request());
        assert!(!room.take_capacity_request());
    }
}
