//! A cluster on one worker: endpoint selection and links.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use eddy_http::Http2Fault;
use eddy_io::{HandshakeFault, monotonic_ms};
use eddy_model::{ClusterConfig, LimitKind, LinkProtocol};
use eddy_tls::ClientTls;
use eddy_upstream::eject::EjectionChange;
use eddy_upstream::health::UnhealthySet;
use eddy_upstream::{
    ClusterState, EndpointSet, InUse, Lease, LimitPlace, Link, LinkPlace, LinkPools, LinkQueue,
    ResolvedAddress, Rng,
};
use tokio::sync::Notify;

use crate::clock::now;
use crate::fault::Fault;
use crate::stats::ClusterSeries;
use crate::upstream::channel::UpstreamChannel;
use crate::upstream::opening::Opening;
use crate::upstream::registry::{EndpointKey, LinkLookup, SharedLinks};
use crate::upstream::shared::LinkStream;
use crate::upstream::uploads::UploadSlots;

/// A cluster's endpoints and links on one worker; survives reloads that keep the cluster's name.
#[derive(Debug)]
pub(crate) struct WorkerCluster {
    pub(crate) config: Arc<ClusterConfig>,
    pub(crate) series: Arc<ClusterSeries>,
    /// TLS settings towards the endpoints.
    pub(crate) tls: Option<ClientTls>,
    /// Usage by all workers, when the cluster has limits.
    in_use: Option<Arc<InUse>>,
    /// Number of these settings among those that the cluster has had; counts up.
    epoch: u64,
    /// Endpoints that come into force with these settings, if they differ from those before.
    pending: RefCell<Option<Arc<EndpointSet>>>,
    /// Era of new links, once the settings are in force or overtaken.
    era: Cell<Option<u32>>,
    runtime: Rc<ClusterRuntime>,
    /// Time of the last log message about an endpoint that cannot be used.
    told_ms: Cell<Option<u64>>,
    /// Number of links refused by the limit when that was last checked for closing idle ones.
    refused_seen: Cell<u64>,
}

/// State of a cluster on one worker, which it keeps under every configuration.
#[derive(Debug)]
struct ClusterRuntime {
    state: RefCell<ClusterState>,
    pools: RefCell<LinkPools>,
    /// Links shared by exchanges.
    shared: RefCell<SharedLinks>,
    uploads: Rc<UploadSlots>,
    rng: RefCell<Rng>,
    /// Epoch of the settings in force: the newest that any exchange has met.
    epoch: Cell<u64>,
    /// Era of links made under the TLS settings in force.
    era: Cell<u32>,
    /// TLS settings in force.
    tls: RefCell<Option<ClientTls>>,
}

/// Parts of a plan that concern a cluster.
pub(crate) struct ClusterParts {
    pub(crate) config: Arc<ClusterConfig>,
    pub(crate) tls: Option<ClientTls>,
    pub(crate) series: Arc<ClusterSeries>,
    /// Usage by all workers, when the cluster has limits.
    pub(crate) in_use: Option<Arc<InUse>>,
}

/// Which pooled links an attempt may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkWanted {
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
pub(crate) enum TakenLink {
    /// A link that was used before.
    Kept(Link),
    /// A stream of a shared link.
    Stream(LinkStream),
    /// A link that is being established and will be shared.
    Opening(Rc<Opening>),
    /// Permit for a new link.
    Place(LinkPlace),
    /// Permit for a new link that is shared if the endpoint agrees to HTTP/2.
    SharedPlace(LinkPlace),
}

/// Counts one attempt at an endpoint until it is dropped.
#[derive(Debug)]
pub(crate) struct EndpointGuard {
    cluster: Rc<WorkerCluster>,
    /// Taken by `drop` only.
    lease: Option<Lease>,
    pub(crate) address: Rc<ResolvedAddress>,
    /// Permit of the cluster's request limit, if there is one.
    _place: Option<LimitPlace>,
}

