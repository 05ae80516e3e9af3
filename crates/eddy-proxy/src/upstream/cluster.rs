//! A cluster on one worker: its settings, its endpoints and the links to them.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use eddy_ids::{Millis, Shared, WorkerTime};
use eddy_io::{HandshakeFaultKind, PeerAlert, monotonic_time};
use eddy_model::{ClusterConfig, LimitKind, LinkProtocol};
use eddy_tls::ClientTls;
use eddy_upstream::health::UnhealthySet;
use eddy_upstream::{ClusterState, EndpointSet, InUse, LimitPermit, LinkPools, ResolvedAddress, Rng};
use tokio::sync::Notify;

use crate::fault::Fault;
use crate::stats::ClusterSeries;
use crate::upstream::registry::SharedLinks;
use crate::upstream::uploads::UploadSlots;

/// A cluster's endpoints and links on one worker; survives reloads that keep the cluster's name.
#[derive(Debug)]
pub(crate) struct WorkerCluster {
    pub(crate) config: Shared<ClusterConfig>,
    pub(crate) series: Arc<ClusterSeries>,
    /// TLS settings towards the endpoints.
    pub(crate) tls: Option<ClientTls>,
    /// Usage by all workers, when the cluster has limits.
    pub(crate) in_use: Option<Arc<InUse>>,
    /// Number of these settings among those that the cluster has had; counts up.
    epoch: u64,
    /// Endpoints that come into force with these settings, if they differ from those before.
    pending: RefCell<Option<Arc<EndpointSet>>>,
    /// Era of new links, once the settings are in force or overtaken.
    era: Cell<Option<u32>>,
    runtime: Rc<ClusterRuntime>,
    /// Time of the last log message about an endpoint that cannot be used.
    told_at: Cell<Option<WorkerTime>>,
    /// Number of links refused by the limit when that was last checked for closing idle ones.
    refused_before: Cell<u64>,
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
    pub(crate) config: Shared<ClusterConfig>,
    pub(crate) tls: Option<ClientTls>,
    pub(crate) series: Arc<ClusterSeries>,
    /// Usage by all workers, when the cluster has limits.
    pub(crate) in_use: Option<Arc<InUse>>,
}

