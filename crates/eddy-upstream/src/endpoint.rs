//! Endpoints with resolved addresses, and a worker's state of each.

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use eddy_ids::{Shared, WorkerTime};
use eddy_model::{EjectionConfig, EndpointOptions};

use crate::eject::Ejection;

/// Address of an endpoint after name resolution.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ResolvedAddress {
    /// A TCP address.
    Tcp(SocketAddr),
    /// A Unix socket.
    Unix(Arc<Path>),
}

/// A member of an `EndpointSet`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedEndpoint {
    /// Address of the endpoint.
    pub address: ResolvedAddress,
    /// Share of the requests relative to the other members; at least 1.
    pub weight: u32,
    /// Optional settings.
    pub terms: EndpointOptions,
    /// Name that resolved to the address; if several did, the first.
    pub host: Option<Shared<str>>,
}

/// Place of an exchange at an endpoint with a limit over all workers; released on drop.
#[derive(Debug)]
pub(crate) struct SharedPermit {
    of: Arc<AtomicU32>,
}

impl SharedPermit {
    /// Takes a place, if fewer than `max` are taken.
    ///
    /// # Cost
    /// A write to memory shared by all workers.
    pub(crate) fn take(of: &Arc<AtomicU32>, max: u32) -> Option<Self> {
        let below_max = |now: u32| (now < max).then_some(now + 1);
        of.fetch_update(Relaxed, Relaxed, below_max).ok()?;
        Some(Self { of: Arc::clone(of) })
    }
}

impl Drop for SharedPermit {
    fn drop(&mut self) {
        let before = self.of.fetch_sub(1, Relaxed);
        debug_assert!(before > 0, "each place was taken");
    }
}

/// Identifies an endpoint of a `ClusterState`; never reused for another endpoint after it is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EndpointId {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

/// Endpoints that an exchange has tried, so that a retry prefers another.
///
/// Holds the last `TRIED_MAX`; an exchange that tries more may return to the first.
#[derive(Clone, Debug, Default)]
pub struct TriedEndpoints {
    ids: [Option<EndpointId>; TRIED_MAX],
    next: usize,
}

/// Reason why an endpoint is unhealthy, in readable form.
pub type UnhealthyReason = Arc<str>;

/// State of one endpoint on one worker.
#[derive(Clone, Debug)]
pub struct EndpointState {
    pub(crate) id: EndpointId,
    /// Counted by its worker alone, unlike the path within.
    pub(crate) address: Rc<ResolvedAddress>,
    pub(crate) weight: u32,
    pub(crate) terms: EndpointOptions,
    pub(crate) host: Option<Shared<str>>,
    /// Whether the endpoint is in another zone than eddy, where both zones are known.
    pub(crate) is_in_other_zone: bool,
    /// Start of slow start, if it has begun.
    pub(crate) warms_since: Option<WorkerTime>,
    pub(crate) active: u32,
    /// Exchanges of all workers at the endpoint, where these have a shared limit.
    pub(crate) shared_active: Option<Arc<AtomicU32>>,
    /// Reason of the health checks, while they find the endpoint unhealthy.
    pub(crate) unhealthy: Option<UnhealthyReason>,
    /// Whether it is used even if unhealthy (panic mode).
    pub(crate) is_used_anyway: bool,
    pub(crate) ejection: Ejection,
    pub(crate) stats: EndpointStats,
}

/// Counters of one endpoint on one worker since the endpoint was added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointStats {
    /// Number of selections.
    pub selections: u64,
    /// Number of reported successes.
    pub successes: u64,
    /// Number of reported failures.
    pub failures: u64,
    /// Number of ejections.
    pub ejections: u64,
}

impl TriedEndpoints {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `id`; replaces the oldest when full.
    pub fn push(&mut self, id: EndpointId) {
        if let Some(place) = self.ids.get_mut(self.next) {
            *place = Some(id);
        }
        self.next = (self.next + 1) % TRIED_MAX;
    }

    /// Whether `id` is in the list.
    pub fn contains(&self, id: EndpointId) -> bool {
        self.ids.contains(&Some(id))
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        // Places are filled from the first on and never cleared.
        self.ids.first().is_none_or(Option::is_none)
    }
}

impl ResolvedEndpoint {
    /// Creates an endpoint without optional settings.
    pub fn new(address: ResolvedAddress, weight: u32) -> Self {
        Self { address, weight, terms: EndpointOptions::default(), host: None }
    }

    /// Returns the endpoint's own name, see [`EndpointState::own_name`].
    pub fn own_name(&self) -> Option<String> {
        own_name(self.host.as_deref(), &self.address)
    }

    /// Returns the name by which keys are mapped to the endpoint.
    pub(crate) fn key_name(&self) -> String {
        self.terms.label.as_ref().map_or_else(|| self.address.to_string(), |label| label.to_string())
    }
}