impl WorkerCluster {
    /// Creates the state of a new cluster.
    pub(crate) fn new(
        parts: ClusterParts,
        set: Arc<EndpointSet>,
        idle_watch: Arc<Notify>,
        rng: &mut Rng,
    ) -> Self {
        let state = ClusterState::new(Arc::clone(&parts.config), set, now(monotonic_ms()), rng);
        let runtime = ClusterRuntime {
            state: RefCell::new(state),
            pools: RefCell::new(LinkPools::watched_by(idle_watch)),
            shared: RefCell::default(),
            uploads: Rc::default(),
            rng: RefCell::new(Rng::new(rng.bits())),
            epoch: Cell::new(0),
            era: Cell::new(0),
            tls: RefCell::new(parts.tls.clone()),
        };
        Self::of(parts, 0, None, Some(0), Rc::new(runtime))
    }

    fn of(
        parts: ClusterParts,
        epoch: u64,
        pending: Option<Arc<EndpointSet>>,
        era: Option<u32>,
        runtime: Rc<ClusterRuntime>,
    ) -> Self {
        let ClusterParts { config, tls, series, in_use } = parts;
        Self {
            config,
            series,
            tls,
            in_use,
            epoch,
            pending: RefCell::new(pending),
            era: Cell::new(era),
            runtime,
            told_ms: Cell::new(None),
            refused_seen: Cell::new(0),
        }
    }

    /// Whether requests share links here, unless an endpoint declines HTTP/2.
    pub(crate) fn shares_links(&self) -> bool {
        match self.config.protocol {
            LinkProtocol::Http1 => false,
            LinkProtocol::Http2 => true,
            // Without TLS there is no ALPN.
            LinkProtocol::Auto => self.tls.is_some(),
        }
    }

    /// Whether the cluster has these settings.
    pub(crate) fn is_alike(&self, parts: &ClusterParts) -> bool {
        *self.config == *parts.config && is_same_tls(self.tls.as_ref(), parts.tls.as_ref())
    }

    /// Returns the same cluster under other settings, with `endpoints` if these are others. Health is kept, and so are
    /// links unless the TLS settings have changed.
    ///
    /// The settings come into force when the result is used for the first time, so that exchanges of the plan before
    /// never meet half of a new one.
    pub(crate) fn succeed(&self, parts: ClusterParts, endpoints: Option<Arc<EndpointSet>>) -> Self {
        let pending = endpoints.or_else(|| self.pending.borrow().clone());
        Self::of(parts, self.epoch + 1, pending, None, Rc::clone(&self.runtime))
    }

    /// Puts the settings in force, unless they are or newer ones are.
    pub(crate) fn settle(&self) {
        self.in_force();
    }

    /// Returns the state of the cluster, under these settings unless newer ones are in force.
    ///
    /// Housekeeping, which visits many clusters in one turn, takes the field `runtime`: putting the settings in
    /// force costs microseconds for each cluster.
    fn in_force(&self) -> &ClusterRuntime {
        if self.era.get().is_none() {
            self.take_effect();
        }
        &self.runtime
    }

    #[cold]
    fn take_effect(&self) {
        let runtime = &*self.runtime;
        if self.is_overtaken() {
            self.era.set(Some(NO_ERA));
            return;
        }
        runtime.epoch.set(self.epoch);
        let time = now(monotonic_ms());
        runtime.state.borrow_mut().reconfigure(Arc::clone(&self.config), time, &mut runtime.rng.borrow_mut());
        if !is_same_tls(runtime.tls.borrow().as_ref(), self.tls.as_ref()) {
            runtime.shared.borrow_mut().clear();
            runtime.era.set(runtime.pools.borrow_mut().renew());
            runtime.tls.replace(self.tls.clone());
        }
        self.era.set(Some(runtime.era.get()));
        if let Some(set) = self.pending.take() {
            self.update(set);
        }
    }

    /// Whether newer settings of the cluster are in force.
    fn is_overtaken(&self) -> bool {
        self.epoch < self.runtime.epoch.get()
    }

    /// Returns the era of new links.
    fn era(&self) -> u32 {
        self.settle();
        self.era.get().unwrap_or(NO_ERA)
    }

    /// Applies another set of endpoints and closes the idle links to those that were removed. Without effect once newer
    /// settings are in force.
    pub(crate) fn update(&self, set: Arc<EndpointSet>) {
        let runtime = self.in_force();
        if self.is_overtaken() {
            return;
        }
        let time = now(monotonic_ms());
        let gone = runtime.state.borrow_mut().update(set, time, &mut runtime.rng.borrow_mut());
        let (mut pools, mut shared) = (runtime.pools.borrow_mut(), runtime.shared.borrow_mut());
        for id in gone {
            pools.at(id).clear();
            shared.remove(id);
        }
    }