impl WorkerCluster {
    /// Creates the state of a new cluster.
    pub(crate) fn new(
        parts: ClusterParts,
        set: Arc<EndpointSet>,
        idle_watch: Arc<Notify>,
        rng: &mut Rng,
    ) -> Self {
        let state = ClusterState::new(parts.config.clone(), set, monotonic_time(), rng);
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
            told_at: Cell::new(None),
            refused_before: Cell::new(0),
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
    pub(crate) fn has_same_settings(&self, parts: &ClusterParts) -> bool {
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
        if self.is_superseded() {
            self.era.set(Some(NO_ERA));
            return;
        }
        runtime.epoch.set(self.epoch);
        let time = monotonic_time();
        runtime.state.borrow_mut().reconfigure(self.config.clone(), time, &mut runtime.rng.borrow_mut());
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
    fn is_superseded(&self) -> bool {
        self.epoch < self.runtime.epoch.get()
    }

    /// Whether the links at hand were made under the TLS settings of this plan.
    pub(super) fn owns_links(&self) -> bool {
        self.era() == self.runtime.era.get()
    }

    /// Returns the era of new links.
    pub(super) fn era(&self) -> u32 {
        self.settle();
        self.era.get().unwrap_or(NO_ERA)
    }

    /// Applies another set of endpoints and closes the idle links to those that were removed. Without effect once newer
    /// settings are in force.
    pub(crate) fn update(&self, set: Arc<EndpointSet>) {
        let runtime = self.in_force();
        if self.is_superseded() {
            return;
        }
        let time = monotonic_time();
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
        if !self.is_superseded() {
            runtime.state.borrow_mut().set_unhealthy(unhealthy, monotonic_time());
        }
    }

    /// Returns the health of the endpoints and the retry budget.
    pub(crate) fn state(&self) -> &RefCell<ClusterState> {
        &self.in_force().state
    }

    /// Takes a permit of a cluster limit; `None` when there is no limit.
    ///
    /// # Errors
    /// [`Fault::Limit`], which has been counted.
    pub(crate) fn take(&self, kind: LimitKind) -> Result<Option<LimitPermit>, Fault> {
        let (Some(in_use), Some(max)) = (&self.in_use, self.config.limits.of(kind)) else { return Ok(None) };
        let place = in_use.take(kind, max);
        if place.is_none() {
            in_use.refuse(kind);
            return Err(Fault::Limit(kind));
        }
        Ok(place)
    }

    /// As [`Self::take`] for a connection; when the limit is reached, closes an idle link first.
    pub(super) fn take_connection_permit(&self) -> Result<Option<LimitPermit>, Fault> {
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

    /// Logs why an endpoint cannot be used, at most once per second.
    pub(crate) fn tell(&self, endpoint: &ResolvedAddress, now: WorkerTime, why: fmt::Arguments<'_>) {
        let is_early = |told_at| now - told_at < LOG_INTERVAL_MIN;
        if !self.told_at.get().is_some_and(is_early) {
            self.told_at.set(Some(now));
            let cluster = &self.config.name;
            tracing::warn!(%cluster, %endpoint, "{why}");
        }
    }

    /// Returns the fault of a new link that a TLS alert ended before the first byte of a response. An alert that ends the
    /// handshake is logged like other failed handshakes.
    pub(crate) fn fault_of_alert(
        &self,
        endpoint: &ResolvedAddress,
        alert: PeerAlert,
        now: WorkerTime,
    ) -> Fault {
        if !alert.ends_handshake {
            return Fault::TlsAlert;
        }
        self.tell(endpoint, now, format_args!("TLS handshake with an endpoint failed: {alert}"));
        Fault::Handshake(HandshakeFaultKind::Alert)
    }

    /// Logs an endpoint that does not speak HTTP/2.
    pub(crate) fn log_not_http2(&self, endpoint: &ResolvedAddress, now: WorkerTime) {
        let why = format_args!("an endpoint does not speak HTTP/2, which `protocol` requires");
        self.tell(endpoint, now, why);
    }

    /// Whether the connection limit has refused a worker since the last call: idle links of other workers are closed
    /// then.
    fn has_limit_refused_workers(&self) -> bool {
        let refused = self.in_use.as_ref().map_or(0, |in_use| in_use.refused(LimitKind::Connections));
        self.refused_before.replace(refused) != refused
    }

    /// Closes idle links that their endpoints have closed; see [`LinkPools::close_unusable`].
    pub(crate) fn close_unusable(&self) {
        self.runtime.pools.borrow_mut().close_unusable();
    }

    /// Closes links that have been idle for too long and updates the gauges.
    pub(crate) fn sweep(&self, now: WorkerTime) {
        let runtime = &*self.runtime;
        let mut pools = runtime.pools.borrow_mut();
        pools.sweep(&self.config.pool, now);
        if self.has_limit_refused_workers() {
            pools.clear();
            runtime.shared.borrow_mut().clear_idle();
        }
        let shared_idle = runtime.shared.borrow_mut().sweep(&self.config.pool, now);
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

fn is_same_tls(one: Option<&ClientTls>, other: Option<&ClientTls>) -> bool {
    one.is_some() == other.is_some() && one.zip(other).is_none_or(|(one, other)| one.is_same(other))
}

/// Era of links that are made under settings that were overtaken before they came into force: none of them is kept.
const NO_ERA: u32 = u32::MAX;
/// Minimum interval between log messages about unusable endpoints.
const LOG_INTERVAL_MIN: Millis = Millis::new(1000);

#[cfg(test)]
mod tests {
    use super::*;
    use eddy_model::Balance;
    use eddy_upstream::ResolvedEndpoint;

    fn parts() -> ClusterParts {
        let config = Shared::new(ClusterConfig::new("c", Vec::new()));
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
    fn settings_take_effect_with_their_endpoints_on_first_use() {
        let first = first();
        let second = first.succeed(parts(), Some(set(2)));
        assert_eq!(address(&first), "127.0.0.1:1");
        // Pending endpoints are kept when other settings follow.
        let third = second.succeed(parts(), None);
        assert_eq!(address(&first), "127.0.0.1:1");
        assert_eq!(address(&third), "127.0.0.1:2");
        assert_eq!(address(&first), "127.0.0.1:2");
    }

    #[test]
    fn superseded_settings_never_take_effect() {
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
