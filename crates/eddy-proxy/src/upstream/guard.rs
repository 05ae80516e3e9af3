//! An attempt at an endpoint: its lease, and the link that it gets.

use std::rc::Rc;

use eddy_ids::WorkerTime;
use eddy_io::PeerAlert;
use eddy_upstream::eject::EjectionChange;
use eddy_upstream::{Lease, LimitPermit, Link, LinkPermit, LinkQueue, ResolvedAddress};

use crate::fault::Fault;
use crate::upstream::channel::UpstreamChannel;
use crate::upstream::cluster::WorkerCluster;
use crate::upstream::registry::{EndpointKey, LinkLookup, Opening};
use crate::upstream::shared::LinkStream;

/// Which pooled links an attempt may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkRequirement {
    /// Any: if the link turns out to be closed, the request is repeated.
    Any,
    /// A link that is seen to be open: a request that cannot be repeated is not sent on a link that may just have been
    /// closed.
    Quiet,
    /// None: a pooled link has turned out to be closed, and the others may be closed as well.
    New,
}

/// Link or permit obtained for an attempt.
#[derive(Debug)]
pub(crate) enum ObtainedLink {
    /// A link that was used before.
    Kept(Link),
    /// A stream of a shared link.
    Stream(LinkStream),
    /// A link that is being established and will be shared.
    Opening(Rc<Opening>),
    /// Permit for a new link.
    OpenPermit(LinkPermit),
    /// Permit for a new link that is shared if the endpoint agrees to HTTP/2.
    SharedPermit(LinkPermit),
}

/// Counts one attempt at an endpoint until it is dropped.
#[derive(Debug)]
pub(crate) struct EndpointGuard {
    pub(crate) cluster: Rc<WorkerCluster>,
    /// Taken by `drop` only.
    lease: Option<Lease>,
    pub(crate) address: Rc<ResolvedAddress>,
    /// Permit of the cluster's request limit, if there is one and the request is not over.
    limit_permit: Option<LimitPermit>,
}

impl EndpointGuard {
    /// Returns a link to the endpoint: pooled, shared, or a permit for a new one.
    ///
    /// # Errors
    /// [`Fault::LinksExhausted`] when the endpoint has its maximum number of links, [`Fault::Limit`] when the cluster
    /// has.
    ///
    /// # Cost
    /// No system call for [`LinkRequirement::Any`], otherwise one for each pooled link that is checked. Linear in the number
    /// of shared links.
    pub(crate) fn take_link(&self, wanted: LinkRequirement, now: WorkerTime) -> Result<ObtainedLink, Fault> {
        let is_declined = match self.find_shared(now) {
            LinkLookup::Stream(stream) => return Ok(ObtainedLink::Stream(stream)),
            LinkLookup::Opening(opening) => return Ok(ObtainedLink::Opening(opening)),
            LinkLookup::Declined => true,
            LinkLookup::Nothing => false,
        };
        if is_declined && let Some(link) = self.take_pooled(wanted, now) {
            return Ok(ObtainedLink::Kept(link));
        }
        let (cluster, id) = (&self.cluster, self.lease().endpoint());
        let place = match self.take_link_permit() {
            // An unwanted pooled link is closed to free its permit; it would also hold up requests that wait for a
            // link.
            Err(Fault::LinksExhausted)
                if wanted == LinkRequirement::New && cluster.pools().borrow_mut().at(id).close_oldest() =>
            {
                self.take_link_permit()?
            }
            taken => taken?,
        };
        Ok(if is_declined { ObtainedLink::OpenPermit(place) } else { ObtainedLink::SharedPermit(place) })
    }

    /// Returns a channel over a link that is at hand: a stream of a shared link, or a pooled link.
    ///
    /// # Cost
    /// As [`Self::take_link`].
    pub(crate) fn take_ready(&self, wanted: LinkRequirement, now: WorkerTime) -> Option<UpstreamChannel> {
        match self.find_shared(now) {
            LinkLookup::Stream(stream) => Some(UpstreamChannel::Stream(stream)),
            LinkLookup::Declined => self.take_pooled(wanted, now).map(UpstreamChannel::Link),
            LinkLookup::Opening(_) | LinkLookup::Nothing => None,
        }
    }

    /// Looks for a shared link; a cluster that speaks HTTP/1 only has none.
    fn find_shared(&self, now: WorkerTime) -> LinkLookup {
        let cluster = &self.cluster;
        if !cluster.shares_links() {
            return LinkLookup::Declined;
        }
        let found = cluster.shared().borrow_mut().find(self.key(), now);
        if matches!(found, LinkLookup::Stream(_)) {
            cluster.series.http2_requests.increment();
        }
        found
    }

