//! A cluster on one worker: whom to ask, and the links to them.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use eddy_upstream::eject::Change;
use eddy_upstream::{
    ClusterConfig, ClusterState, EndpointSet, Lease, Link, LinkPlace, LinkPools, ResolvedAddress, Rng,
};

use crate::stats::ClusterSeries;
use crate::worker::state::now;

/// A cluster's endpoints and links as one worker has them; survives reloads that keep the cluster's name.
#[derive(Debug)]
pub(crate) struct WorkerCluster {
    pub(crate) config: Arc<ClusterConfig>,
    pub(crate) series: Arc<ClusterSeries>,
    state: Rc<RefCell<ClusterState>>,
    pools: Rc<RefCell<LinkPools>>,
}

/// Which kept links an attempt may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkWanted {
    /// Any: should it have been closed, the request is repeated.
    Any,
    /// One that is seen to be open: what cannot be repeated is not entrusted to a link that may just have been closed.
    Quiet,
}

/// What there is for an attempt.
#[derive(Debug)]
pub(crate) enum TakenLink {
    /// A link that was used before.
    Kept(Link),
    /// Room for a new one.
    Place(LinkPlace),
}

/// One attempt's stay at an endpoint; ends when dropped.
#[derive(Debug)]
pub(crate) struct Stay {
    cluster: Rc<WorkerCluster>,
    /// Taken by `drop` only.
    lease: Option<Lease>,
    pub(crate) address: ResolvedAddress,
}

impl WorkerCluster {
    /// A cluster as it is first seen.
    pub(crate) fn new(
        config: Arc<ClusterConfig>,
        series: Arc<ClusterSeries>,
        set: Arc<EndpointSet>,
        now_ms: u64,
        rng: &mut Rng,
    ) -> Self {
        let state = ClusterState::new(Arc::clone(&config), set, now(now_ms), rng);
        Self { config, series, state: Rc::new(RefCell::new(state)), pools: Rc::default() }
    }

    /// The same cluster under another configuration: health and links stay.
    pub(crate) fn succeed(
        &self,
        config: Arc<ClusterConfig>,
        series: Arc<ClusterSeries>,
        now_ms: u64,
        rng: &mut Rng,
    ) -> Self {
        self.state.borrow_mut().reconfigure(Arc::clone(&config), now(now_ms), rng);
        Self { config, series, state: Rc::clone(&self.state), pools: Rc::clone(&self.pools) }
    }

    /// Takes over another set of endpoints and closes the idle links to those that have gone.
    pub(crate) fn update(&self, set: Arc<EndpointSet>, now_ms: u64, rng: &mut Rng) {
        let gone = self.state.borrow_mut().update(set, now(now_ms), rng);
        let mut pools = self.pools.borrow_mut();
        gone.into_iter().for_each(|id| pools.at(id).clear());
    }

    /// The health of the endpoints and the budget of retries.
    pub(crate) fn state(&self) -> &RefCell<ClusterState> {
        &self.state
    }

    /// The links.
    pub(crate) fn pools(&self) -> &RefCell<LinkPools> {
        &self.pools
    }

    /// Closes links that have been idle for too long and tells the gauges what is left.
    pub(crate) fn sweep(&self, now_ms: u64) {
        let mut pools = self.pools.borrow_mut();
        pools.sweep(&self.config.pool, now_ms);
        let count = pools.count();
        self.series.links.set(count.open);
        self.series.links_idle.set(count.idle);
        let ejected = self.state.borrow().endpoints().iter().filter(|endpoint| endpoint.is_ejected()).count();
        self.series.ejected.set(ejected as u64);
    }
}

impl Stay {
    /// A link to the endpoint, kept or to be made; `None` where it has as many as it may have.
    ///
    /// # Cost
    /// No system call for [`LinkWanted::Any`], else one for each kept link that is looked at.
    pub(crate) fn take_link(&self, wanted: LinkWanted, now_ms: u64) -> Option<TakenLink> {
        let cluster = &self.cluster;
        let mut pools = cluster.pools.borrow_mut();
        let pool = pools.at(self.lease().endpoint());
        while let Some(link) = pool.take(&cluster.config.pool, now_ms) {
            if wanted == LinkWanted::Any || link.stream.is_quiet_now() {
                return Some(TakenLink::Kept(link));
            }
        }
        pool.place(cluster.config.links_max).map(TakenLink::Place)
    }

    /// Room for a link that is not shared with exchanges; `None` where the endpoint has as many as it may have.
    pub(crate) fn take_place(&self) -> Option<LinkPlace> {
        self.cluster.pools.borrow_mut().at(self.lease().endpoint()).place(self.cluster.config.links_max)
    }

    /// Begins a stay that `lease` stands for; `None` when its endpoint has gone in the meantime.
    pub(crate) fn begin(cluster: &Rc<WorkerCluster>, lease: Lease) -> Option<Self> {
        let address =
            cluster.state.borrow().endpoint(lease.endpoint()).map(|endpoint| endpoint.address().clone());
        let Some(address) = address else {
            cluster.state.borrow_mut().release(lease);
            return None;
        };
        Some(Self { cluster: Rc::clone(cluster), lease: Some(lease), address })
    }

    /// The cluster.
    pub(crate) fn cluster(&self) -> &Rc<WorkerCluster> {
        &self.cluster
    }

    /// The lease.
    pub(crate) fn lease(&self) -> &Lease {
        self.lease.as_ref().expect("the lease is only taken when the stay is dropped")
    }

    /// Tells the endpoint's health that it served.
    pub(crate) fn succeeded(&self, now_ms: u64) {
        let change = self.cluster.state.borrow_mut().on_success(self.lease(), now(now_ms));
        self.tell(change);
    }

    /// Tells the endpoint's health that it failed.
    pub(crate) fn failed(&self, now_ms: u64) {
        let change = self.cluster.state.borrow_mut().on_failure(self.lease(), now(now_ms));
        self.tell(change);
    }

    fn tell(&self, change: Change) {
        let (cluster, endpoint) = (&self.cluster.config.name, &self.address);
        match change {
            Change::Ejected => {
                tracing::warn!(%cluster, %endpoint, "an endpoint fails and is left out for a while")
            }
            Change::Returned => tracing::info!(%cluster, %endpoint, "an endpoint serves again"),
            Change::EjectedAgain | Change::None => {}
        }
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        if let Some(lease) = self.lease.take() {
            self.cluster.state.borrow_mut().release(lease);
        }
    }
}
