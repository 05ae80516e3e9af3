//! Cluster state of one worker: endpoints, their health, balancing and the retry budget.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use eddy_ids::{Millis, Shared, WorkerTime};
use eddy_model::ClusterConfig;

use crate::balance::{BalanceTables, Balancer};
use crate::budget::RetryBudgetWindow;
use crate::eject::{self, EjectionChange};
use crate::endpoint::{EndpointId, EndpointState, ResolvedAddress, SharedPermit, TriedEndpoints, WARM};
use crate::endpoint_set::EndpointSet;
use crate::health::UnhealthySet;
use crate::rng::Rng;

/// State of a cluster on one worker; not shared with other threads.
#[derive(Debug)]
pub struct ClusterState {
    config: Shared<ClusterConfig>,
    set: Arc<EndpointSet>,
    /// In the order of `set`.
    endpoints: Vec<EndpointState>,
    slots: Vec<EndpointSlot>,
    slots_free: Vec<u32>,
    balancer: Balancer,
    budget: RetryBudgetWindow,
    /// Number of ejected `endpoints`.
    out: usize,
    /// Result of the health checks.
    unhealthy: Arc<UnhealthySet>,
    /// Time until which at least one endpoint is in slow start.
    warms_until: WorkerTime,
}

/// The claim of one attempt on an endpoint, from `ClusterState::select` to `ClusterState::release`.
#[derive(Debug)]
#[must_use = "an unreleased lease counts as an active request for ever"]
pub struct Lease {
    id: EndpointId,
    epoch: u32,
    /// Whether this request decides if an ejected endpoint returns.
    pub(crate) is_probe: bool,
    /// Held only to be dropped with the lease.
    _limit_permit: Option<SharedPermit>,
}

impl Lease {
    /// Returns the selected endpoint.
    pub fn endpoint(&self) -> EndpointId {
        self.id
    }
}

impl ClusterState {
    /// Creates the state of a cluster with the endpoints `set`.
    pub fn new(config: Shared<ClusterConfig>, set: Arc<EndpointSet>, now: WorkerTime, rng: &mut Rng) -> Self {
        let mut state = Self {
            balancer: Balancer::new(config.balance, &[], &BalanceTables::default(), rng),
            budget: RetryBudgetWindow::new(config.retry_budget),
            config,
            set: Arc::new(EndpointSet::default()),
            endpoints: Vec::new(),
            slots: Vec::new(),
            slots_free: Vec::new(),
            out: 0,
            unhealthy: Arc::default(),
            warms_until: WorkerTime::ZERO,
        };
        let gone = state.update(set, now, rng);
        debug_assert!(gone.is_empty());
        state
    }

    /// Returns the configuration in force.
    pub fn config(&self) -> &Shared<ClusterConfig> {
        &self.config
    }

    /// Returns all endpoints, in the order of the set.
    pub fn endpoints(&self) -> &[EndpointState] {
        &self.endpoints
    }

    /// Returns the retry budget.
    pub fn budget(&mut self) -> &mut RetryBudgetWindow {
        &mut self.budget
    }

    /// Returns the endpoint `id`, or `None` if it has been removed.
    pub fn endpoint(&self, id: EndpointId) -> Option<&EndpointState> {
        self.endpoints.get(self.index(id)?)
    }

    /// Selects an endpoint for a request and counts the request as active; `None` when no endpoint has room.
    ///
    /// The selected endpoint is added to `tried`, so that the next call for the same exchange prefers another.
    ///
    /// # Cost
    /// No allocation.
    pub fn select(&mut self, now: WorkerTime, rng: &mut Rng, tried: &mut TriedEndpoints) -> Option<Lease> {
        self.select_for(b"", now, rng, tried)
    }

    /// Selects as [`Self::select`] does, for a request with a balancing key; the key matters where
    /// [`crate::Balance::balances_by_key`] is true.
    ///
    /// # Cost
    /// No allocation; linear in the endpoints, logarithmic in the points of a ring.
    pub fn select_for(
        &mut self,
        key: &[u8],
        now: WorkerTime,
        rng: &mut Rng,
        tried: &mut TriedEndpoints,
    ) -> Option<Lease> {
        for _ in 0..RESELECTIONS_MAX {
            let index = self.pick(key, now, rng, tried)?;
            // Another worker may have taken the last free place meanwhile.
            if let Some(lease) = self.lease(index, now, tried) {
                return Some(lease);
            }
        }
        None
    }