#[cfg(test)]
impl ResolvedEndpoint {
    /// Returns the member of a set for which a state was made.
    pub(crate) fn of_state(state: &EndpointState) -> Self {
        let (terms, host) = (state.terms.clone(), state.host.clone());
        Self { address: (*state.address).clone(), weight: state.weight, terms, host }
    }
}

impl EndpointState {
    pub(crate) fn new(id: EndpointId, endpoint: &ResolvedEndpoint) -> Self {
        Self {
            id,
            address: Rc::new(endpoint.address.clone()),
            weight: endpoint.weight,
            terms: endpoint.terms.clone(),
            host: endpoint.host.clone(),
            is_in_other_zone: false,
            warms_since: None,
            active: 0,
            shared_active: None,
            unhealthy: None,
            is_used_anyway: false,
            ejection: Ejection::default(),
            stats: EndpointStats::default(),
        }
    }

    /// Returns the ID of the endpoint in its `ClusterState`.
    pub fn id(&self) -> EndpointId {
        self.id
    }

    /// Returns the address of the endpoint.
    pub fn address(&self) -> &Rc<ResolvedAddress> {
        &self.address
    }

    /// Returns the endpoint's own name: the name that resolved to its address, else the address; `None` for a Unix
    /// socket without a name.
    pub fn own_name(&self) -> Option<String> {
        own_name(self.host.as_deref(), &self.address)
    }

    /// Returns why the endpoint is unhealthy; `None` when it is healthy or not checked.
    pub fn unhealthy(&self) -> Option<&UnhealthyReason> {
        self.unhealthy.as_ref()
    }

    /// Whether the endpoint is left out because it is unhealthy; in panic mode none is.
    pub fn is_excluded(&self) -> bool {
        self.unhealthy.is_some() && !self.is_used_anyway
    }

    /// Returns the share of the requests relative to the others.
    pub fn weight(&self) -> u32 {
        self.weight
    }

    /// Returns the optional settings.
    pub fn terms(&self) -> &EndpointOptions {
        &self.terms
    }

    /// Returns the level in the order of use: by tier, and within a tier eddy's own zone first.
    pub(crate) fn level(&self) -> u16 {
        u16::from(self.terms.tier) * 2 + u16::from(self.is_in_other_zone)
    }

    /// Returns the share that the endpoint gets in slow start of length `window`, percent.
    pub fn warmth(&self, window: Duration, now: WorkerTime) -> u64 {
        let Some(since) = self.warms_since else { return WARM };
        let elapsed = (now - since).as_duration().min(window);
        let gained = (elapsed.as_micros() * u128::from(WARM - COLD)).checked_div(window.as_micros());
        COLD + gained.and_then(|gained| u64::try_from(gained).ok()).unwrap_or(WARM - COLD)
    }

    /// Returns the ejection settings: the endpoint's own, else those of `cluster`.
    pub fn ejection_config(&self, cluster: &EjectionConfig) -> EjectionConfig {
        self.terms.ejection.unwrap_or(*cluster)
    }

    /// Whether the endpoint may be used at all: it is not down and has room for one more exchange.
    pub fn has_room(&self) -> bool {
        let active = self.shared_active.as_ref().map_or(self.active, |count| count.load(Relaxed));
        !self.terms.is_down && self.terms.active_max.is_none_or(|max| active < max)
    }

    /// Returns the number of active exchanges of this worker at the endpoint.
    pub fn active(&self) -> u32 {
        self.active
    }

    /// Returns the counters of the endpoint.
    pub fn stats(&self) -> EndpointStats {
        self.stats
    }

    /// Whether the endpoint is ejected or half open.
    pub fn is_ejected(&self) -> bool {
        self.ejection.is_out()
    }

    /// Returns when the endpoint may be tried again, while it is ejected.
    pub fn ejected_until(&self) -> Option<WorkerTime> {
        self.ejection.until()
    }

    /// Whether balancing may select the endpoint: healthy, and either not ejected or due for a probe.
    pub fn is_available(&self, now: WorkerTime) -> bool {
        !self.is_excluded() && self.ejection.is_available(now)
    }
}

impl fmt::Display for ResolvedAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

fn own_name(host: Option<&str>, address: &ResolvedAddress) -> Option<String> {
    match (host, address) {
        (Some(host), _) => Some(host.to_owned()),
        (None, ResolvedAddress::Tcp(address)) => Some(address.ip().to_string()),
        (None, ResolvedAddress::Unix(_)) => None,
    }
}

/// Full share of an endpoint, percent; `COLD` is the share at the start of slow start.
pub(crate) const WARM: u64 = 100;
const COLD: u64 = 10;

/// Maximum endpoints in a `TriedEndpoints`.
pub const TRIED_MAX: usize = 8;
