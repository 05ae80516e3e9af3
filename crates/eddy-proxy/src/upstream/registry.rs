//! HTTP/2 links of one worker to the endpoints of a cluster, established or about to be.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use eddy_ids::{Millis, WorkerTime};
use eddy_model::PoolConfig;
use eddy_upstream::EndpointId;
use tokio::sync::Notify;

use crate::fault::Fault;
use crate::upstream::shared::{LinkStream, SharedLink};

/// An endpoint with one set of connection settings: see [`eddy_upstream::LinkPools::renew`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EndpointKey {
    pub(crate) id: EndpointId,
    pub(crate) era: u32,
}

/// Shared links of a cluster.
///
/// Bounded by the endpoints and by the connection limits.
#[derive(Debug, Default)]
pub(crate) struct SharedLinks {
    endpoints: HashMap<EndpointKey, EndpointLinks>,
}

/// Links to one endpoint.
#[derive(Debug, Default)]
struct EndpointLinks {
    links: Vec<Rc<SharedLink>>,
    /// Link that is being established.
    opening: Option<Rc<Opening>>,
    /// Time at which the endpoint last chose HTTP/1 in ALPN.
    http1_negotiated_at: Option<WorkerTime>,
}

/// Result of looking for a link.
#[derive(Debug)]
pub(crate) enum LinkLookup {
    /// A stream of an existing link.
    Stream(LinkStream),
    /// A link that is being established and has capacity.
    Opening(Rc<Opening>),
    /// The endpoint has chosen HTTP/1.
    Declined,
    /// No link has capacity.
    Nothing,
}

impl SharedLinks {
    /// Looks for a stream.
    ///
    /// # Cost
    /// Linear in the links to the endpoint; allocates only for an endpoint that is seen for the first time.
    pub(crate) fn find(&mut self, key: EndpointKey, now: WorkerTime) -> LinkLookup {
        let endpoint = self.endpoints.entry(key).or_default();
        endpoint.links.retain(|link| !link.is_closed());
        if let Some(stream) = endpoint.links.iter().find_map(SharedLink::take) {
            return LinkLookup::Stream(stream);
        }
        if endpoint.http1_negotiated_at.is_some_and(|at| now - at < DECLINED) {
            return LinkLookup::Declined;
        }
        match &endpoint.opening {
            Some(opening) if opening.has_room() => LinkLookup::Opening(Rc::clone(opening)),
            Some(_) | None => LinkLookup::Nothing,
        }
    }

    /// Records that a link is being established.
    pub(super) fn begin(&mut self, key: EndpointKey, opening: &Rc<Opening>) {
        self.endpoints.entry(key).or_default().opening = Some(Rc::clone(opening));
    }

    /// Records that the link is established. A link whose endpoint is gone gets no requests.
    pub(super) fn establish(&mut self, key: EndpointKey, opening: &Rc<Opening>, link: &Rc<SharedLink>) {
        match self.endpoints.get_mut(&key) {
            Some(endpoint) => {
                endpoint.http1_negotiated_at = None;
                endpoint.links.push(Rc::clone(link));
                endpoint.end(opening);
            }
            None => link.retire(),
        }
    }

    /// Records that the endpoint has chosen HTTP/1.
    pub(super) fn decline(&mut self, key: EndpointKey, opening: &Rc<Opening>, now: WorkerTime) {
        if let Some(endpoint) = self.endpoints.get_mut(&key) {
            endpoint.http1_negotiated_at = Some(now);
            endpoint.end(opening);
        }
    }

    /// Records that the link could not be established.
    pub(super) fn fail(&mut self, key: EndpointKey, opening: &Rc<Opening>) {
        if let Some(endpoint) = self.endpoints.get_mut(&key) {
            endpoint.end(opening);
        }
    }

    /// Closes the links to a removed endpoint, each once its exchanges are over.
    pub(crate) fn remove(&mut self, id: EndpointId) {
        self.endpoints.retain(|key, endpoint| {
            let is_gone = key.id == id;
            if is_gone {
                endpoint.links.iter().for_each(|link| link.retire());
            }
            !is_gone
        });
    }

    /// Closes all links, each once its exchanges are over.
    pub(crate) fn clear(&mut self) {
        self.endpoints.values().flat_map(|endpoint| &endpoint.links).for_each(|link| link.retire());
        self.endpoints.clear();
    }

    /// Closes the links without streams.
    pub(crate) fn clear_idle(&mut self) {
        let links = self.endpoints.values().flat_map(|endpoint| &endpoint.links);
        links.filter(|link| link.has_no_streams()).for_each(|link| link.retire());
    }

    /// Closes idle links above `idle_max` and removes those that have ended; returns the number of idle links.
    ///
    /// # Cost
    /// Linear in the links.
    pub(crate) fn sweep(&mut self, config: &PoolConfig, now: WorkerTime) -> u64 {
        let mut idle = 0;
        self.endpoints.retain(|_, endpoint| {
            endpoint.links.retain(|link| !link.is_closed());
            let at_rest: Vec<_> = endpoint.links.iter().filter(|link| link.has_no_streams()).collect();
            at_rest.iter().skip(config.idle_max as usize).for_each(|link| link.retire());
            idle += at_rest.len() as u64;
            let is_declined = endpoint.http1_negotiated_at.is_some_and(|at| now - at < DECLINED);
            !endpoint.links.is_empty() || endpoint.opening.is_some() || is_declined
        });
        idle
    }
}

impl EndpointLinks {
    fn end(&mut self, opening: &Rc<Opening>) {
        self.opening.take_if(|current| Rc::ptr_eq(current, opening));
    }
}

/// Time for which an endpoint that has chosen HTTP/1 is not offered HTTP/2 again.
const DECLINED: Millis = Millis::new(60_000);

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