    fn pick(&mut self, key: &[u8], now: WorkerTime, rng: &mut Rng, tried: &TriedEndpoints) -> Option<usize> {
        let mut index = self.balancer.pick(&self.endpoints, key, tried, now, rng)?;
        if now < self.warms_until && !self.config.balance.balances_by_key() {
            // Skipping an endpoint at random reduces its share as a lower weight would, and the others keep their
            // order.
            for _ in 0..COLD_PICKS_MAX {
                if rng.below(WARM) < self.warmth(index, now) {
                    break;
                }
                index = self.balancer.pick(&self.endpoints, key, tried, now, rng)?;
            }
        }
        Some(index)
    }

    fn warmth(&self, index: usize, now: WorkerTime) -> u64 {
        let window = self.config.slow_start.unwrap_or_default();
        self.endpoints.get(index).map_or(WARM, |endpoint| endpoint.warmth(window, now))
    }

    /// Selects the endpoint with the given `address:port`, if the cluster has it and it is available.
    ///
    /// # Cost
    /// Linear in the endpoints.
    pub fn select_address(
        &mut self,
        address: &[u8],
        now: WorkerTime,
        tried: &mut TriedEndpoints,
    ) -> Option<Lease> {
        let address: SocketAddr = std::str::from_utf8(address).ok()?.parse().ok()?;
        let is_it = |endpoint: &EndpointState| **endpoint.address() == ResolvedAddress::Tcp(address);
        let index =
            self.endpoints.iter().position(|endpoint| is_it(endpoint) && endpoint.is_available(now))?;
        self.lease(index, now, tried)
    }

    fn lease(&mut self, index: usize, now: WorkerTime, tried: &mut TriedEndpoints) -> Option<Lease> {
        let endpoint = self.endpoints.get_mut(index)?;
        let place = match (&endpoint.shared_active, endpoint.terms.active_max) {
            (Some(count), Some(max)) => Some(SharedPermit::take(count, max)?),
            _ => None,
        };
        endpoint.active = endpoint.active.saturating_add(1);
        endpoint.stats.selections += 1;
        tried.push(endpoint.id);
        let is_probe = endpoint.ejection.on_select(now);
        Some(Lease { id: endpoint.id, epoch: endpoint.ejection.epoch(), is_probe, _limit_permit: place })
    }

    /// Records a success of the endpoint of `lease`: a response head other than 502, 503 or 504.
    ///
    /// Returns the effect on ejection; the caller need not act on it.
    pub fn on_success(&mut self, lease: &Lease, now: WorkerTime) -> EjectionChange {
        let config = self.config.ejection;
        let Some(endpoint) = self.endpoint_mut(lease.id) else { return EjectionChange::None };
        let config = endpoint.ejection_config(&config);
        endpoint.stats.successes += 1;
        let change = endpoint.ejection.on_success(lease.epoch, now, &config);
        if change == EjectionChange::Returned {
            endpoint.warms_since = Some(now);
            self.out -= 1;
            self.warm_up(now);
        }
        self.check_invariants();
        change
    }

    /// Records a failure of the endpoint of `lease`: no connection, a reset, or a 502, 503 or 504.
    ///
    /// Returns the effect on ejection; the caller need not act on it.
    pub fn on_failure(&mut self, lease: &Lease, now: WorkerTime) -> EjectionChange {
        let room = eject::room(self.out, self.endpoints.len(), &self.config.ejection);
        let config = self.config.ejection;
        let Some(endpoint) = self.endpoint_mut(lease.id) else { return EjectionChange::None };
        let config = endpoint.ejection_config(&config);
        endpoint.stats.failures += 1;
        let change = endpoint.ejection.on_failure(lease.epoch, now, room, &config);
        if matches!(change, EjectionChange::Ejected | EjectionChange::EjectedAgain) {
            endpoint.stats.ejections += 1;
        }
        if change == EjectionChange::Ejected {
            self.out += 1;
        }
        self.check_invariants();
        change
    }

