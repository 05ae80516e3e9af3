//! What presses on all workers alike, and the room that they share.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// What presses on the whole gateway, as the monitor sees it.
#[derive(Debug, Default)]
pub(crate) struct Pressure {
    /// Memory is above its limit.
    pub(crate) memory: AtomicBool,
    /// The control group has used up its share of the processors.
    pub(crate) throttled: AtomicBool,
}

impl Pressure {
    /// Whether nothing new should be taken on.
    pub(crate) fn is_high(&self) -> bool {
        self.memory.load(Relaxed)
    }

    /// Whether the control group withholds the processors.
    pub(crate) fn is_throttled(&self) -> bool {
        self.throttled.load(Relaxed)
    }
}

/// The connections of all workers, which share one limit: one worker may have many while the others have few.
#[derive(Debug)]
pub(crate) struct Room {
    connections: AtomicU32,
    /// Most connections at once, as the limit of open files allows.
    descriptors_max: u32,
    /// A worker with less than its share has a client that waits for a place.
    is_wanted: AtomicBool,
}

impl Room {
    /// Room for as many connections as the limit of open files allows.
    pub(crate) fn new(descriptors_max: u32) -> Self {
        Self { connections: AtomicU32::new(0), descriptors_max, is_wanted: AtomicBool::new(false) }
    }

    /// Takes a place. Workers that do so at the same moment may exceed a limit by one each.
    pub(crate) fn enter(&self) {
        self.connections.fetch_add(1, Relaxed);
    }

    /// Gives a place back.
    pub(crate) fn leave(&self) {
        self.connections.fetch_sub(1, Relaxed);
    }

    /// Most connections at once where the configuration allows `connections_max`.
    pub(crate) fn size(&self, connections_max: u32) -> u32 {
        connections_max.min(self.descriptors_max)
    }

    /// Whether no place is left where the configuration allows `connections_max`.
    pub(crate) fn is_full(&self, connections_max: u32) -> bool {
        self.connections.load(Relaxed) >= self.size(connections_max)
    }

    /// Asks those who have more than their share to give up idle connections.
    pub(crate) fn want(&self) {
        self.is_wanted.store(true, Relaxed);
    }

    /// Whether a worker asked for room; true once for each time.
    pub(crate) fn take_wanted(&self) -> bool {
        self.is_wanted.load(Relaxed) && self.is_wanted.swap(false, Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_worker_leaves_is_room_for_the_others() {
        let room = Room::new(3);
        (0..3).for_each(|_| room.enter());
        assert!(room.is_full(100));
        room.leave();
        assert!(!room.is_full(100));
        assert!(room.is_full(2));
    }

    #[test]
    fn a_wish_for_room_is_heard_once() {
        let room = Room::new(1);
        assert!(!room.take_wanted());
        room.want();
        assert!(room.take_wanted());
        assert!(!room.take_wanted());
    }
}