    /// Applies the results of health checks. Without effect once newer settings are in force.
    pub(crate) fn set_unhealthy(&self, unhealthy: Arc<UnhealthySet>) {
        let runtime = self.in_force();
        if !self.is_overtaken() {
            runtime.state.borrow_mut().set_unhealthy(unhealthy, now(monotonic_ms()));
        }
    }

    /// Returns the health of the endpoints and the retry budget.
    pub(crate) fn state(&self) -> &RefCell<ClusterState> {
        &self.in_force().state
    }

    /// Returns the usage by all workers, when the cluster has limits.
    pub(crate) fn in_use(&self) -> Option<&InUse> {
        self.in_use.as_deref()
    }

    /// Takes a permit of a cluster limit; `None` when there is no limit.
    ///
    /// # Errors
    /// [`Fault::Limit`], which has been counted.
    pub(crate) fn take(&self, kind: LimitKind) -> Result<Option<LimitPlace>, Fault> {
        let (Some(in_use), Some(max)) = (&self.in_use, self.config.limits.of(kind)) else { return Ok(None) };
        let place = in_use.take(kind, max);
        if place.is_none() {
            in_use.refuse(kind);
            return Err(Fault::Limit(kind));
        }
        Ok(place)
    }

    /// As [`Self::take`] for a connection; when the limit is reached, closes an idle link first.
    fn take_connection(&self) -> Result<Option<LimitPlace>, Fault> {
        let kind = LimitKind::Connections;
        let (Some(in_use), Some(max)) = (&self.in_use, self.config.limits.of(kind)) else { return Ok(None) };
        // The limit is checked again below: another worker may have taken the permit.
        if in_use.now(kind) >= max && !self.pools().borrow_mut().close_one() {
            self.shared().borrow_mut().clear_idle();
        }
        self.take(kind)
    }

    /// Returns the links that exchanges use exclusively, and the permits of all links.
    pub(crate) fn pools(&self) -> &RefCell<LinkPools> {
        &self.in_force().pools
    }

    /// Returns the links shared by exchanges.
    pub(crate) fn shared(&self) -> &RefCell<SharedLinks> {
        &self.in_force().shared
    }

    /// Returns the upload slots for requests with incomplete bodies.
    pub(crate) fn uploads(&self) -> &Rc<UploadSlots> {
        &self.in_force().uploads
    }

    /// Closes all idle links.
    pub(crate) fn clear_idle(&self) {
        self.runtime.pools.borrow_mut().clear();
        self.runtime.shared.borrow_mut().clear_idle();
    }

    /// Logs a failed TLS handshake, at most once per second.
    pub(crate) fn tell_handshake(&self, endpoint: &ResolvedAddress, fault: &HandshakeFault, now_ms: u64) {
        if self.is_to_tell(now_ms) {
            let cluster = &self.config.name;
            tracing::warn!(%cluster, %endpoint, "TLS handshake with an endpoint failed: {fault}");
        }
    }

    /// Logs an endpoint that does not speak HTTP/2, at most once per second.
    pub(crate) fn tell_strange(&self, endpoint: &ResolvedAddress, now_ms: u64) {
        if self.is_to_tell(now_ms) {
            let cluster = &self.config.name;
            tracing::warn!(%cluster, %endpoint, "an endpoint does not speak HTTP/2, which `protocol` requires");
        }
    }

    /// Logs an endpoint that violates HTTP/2, at most once per second.
    pub(crate) fn tell_broken(&self, endpoint: &ResolvedAddress, fault: Http2Fault, now_ms: u64) {
        if self.is_to_tell(now_ms) {
            let cluster = &self.config.name;
            tracing::warn!(%cluster, %endpoint, "an HTTP/2 connection to an endpoint failed: {fault}");
        }
    }

    fn is_to_tell(&self, now_ms: u64) -> bool {
        let is_early = |told_ms| now_ms.saturating_sub(told_ms) < TELL_EVERY_MS;
        let is_due = !self.told_ms.get().is_some_and(is_early);
        if is_due {
            self.told_ms.set(Some(now_ms));
        }
        is_due
    }

    /// Whether the connection limit has refused a worker since the last call: idle links of other workers are closed
    /// then.
    fn are_connections_wanted(&self) -> bool {
        let refused = self.in_use.as_ref().map_or(0, |in_use| in_use.refused(LimitKind::Connections));
        self.refused_seen.replace(refused) != refused
    }