    /// Releases the endpoint; called once for each `select`, with or without a recorded outcome.
    pub fn release(&mut self, lease: Lease) {
        let Some(endpoint) = self.endpoint_mut(lease.id) else { return };
        debug_assert!(endpoint.active > 0);
        endpoint.active = endpoint.active.saturating_sub(1);
        if lease.is_probe && endpoint.ejection.epoch() == lease.epoch {
            endpoint.ejection.on_probe_lost();
        }
    }

    /// Replaces the set of endpoints; returns those that were removed.
    ///
    /// Endpoints in both sets keep their IDs, counters and health.
    ///
    /// # Cost
    /// Allocates; linear in both sets.
    pub fn update(&mut self, set: Arc<EndpointSet>, now: WorkerTime, rng: &mut Rng) -> Vec<EndpointId> {
        let mut known: HashMap<Rc<ResolvedAddress>, EndpointState> =
            self.endpoints.drain(..).map(|endpoint| (Rc::clone(&endpoint.address), endpoint)).collect();
        let mut kept = Vec::with_capacity(set.len());
        for member in set.members() {
            let endpoint = known.remove(&member.address).map(|endpoint| EndpointState {
                weight: member.weight,
                terms: member.terms.clone(),
                host: member.host.clone(),
                ..endpoint
            });
            kept.push((member, endpoint));
        }
        let gone: Vec<EndpointId> = known.into_values().map(|endpoint| endpoint.id).collect();
        gone.iter().for_each(|id| self.free_slot(*id));
        // Where all endpoints are new there is no slow start: no other endpoint could take the load.
        let warms_since = kept.iter().any(|(_, endpoint)| endpoint.is_some()).then_some(now);
        for (index, (member, endpoint)) in kept.into_iter().enumerate() {
            let mut endpoint = match endpoint {
                Some(endpoint) => endpoint,
                None => EndpointState { warms_since, ..EndpointState::new(self.take_slot(), member) },
            };
            endpoint.shared_active = set.shared_active(index).map(Arc::clone);
            self.set_slot(endpoint.id, index);
            self.endpoints.push(endpoint);
        }
        self.set = set;
        self.rebuild(now, rng);
        gone
    }

    /// Replaces the configuration of the cluster and keeps the state of its endpoints.
    pub fn reconfigure(&mut self, config: Shared<ClusterConfig>, now: WorkerTime, rng: &mut Rng) {
        self.budget.reconfigure(config.retry_budget);
        self.config = config;
        self.rebuild(now, rng);
    }

    /// Applies the result of the health checks.
    ///
    /// When too few endpoints are healthy, all are used (panic mode), because faulty checks are more likely. This does
    /// not apply where endpoints of other priorities or zones can take all requests.
    ///
    /// # Cost
    /// Linear in the endpoints.
    pub fn set_unhealthy(&mut self, unhealthy: Arc<UnhealthySet>, now: WorkerTime) {
        self.unhealthy = unhealthy;
        let is_healthy = |one: &EndpointState| self.unhealthy.why(&one.address).is_none();
        let well = self.endpoints.iter().filter(|one| is_healthy(one)).count();
        let percent = self.config.health.as_ref().map_or(0, |health| usize::from(health.panic_percent));
        let is_few = well * 100 < percent * self.endpoints.len();
        let is_panic = is_few && !self.balancer.covers_load(&self.endpoints, is_healthy);
        for endpoint in &mut self.endpoints {
            let was_excluded = endpoint.is_excluded();
            endpoint.unhealthy = self.unhealthy.why(&endpoint.address).cloned();
            endpoint.is_used_anyway = is_panic;
            if was_excluded && endpoint.unhealthy.is_none() && !is_panic {
                endpoint.warms_since = Some(now);
            }
        }
        self.warm_up(now);
    }

