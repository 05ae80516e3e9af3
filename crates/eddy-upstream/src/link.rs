//! One connection to an endpoint.

use std::cell::Cell;
use std::rc::Rc;

use eddy_io::Stream;
use tokio::sync::Notify;

use crate::limits::LimitPlace;

/// A connection to an endpoint; carries one exchange after the other.
#[derive(Debug)]
pub struct Link {
    /// The connected stream.
    pub stream: Stream,
    requests: u64,
    idle_since_ms: u64,
    /// Whether it carries no exchange.
    is_at_rest: bool,
    /// Counted while the link lives, so that a limit on links holds whoever has it.
    place: LinkPlace,
}

/// The links of an endpoint as their limit counts them, and the queue of those that wait for one.
#[derive(Debug, Default)]
pub(crate) struct LinkPlaces {
    /// Idle, busy and being connected.
    pub(crate) open: Cell<u32>,
    /// Requests in the queue.
    waiting: Cell<u32>,
    /// Notified when a link or a place is free, the longest-waiting request first.
    freed: Notify,
}

impl LinkPlaces {
    /// Whether requests wait for a link.
    pub(crate) fn has_queue(&self) -> bool {
        self.waiting.get() > 0
    }

    /// Lets the longest-waiting request look again.
    pub(crate) fn notify(&self) {
        if self.has_queue() {
            self.freed.notify_one();
        }
    }
}

/// A request in the queue for a link to an endpoint that has as many as it may have; leaves the queue when dropped.
#[derive(Debug)]
pub struct LinkQueue {
    places: Rc<LinkPlaces>,
}

impl LinkQueue {
    /// Enters the queue of an endpoint.
    pub(crate) fn enter(places: &Rc<LinkPlaces>) -> Self {
        places.waiting.set(places.waiting.get() + 1);
        Self { places: Rc::clone(places) }
    }

    /// Waits until a link or a place may be free. Requests are called in the order in which they came to wait.
    pub async fn called(&self) {
        self.places.freed.notified().await;
    }
}

impl Drop for LinkQueue {
    fn drop(&mut self) {
        self.places.waiting.set(self.places.waiting.get() - 1);
    }
}

/// A place among the links that an endpoint may have; given back when dropped.
///
/// Taken before connecting, so that links on their way count as well.
#[derive(Debug)]
pub struct LinkPlace {
    places: Rc<LinkPlaces>,
    /// See [`crate::LinkPools::renew`].
    era: u32,
    /// Its place within the limit of the cluster, where that has one.
    limit: Option<LimitPlace>,
}

impl LinkPlace {
    /// A place, if fewer than `open_max` are taken.
    pub(crate) fn take(places: &Rc<LinkPlaces>, open_max: u32, era: u32) -> Option<Self> {
        let open = places.open.get();
        if open >= open_max {
            return None;
        }
        places.open.set(open + 1);
        Some(Self { places: Rc::clone(places), era, limit: None })
    }

    /// The same place, which counts within a limit of the cluster as well.
    pub fn within(mut self, limit: Option<LimitPlace>) -> Self {
        self.limit = limit;
        self
    }
}

impl Drop for LinkPlace {
    fn drop(&mut self) {
        self.places.open.set(self.places.open.get() - 1);
        self.places.notify();
    }
}

impl Link {
    /// A link over a stream that was just connected.
    pub fn new(stream: Stream, place: LinkPlace) -> Self {
        Self { stream, requests: 0, idle_since_ms: 0, is_at_rest: false, place }
    }

    /// Whether the link has carried an exchange before.
    pub fn is_reused(&self) -> bool {
        self.requests > 0
    }

    /// How many exchanges the link has carried.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Counts an exchange as carried, and the link as idle since `now_ms`.
    pub(crate) fn rest(&mut self, now_ms: u64) {
        self.requests += 1;
        self.wait(now_ms);
    }

    /// Counts the link as idle since `now_ms`.
    pub(crate) fn wait(&mut self, now_ms: u64) {
        self.idle_since_ms = now_ms;
        self.is_at_rest = true;
    }

    /// Begins to carry another exchange.
    pub(crate) fn wake(&mut self) {
        self.is_at_rest = false;
    }

    /// The era it is of.
    pub(crate) fn era(&self) -> u32 {
        self.place.era
    }

    /// When the link became idle.
    pub(crate) fn idle_since_ms(&self) -> u64 {
        self.idle_since_ms
    }
}

/// Whoever is at the other end of TLS is told that nothing more will come, unless what was under way is cut off.
impl Drop for Link {
    fn drop(&mut self) {
        if self.is_at_rest {
            self.stream.say_end();
        }
    }
}
