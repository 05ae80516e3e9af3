//! Slots of a worker's exchanges that filters refer to by handle.

use std::task::Waker;

use eddy_filter::{Direction, Handle, HandleTable};

use crate::host::inbox::FilterResume;

/// A worker's slots: the exchange in each, its waker, and the messages that have arrived for it.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    entries: Vec<ExchangeSlot>,
    free: Vec<usize>,
}

#[derive(Debug, Default)]
struct ExchangeSlot {
    exchange: Option<Handle>,
    /// Whether the members below may be set: few exchanges pause.
    has_waited: bool,
    waker: Option<Waker>,
    arrived: [Option<FilterResume>; 2],
}

impl Slots {
    /// Opens a handle for an exchange; `None` when all slots are taken.
    pub(crate) fn open(&mut self, table: &HandleTable, worker: usize) -> Option<Handle> {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None if self.entries.len() < table.slots_max() => {
                self.entries.push(ExchangeSlot::default());
                self.entries.len() - 1
            }
            None => return None,
        };
        let handle = table.open(worker, slot)?;
        self.entries.get_mut(slot)?.exchange = Some(handle);
        Some(handle)
    }

    /// Ends an exchange; no message reaches it any more.
    pub(crate) fn close(&mut self, table: &HandleTable, handle: Handle) {
        table.close(handle);
        if let Some(entry) =
            self.entries.get_mut(handle.slot()).filter(|entry| entry.exchange == Some(handle))
        {
            entry.exchange = None;
            if std::mem::take(&mut entry.has_waited) {
                *entry = ExchangeSlot::default();
            }
            self.free.push(handle.slot());
        }
    }

    /// Delivers a filter's resume; returns whether its exchange still exists.
    pub(crate) fn deliver(&mut self, resumed: FilterResume) -> bool {
        let entry = self.entries.get_mut(resumed.exchange.slot());
        let Some(entry) = entry.filter(|entry| entry.exchange == Some(resumed.exchange)) else {
            return false;
        };
        let direction = resumed.direction as usize;
        entry.has_waited = true;
        entry.arrived[direction] = Some(resumed);
        if let Some(waker) = entry.waker.take() {
            waker.wake();
        }
        true
    }

    /// Returns the message for a turn of an exchange; registers the waker when none has arrived.
    pub(crate) fn poll(
        &mut self,
        handle: Handle,
        direction: Direction,
        turn: u32,
        waker: &Waker,
    ) -> Option<FilterResume> {
        let entry = self.entries.get_mut(handle.slot()).filter(|entry| entry.exchange == Some(handle))?;
        let arrived = entry.arrived[direction as usize].take();
        if let Some(resumed) = arrived.filter(|resumed| resumed.turn == turn) {
            return Some(resumed);
        }
        entry.has_waited = true;
        if !entry.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            entry.waker = Some(waker.clone());
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eddy_filter::Verdict;

    fn resumed(exchange: Handle, turn: u32) -> FilterResume {
        FilterResume {
            exchange,
            direction: Direction::Response,
            turn,
            verdict: Verdict::Continue,
            edits: Vec::new(),
        }
    }

    #[test]
    fn only_the_waiting_exchange_is_resumed() {
        let table = HandleTable::new(1, 8);
        let mut slots = Slots::default();
        let waker = Waker::noop();
        let first = slots.open(&table, 0).unwrap();
        assert!(slots.poll(first, Direction::Response, 1, waker).is_none());
        assert!(slots.deliver(resumed(first, 1)));
        assert!(slots.poll(first, Direction::Request, 1, waker).is_none());
        assert_eq!(slots.poll(first, Direction::Response, 1, waker).map(|resumed| resumed.turn), Some(1));
        slots.deliver(resumed(first, 2));
        assert!(slots.poll(first, Direction::Response, 3, waker).is_none(), "of another turn");
        slots.close(&table, first);
        slots.close(&table, first);
        assert!(!slots.deliver(resumed(first, 3)));
        let second = slots.open(&table, 0).unwrap();
        assert_eq!(second.slot(), first.slot());
        assert!(!slots.deliver(resumed(first, 3)));
        assert!(slots.poll(first, Direction::Response, 3, waker).is_none());
        assert!(slots.poll(second, Direction::Response, 3, waker).is_none());
        assert_ne!(slots.open(&table, 0).unwrap().slot(), second.slot());
    }
}