    /// Takes a pooled link; closes those that are not wanted.
    fn take_pooled(&self, wanted: LinkRequirement, now: WorkerTime) -> Option<Link> {
        let cluster = &self.cluster;
        if !cluster.owns_links() {
            return None;
        }
        let id = self.lease().endpoint();
        let take = || cluster.pools().borrow_mut().at(id).take(&cluster.config.pool, now);
        while wanted != LinkRequirement::New
            && let Some(mut link) = take()
        {
            if wanted == LinkRequirement::Any || link.stream.is_quiet_now() {
                return Some(link);
            }
        }
        None
    }

    /// Returns the key of the endpoint in the current era.
    pub(crate) fn key(&self) -> EndpointKey {
        EndpointKey { id: self.lease().endpoint(), era: self.cluster.era() }
    }

    /// Takes the permit for a new link.
    ///
    /// # Errors
    /// As [`Self::take_link`].
    pub(crate) fn take_link_permit(&self) -> Result<LinkPermit, Fault> {
        let cluster = &self.cluster;
        let limit = cluster.take_connection_permit()?;
        let mut pools = cluster.pools().borrow_mut();
        let place = pools.at(self.lease().endpoint()).place(cluster.config.links_max, cluster.era());
        Ok(place.ok_or(Fault::LinksExhausted)?.within(limit))
    }

    /// Whether requests wait for a link to the endpoint.
    pub(crate) fn has_queue(&self) -> bool {
        self.cluster.pools().borrow_mut().at(self.lease().endpoint()).has_queue()
    }

    /// Enters the queue of requests that wait for a link to the endpoint.
    pub(crate) fn queue(&self) -> LinkQueue {
        self.cluster.pools().borrow_mut().at(self.lease().endpoint()).queue()
    }

    /// Guards `lease`, and the permit `place` of the request limit; `None` when the endpoint was removed in the
    /// meantime.
    pub(crate) fn begin(
        cluster: &Rc<WorkerCluster>,
        lease: Lease,
        place: Option<LimitPermit>,
    ) -> Option<Self> {
        let address =
            cluster.state().borrow().endpoint(lease.endpoint()).map(|endpoint| Rc::clone(endpoint.address()));
        let Some(address) = address else {
            cluster.state().borrow_mut().release(lease);
            return None;
        };
        Some(Self { cluster: Rc::clone(cluster), lease: Some(lease), address, limit_permit: place })
    }

    /// Ends the request as far as the cluster's request limit is concerned.
    pub(crate) fn free_limit(&mut self) {
        self.limit_permit = None;
    }

    /// Returns a link, on which nothing is left over, to the pool.
    pub(crate) fn return_link(&self, link: Link, now: WorkerTime) {
        let cluster = &self.cluster;
        cluster.pools().borrow_mut().at(self.lease().endpoint()).put(link, &cluster.config.pool, now);
    }

    /// Returns the endpoint's own name, see [`eddy_upstream::EndpointState::own_name`].
    pub(crate) fn own_name(&self) -> Option<String> {
        self.cluster.state().borrow().endpoint(self.lease().endpoint())?.own_name()
    }

    /// As [`WorkerCluster::fault_of_alert`], for this endpoint.
    pub(crate) fn fault_of_alert(&self, alert: PeerAlert, now: WorkerTime) -> Fault {
        self.cluster.fault_of_alert(&self.address, alert, now)
    }

    pub(crate) fn lease(&self) -> &Lease {
        self.lease.as_ref().expect("the lease is only taken when the guard is dropped")
    }

    /// Reports a success to the endpoint's health.
    pub(crate) fn succeeded(&self, now: WorkerTime) {
        let change = self.cluster.state().borrow_mut().on_success(self.lease(), now);
        self.tell(change);
    }

    /// Reports a failure to the endpoint's health.
    pub(crate) fn failed(&self, now: WorkerTime) {
        let change = self.cluster.state().borrow_mut().on_failure(self.lease(), now);
        self.tell(change);
    }

    fn tell(&self, change: EjectionChange) {
        let (cluster, endpoint) = (&self.cluster.config.name, &self.address);
        match change {
            EjectionChange::Ejected => {
                tracing::warn!(%cluster, %endpoint, "an endpoint fails and is ejected")
            }
            EjectionChange::Returned => {
                tracing::info!(%cluster, %endpoint, "an ejected endpoint is used again")
            }
            EjectionChange::EjectedAgain | EjectionChange::None => {}
        }
    }
}

impl Drop for EndpointGuard {
    fn drop(&mut self) {
        if let Some(lease) = self.lease.take() {
            self.cluster.state().borrow_mut().release(lease);
        }
    }
}
