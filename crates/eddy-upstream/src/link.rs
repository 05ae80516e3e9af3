//! One upstream connection.

use std::cell::Cell;
use std::rc::Rc;

use eddy_ids::WorkerTime;
use eddy_io::Stream;
use tokio::sync::Notify;

use crate::limits::LimitPermit;

/// A connection to an endpoint; carries one exchange after the other.
#[derive(Debug)]
pub struct Link {
    /// The connected stream.
    pub stream: Stream,
    requests: u64,
    idle_since: WorkerTime,
    /// Whether the link is idle.
    is_link_idle: bool,
    /// Counts the link towards the connection limit for as long as the link exists.
    place: LinkPermit,
}

/// Connection count of an endpoint for its limit, and the queue of requests that wait for a connection.
#[derive(Debug, Default)]
pub(crate) struct LinkPermits {
    /// Idle, busy and being connected.
    pub(crate) open: Cell<u32>,
    /// Requests in the queue.
    waiting: Cell<u32>,
    /// Notified when a link or a place becomes free; wakes the longest-waiting request first.
    freed: Notify,
}

impl LinkPermits {
    /// Whether requests wait for a link.
    pub(crate) fn has_queue(&self) -> bool {
        self.waiting.get() > 0
    }

    /// Wakes the longest-waiting request, to try again.
    pub(crate) fn notify(&self) {
        if self.has_queue() {
            self.freed.notify_one();
        }
    }
}

/// A request in the queue for a link to an endpoint at its connection limit; leaves the queue on drop.
#[derive(Debug)]
pub struct LinkQueue {
    places: Rc<LinkPermits>,
}

impl LinkQueue {
    /// Enters the queue of an endpoint.
    pub(crate) fn enter(places: &Rc<LinkPermits>) -> Self {
        places.waiting.set(places.waiting.get() + 1);
        Self { places: Rc::clone(places) }
    }

    /// Waits until a link or a place may be free. Requests are woken in the order in which they entered.
    pub async fn called(&self) {
        self.places.freed.notified().await;
    }
}

impl Drop for LinkQueue {
    fn drop(&mut self) {
        self.places.waiting.set(self.places.waiting.get() - 1);
    }
}

/// Place within the connection limit of an endpoint; released on drop.
///
/// Taken before connecting, so that connections being established count as well.
#[derive(Debug)]
pub struct LinkPermit {
    places: Rc<LinkPermits>,
    /// See [`crate::LinkPools::renew`].
    era: u32,
    /// Place within the limit of the cluster, if it has one.
    limit: Option<LimitPermit>,
}

impl LinkPermit {
    /// Takes a place, if fewer than `open_max` are taken.
    pub(crate) fn take(places: &Rc<LinkPermits>, open_max: u32, era: u32) -> Option<Self> {
        let open = places.open.get();
        if open >= open_max {
            return None;
        }
        places.open.set(open + 1);
        Some(Self { places: Rc::clone(places), era, limit: None })
    }

    /// Returns the place, which also occupies one within a limit of the cluster.
    pub fn within(mut self, limit: Option<LimitPermit>) -> Self {
        self.limit = limit;
        self
    }
}

impl Drop for LinkPermit {
    fn drop(&mut self) {
        self.places.open.set(self.places.open.get() - 1);
        self.places.notify();
    }
}

impl Link {
    /// Wraps a stream that was just connected.
    pub fn new(stream: Stream, place: LinkPermit) -> Self {
        Self { stream, requests: 0, idle_since: WorkerTime::ZERO, is_link_idle: false, place }
    }

    /// Whether the link has carried an exchange before.
    pub fn is_reused(&self) -> bool {
        self.requests > 0
    }

    /// Returns the number of exchanges that the link has carried.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Counts a finished exchange and marks the link as idle since `now`.
    pub(crate) fn rest(&mut self, now: WorkerTime) {
        self.requests += 1;
        self.wait(now);
    }

    /// Marks the link as idle since `now`.
    pub(crate) fn wait(&mut self, now: WorkerTime) {
        self.idle_since = now;
        self.is_link_idle = true;
    }

    /// Marks the link as busy.
    pub(crate) fn wake(&mut self) {
        self.is_link_idle = false;
    }

    /// Returns the era of the link, see [`crate::LinkPools::renew`].
    pub(crate) fn era(&self) -> u32 {
        self.place.era
    }

    /// Returns when the link became idle.
    pub(crate) fn idle_since(&self) -> WorkerTime {
        self.idle_since
    }
}

/// Sends TLS `close_notify`, unless an exchange is cut off.
impl Drop for Link {
    fn drop(&mut self) {
        if self.is_link_idle {
            self.stream.send_tls_close();
        }
    }
}
