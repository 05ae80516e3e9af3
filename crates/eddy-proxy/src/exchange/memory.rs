//! Memory of exchanges that have ended, so that the next ones allocate nothing.

use std::cell::RefCell;

use crate::exchange::state::Exchange;
use crate::worker::Worker;

/// Maximum number of exchanges kept for reuse by a worker, each some kilobytes.
const EXCHANGES_IDLE_MAX: usize = 256;

thread_local! {
    /// Those of the worker that runs on this thread.
    #[expect(clippy::vec_box, reason = "an exchange is handed out as a box; moving it would copy kilobytes")]
    static IDLE: RefCell<Vec<Box<Exchange>>> = const { RefCell::new(Vec::new()) };
}

/// Returns an exchange in its initial state.
pub(super) fn take() -> Box<Exchange> {
    IDLE.with_borrow_mut(Vec::pop).unwrap_or_default()
}

/// Takes an exchange back for reuse.
pub(super) fn put(worker: &Worker, mut exchange: Box<Exchange>) {
    if let Some(handle) = exchange.filtering.handle.take() {
        // The session ended before the exchange did; no message may reach it any more.
        worker.crossing.slots.borrow_mut().close(worker.crossing.host.table(), handle);
    }
    IDLE.with_borrow_mut(|idle| {
        if idle.len() < EXCHANGES_IDLE_MAX {
            exchange.clear(&worker.buffers);
            idle.push(exchange);
        }
    });
}