    /// Closes idle links that their endpoints have closed; see [`LinkPools::close_disturbed`].
    pub(crate) fn close_disturbed(&self) {
        self.runtime.pools.borrow_mut().close_disturbed();
    }

    /// Closes links that have been idle for too long and updates the gauges.
    pub(crate) fn sweep(&self, now_ms: u64) {
        let runtime = &*self.runtime;
        let mut pools = runtime.pools.borrow_mut();
        pools.sweep(&self.config.pool, now_ms);
        if self.are_connections_wanted() {
            pools.clear();
            runtime.shared.borrow_mut().clear_idle();
        }
        let shared_idle = runtime.shared.borrow_mut().sweep(&self.config.pool, now_ms);
        let count = pools.count();
        self.series.links.set(count.open);
        self.series.links_idle.set(count.idle + shared_idle);
        let state = runtime.state.borrow();
        let ejected = state.endpoints().iter().filter(|endpoint| endpoint.is_ejected()).count();
        self.series.ejected.set(ejected as u64);
        let unhealthy = state.endpoints().iter().filter(|endpoint| endpoint.unhealthy().is_some()).count();
        self.series.unhealthy.set(unhealthy as u64);
    }
}

impl EndpointGuard {
    /// Returns a link to the endpoint: pooled, shared, or a permit for a new one.
    ///
    /// # Errors
    /// [`Fault::LinksExhausted`] when the endpoint has its maximum number of links, [`Fault::Limit`] when the cluster
    /// has.
    ///
    /// # Cost
    /// No system call for [`LinkWanted::Any`], otherwise one for each pooled link that is checked. Linear in the number
    /// of shared links.
    pub(crate) fn take_link(&self, wanted: LinkWanted, now_ms: u64) -> Result<TakenLink, Fault> {
        let is_declined = match self.find_shared(now_ms) {
            LinkLookup::Stream(stream) => return Ok(TakenLink::Stream(stream)),
            LinkLookup::Opening(opening) => return Ok(TakenLink::Opening(opening)),
            LinkLookup::Declined => true,
            LinkLookup::Nothing => false,
        };
        if is_declined && let Some(link) = self.take_kept(wanted, now_ms) {
            return Ok(TakenLink::Kept(link));
        }
        let (cluster, id) = (&self.cluster, self.lease().endpoint());
        let place = match self.take_place() {
            // An unwanted pooled link is closed to free its permit; it would also hold up requests that wait for a
            // link.
            Err(Fault::LinksExhausted)
                if wanted == LinkWanted::New && cluster.pools().borrow_mut().at(id).close_oldest() =>
            {
                self.take_place()?
            }
            taken => taken?,
        };
        Ok(if is_declined { TakenLink::Place(place) } else { TakenLink::SharedPlace(place) })
    }

    /// Returns a channel over a link that is at hand: a stream of a shared link, or a pooled link.
    ///
    /// # Cost
    /// As [`Self::take_link`].
    pub(crate) fn take_ready(&self, wanted: LinkWanted, now_ms: u64) -> Option<UpstreamChannel> {
        match self.find_shared(now_ms) {
            LinkLookup::Stream(stream) => Some(UpstreamChannel::Stream(stream)),
            LinkLookup::Declined => self.take_kept(wanted, now_ms).map(UpstreamChannel::Link),
            LinkLookup::Opening(_) | LinkLookup::Nothing => None,
        }
    }

    /// Looks for a shared link; a cluster that speaks HTTP/1 only has none.
    fn find_shared(&self, now_ms: u64) -> LinkLookup {
        let cluster = &self.cluster;
        if !cluster.shares_links() {
            return LinkLookup::Declined;
        }
        let found = cluster.shared().borrow_mut().find(self.key(), now_ms);
        if matches!(found, LinkLookup::Stream(_)) {
            cluster.series.http2_requests.increment();
        }
        found
    }

