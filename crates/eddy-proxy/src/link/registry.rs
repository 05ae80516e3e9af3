//! The links of HTTP/2 that one worker has to the endpoints of a cluster.

use std::collections::HashMap;
use std::rc::Rc;

use eddy_upstream::{EndpointId, PoolConfig};

use crate::link::open::Opening;
use crate::link::shared::{LinkStream, SharedLink};

/// An endpoint, spoken to in one way: see [`eddy_upstream::LinkPools::renew`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EndpointKey {
    pub(crate) id: EndpointId,
    pub(crate) era: u32,
}

/// The links of a cluster that are shared.
///
/// Bounded by the endpoints, and by the places that links have to take.
#[derive(Debug, Default)]
pub(crate) struct SharedLinks {
    endpoints: HashMap<EndpointKey, EndpointLinks>,
}

/// The links to one endpoint.
#[derive(Debug, Default)]
struct EndpointLinks {
    links: Vec<Rc<SharedLink>>,
    /// The one that is being established.
    opening: Option<Rc<Opening>>,
    /// When the endpoint last chose HTTP/1, where it had the choice.
    declined_ms: Option<u64>,
}

/// What there is for an exchange.
#[derive(Debug)]
pub(crate) enum LinkLookup {
    /// A stream.
    Stream(LinkStream),
    /// A link that is being established, and has room.
    Opening(Rc<Opening>),
    /// The endpoint would rather speak HTTP/1.
    Declined,
    /// No link that has room.
    Nothing,
}

impl SharedLinks {
    /// Looks for a stream.
    ///
    /// # Cost
    /// Linear in the links to the endpoint; no allocation but for one seen for the first time.
    pub(crate) fn find(&mut self, key: EndpointKey, now_ms: u64) -> LinkLookup {
        let endpoint = self.endpoints.entry(key).or_default();
        endpoint.links.retain(|link| !link.is_closed());
        if let Some(stream) = endpoint.links.iter().find_map(SharedLink::take) {
            return LinkLookup::Stream(stream);
        }
        if endpoint.declined_ms.is_some_and(|at_ms| now_ms.saturating_sub(at_ms) < DECLINED_MS) {
            return LinkLookup::Declined;
        }
        match &endpoint.opening {
            Some(opening) if opening.has_room() => LinkLookup::Opening(Rc::clone(opening)),
            Some(_) | None => LinkLookup::Nothing,
        }
    }

    /// Takes note that a link is being established.
    pub(super) fn begin(&mut self, key: EndpointKey, opening: &Rc<Opening>) {
        self.endpoints.entry(key).or_default().opening = Some(Rc::clone(opening));
    }

    /// Takes note that it is established; one that nobody waits for any more gets no requests.
    pub(super) fn establish(&mut self, key: EndpointKey, opening: &Rc<Opening>, link: &Rc<SharedLink>) {
        match self.endpoints.get_mut(&key) {
            Some(endpoint) => {
                endpoint.declined_ms = None;
                endpoint.links.push(Rc::clone(link));
                endpoint.end(opening);
            }
            None => link.retire(),
        }
    }

    /// Takes note that the endpoint has chosen HTTP/1.
    pub(super) fn decline(&mut self, key: EndpointKey, opening: &Rc<Opening>, now_ms: u64) {
        if let Some(endpoint) = self.endpoints.get_mut(&key) {
            endpoint.declined_ms = Some(now_ms);
            endpoint.end(opening);
        }
    }

    /// Takes note that nothing came of it.
    pub(super) fn fail(&mut self, key: EndpointKey, opening: &Rc<Opening>) {
        if let Some(endpoint) = self.endpoints.get_mut(&key) {
            endpoint.end(opening);
        }
    }

    /// Closes the links to an endpoint that has gone, each once its exchanges are over.
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

    /// Closes the links that nobody has a stream of.
    pub(crate) fn clear_idle(&mut self) {
        let links = self.endpoints.values().flat_map(|endpoint| &endpoint.links);
        links.filter(|link| link.is_at_rest()).for_each(|link| link.retire());
    }

    /// Closes those above `idle_max` that nobody has a stream of, and forgets those that have ended; how many are idle.
    ///
    /// # Cost
    /// Linear in the links.
    pub(crate) fn sweep(&mut self, config: &PoolConfig, now_ms: u64) -> u64 {
        let mut idle = 0;
        self.endpoints.retain(|_, endpoint| {
            endpoint.links.retain(|link| !link.is_closed());
            let at_rest: Vec<_> = endpoint.links.iter().filter(|link| link.is_at_rest()).collect();
            at_rest.iter().skip(config.idle_max as usize).for_each(|link| link.retire());
            idle += at_rest.len() as u64;
            let is_declined =
                endpoint.declined_ms.is_some_and(|at_ms| now_ms.saturating_sub(at_ms) < DECLINED_MS);
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

/// For how long an endpoint that has chosen HTTP/1 is not asked again, milliseconds.
const DECLINED_MS: u64 = 60_000;
