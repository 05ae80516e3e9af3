//! An HTTP/2 link that is being established, once for all exchanges that wait for it.

use std::cell::Cell;
use std::rc::Rc;

use tokio::sync::Notify;

use crate::fault::Fault;

/// A link that is being established.
#[derive(Debug)]
pub(crate) struct Opening {
    /// Maximum concurrent requests of the link.
    streams_max: u32,
    outcome: Cell<Option<Result<(), Fault>>>,
    /// Number of exchanges that wait for it.
    waiting: Cell<u32>,
    ended: Notify,
}

impl Opening {
    /// Creates the state of a link whose establishment begins.
    pub(super) fn new(streams_max: u32) -> Rc<Self> {
        Rc::new(Self {
            streams_max,
            outcome: Cell::default(),
            waiting: Cell::default(),
            ended: Notify::new(),
        })
    }

    /// Whether there will be a stream for one more exchange.
    pub(super) fn has_room(&self) -> bool {
        self.waiting.get() < self.streams_max
    }

    /// Waits for the link, or for the endpoint's choice of HTTP/1.
    ///
    /// # Errors
    /// The reason why there is no link.
    pub(crate) async fn wait(&self) -> Result<(), Fault> {
        let _waiting = LinkWaiterGuard::begin(&self.waiting);
        loop {
            if let Some(outcome) = self.outcome.get() {
                return outcome;
            }
            self.ended.notified().await;
        }
    }

    /// Ends the wait of all exchanges.
    pub(super) fn end(&self, outcome: Result<(), Fault>) {
        self.outcome.set(Some(outcome));
        self.ended.notify_waiters();
    }
}

/// Counts one waiting exchange.
struct LinkWaiterGuard<'c>(&'c Cell<u32>);

impl<'c> LinkWaiterGuard<'c> {
    fn begin(count: &'c Cell<u32>) -> Self {
        count.set(count.get() + 1);
        Self(count)
    }
}

impl Drop for LinkWaiterGuard<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}