    /// Sets the end of slow start from the endpoints that are warming up.
    fn warm_up(&mut self, now: WorkerTime) {
        let Some(window) = self.config.slow_start else {
            self.warms_until = WorkerTime::ZERO;
            return;
        };
        let window = Millis::of(window);
        let ends = self.endpoints.iter().filter_map(|endpoint| Some(endpoint.warms_since? + window));
        self.warms_until = ends.filter(|end| *end > now).max().unwrap_or_default();
    }

    fn rebuild(&mut self, now: WorkerTime, rng: &mut Rng) {
        for endpoint in &mut self.endpoints {
            let zones = self.config.zone.as_ref().zip(endpoint.terms.zone.as_ref());
            endpoint.is_in_other_zone = zones.is_some_and(|(own, other)| own != other);
        }
        self.balancer = Balancer::new(self.config.balance, &self.endpoints, self.set.tables(), rng)
            .overprovisioned(&self.endpoints, self.config.overprovision_percent);
        self.set_unhealthy(Arc::clone(&self.unhealthy), now);
        self.out = self.endpoints.iter().filter(|endpoint| endpoint.is_ejected()).count();
        let config = self.config.ejection;
        let ejects = self.endpoints.iter().any(|endpoint| endpoint.ejection_config(&config).failures > 0);
        let ejected_max = if ejects { eject::ejected_max(self.endpoints.len(), &config) } else { 0 };
        while self.out > ejected_max {
            self.end_first_ejection(now);
        }
        self.check_invariants();
    }

    /// Returns the ejected endpoint whose ejection ends first to service.
    fn end_first_ejection(&mut self, now: WorkerTime) {
        let ejected = self.endpoints.iter_mut().filter(|endpoint| endpoint.is_ejected());
        if let Some(endpoint) = ejected.min_by_key(|endpoint| endpoint.ejection.until()) {
            endpoint.ejection.end_ejection(now);
        }
        self.out -= 1;
    }

    fn index(&self, id: EndpointId) -> Option<usize> {
        let slot = self.slots.get(usize::try_from(id.slot).ok()?)?;
        if slot.generation == id.generation { slot.index } else { None }
    }

    fn endpoint_mut(&mut self, id: EndpointId) -> Option<&mut EndpointState> {
        let index = self.index(id)?;
        self.endpoints.get_mut(index)
    }

    fn take_slot(&mut self) -> EndpointId {
        let slot = self.slots_free.pop().unwrap_or_else(|| {
            self.slots.push(EndpointSlot { generation: 0, index: None });
            u32::try_from(self.slots.len() - 1).expect("a cluster has far fewer than 2^32 endpoints")
        });
        let generation = self.slots[slot as usize].generation;
        EndpointId { slot, generation }
    }

    fn set_slot(&mut self, id: EndpointId, index: usize) {
        if let Some(slot) = self.slots.get_mut(id.slot as usize) {
            slot.index = Some(index);
        }
    }

    fn free_slot(&mut self, id: EndpointId) {
        if let Some(slot) = self.slots.get_mut(id.slot as usize) {
            slot.index = None;
            slot.generation = slot.generation.wrapping_add(1);
            self.slots_free.push(id.slot);
        }
    }

    /// Asserts, in debug builds, the invariants that hold between calls.
    fn check_invariants(&self) {
        debug_assert_eq!(self.out, self.endpoints.iter().filter(|endpoint| endpoint.is_ejected()).count());
        debug_assert!(self.endpoints.is_empty() || self.out < self.endpoints.len());
        debug_assert_eq!(self.slots.len(), self.endpoints.len() + self.slots_free.len());
        debug_assert!(
            self.endpoints.iter().enumerate().all(|(index, endpoint)| self.index(endpoint.id) == Some(index))
        );
    }
}

#[derive(Clone, Copy, Debug)]
struct EndpointSlot {
    /// Number of endpoints that have left the slot.
    generation: u32,
    /// Index of the endpoint in `ClusterState::endpoints`.
    index: Option<usize>,
}

/// Maximum selections repeated because other workers have taken the last free place of an endpoint.
const RESELECTIONS_MAX: u32 = 8;

/// Maximum times that endpoints in slow start are skipped before the next selection is accepted.
const COLD_PICKS_MAX: u32 = 8;