    /// Takes a pooled link; closes those that are not wanted.
    fn take_kept(&self, wanted: LinkWanted, now_ms: u64) -> Option<Link> {
        let cluster = &self.cluster;
        if cluster.era() != cluster.runtime.era.get() {
            // The links are those of other TLS settings.
            return None;
        }
        let id = self.lease().endpoint();
        let take = || cluster.pools().borrow_mut().at(id).take(&cluster.config.pool, now_ms);
        while wanted != LinkWanted::New
            && let Some(mut link) = take()
        {
            if wanted == LinkWanted::Any || link.stream.is_quiet_now() {
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
    pub(crate) fn take_place(&self) -> Result<LinkPlace, Fault> {
        let cluster = &self.cluster;
        let limit = cluster.take_connection()?;
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
        place: Option<LimitPlace>,
    ) -> Option<Self> {
        let address =
            cluster.state().borrow().endpoint(lease.endpoint()).map(|endpoint| Rc::clone(endpoint.address()));
        let Some(address) = address else {
            cluster.state().borrow_mut().release(lease);
            return None;
        };
        Some(Self { cluster: Rc::clone(cluster), lease: Some(lease), address, _place: place })
    }

    /// Returns the endpoint's own name, see [`eddy_upstream::EndpointState::own_name`].
    pub(crate) fn own_name(&self) -> Option<String> {
        self.cluster.state().borrow().endpoint(self.lease().endpoint())?.own_name()
    }

    /// Returns the cluster.
    pub(crate) fn cluster(&self) -> &Rc<WorkerCluster> {
        &self.cluster
    }

    /// Returns the lease.
    pub(crate) fn lease(&self) -> &Lease {
        self.lease.as_ref().expect("the lease is only taken when the guard is dropped")
    }

    /// Reports a success to the endpoint's health.
    pub(crate) fn succeeded(&self, now_ms: u64) {
        let change = self.cluster.state().borrow_mut().on_success(self.lease(), now(now_ms));
        self.tell(change);
    }

    /// Reports a failure to the endpoint's health.
    pub(crate) fn failed(&self, now_ms: u64) {
        let change = self.cluster.state().borrow_mut().on_failure(self.lease(), now(now_ms));
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

fn is_same_tls(one: Option<&ClientTls>, other: Option<&ClientTls>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => one.is_same(other),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

/// Era of links that are made under settings that were overtaken before they came into force: none of them is kept.
const NO_ERA: u32 = u32::MAX;
/// Minimum interval between log messages about unusable endpoints, in milliseconds.
const TELL_EVERY_MS: u64 = 1000;

#[cfg(test)]
mod tests {
    use super::*;
    use eddy_model::Balance;
    use eddy_upstream::ResolvedEndpoint;

    fn parts() -> ClusterParts {
        let config = Arc::new(ClusterConfig::new("c", Vec::new()));
        ClusterParts { config, tls: None, series: Arc::default(), in_use: None }
    }

    fn set(port: u16) -> Arc<EndpointSet> {
        let address = ResolvedAddress::Tcp(([127, 0, 0, 1], port).into());
        Arc::new(EndpointSet::new([ResolvedEndpoint::new(address, 1)], Balance::RoundRobin))
    }

    fn address(cluster: &WorkerCluster) -> String {
        cluster.state().borrow().endpoints()[0].address().to_string()
    }

    fn first() -> WorkerCluster {
        WorkerCluster::new(parts(), set(1), Arc::default(), &mut Rng::new(1))
    }

    #[test]
    fn settings_come_into_force_with_their_endpoints_when_they_are_first_used() {
        let first = first();
        let second = first.succeed(parts(), Some(set(2)));
        assert_eq!(address(&first), "127.0.0.1:1");
        // What has not come into force yet is not lost when other settings follow.
        let third = second.succeed(parts(), None);
        assert_eq!(address(&first), "127.0.0.1:1");
        assert_eq!(address(&third), "127.0.0.1:2");
        assert_eq!(address(&first), "127.0.0.1:2");
    }

    #[test]
    fn settings_that_were_overtaken_never_come_into_force() {
        let first = first();
        let second = first.succeed(parts(), Some(set(2)));
        let third = second.succeed(parts(), Some(set(3)));
        assert_eq!(address(&third), "127.0.0.1:3");
        assert_eq!(address(&second), "127.0.0.1:3");
        second.update(set(2));
        first.update(set(1));
        assert_eq!(address(&third), "127.0.0.1:3");
        third.update(set(4));
        assert_eq!(address(&second), "127.0.0.1:4");
        // Links made under such settings are not those of the others.
        assert_eq!((first.era(), second.era(), third.era()), (0, NO_ERA, 0));
    }
}
