//! Endpoints with concrete addresses: the sets that resolution makes and what a worker knows of each member.

use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use crate::balance::BalanceTables;
use crate::config::{EjectionConfig, EndpointOptions};
use crate::eject::Ejection;
use crate::health::Unwell;

/// Where an endpoint is, once its name has been resolved.
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
    /// Where it is.
    pub address: ResolvedAddress,
    /// Its share of the requests relative to the other members; at least 1.
    pub weight: u32,
    /// What else holds for it.
    pub terms: EndpointOptions,
    /// The name that its address was found under; of several names for one address, the first.
    pub host: Option<Arc<str>>,
}

/// The endpoints of a cluster at one time; never changes, replaced as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointSet {
    members: Vec<ResolvedEndpoint>,
    tables: BalanceTables,
    shared: SharedActive,
}

/// The exchanges of all workers at each member that limits them together; touched only for such members.
#[derive(Clone, Debug, Default)]
struct SharedActive {
    counts: Vec<Option<Arc<AtomicU32>>>,
}

impl SharedActive {
    fn new(members: &[ResolvedEndpoint]) -> Self {
        let is_shared = |member: &ResolvedEndpoint| {
            member.terms.is_active_max_shared && member.terms.active_max.is_some()
        };
        if !members.iter().any(is_shared) {
            return Self::default();
        }
        Self { counts: members.iter().map(|member| is_shared(member).then(Arc::default)).collect() }
    }
}

/// Sets are the same whatever is going on at their members.
impl PartialEq for SharedActive {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for SharedActive {}

/// An exchange's place at an endpoint that limits those of all workers together; given back when dropped.
#[derive(Debug)]
pub(crate) struct SharedPlace {
    of: Arc<AtomicU32>,
}

impl SharedPlace {
    /// A place, if fewer than `max` are taken.
    ///
    /// # Cost
    /// A write to memory that all workers share.
    pub(crate) fn take(of: &Arc<AtomicU32>, max: u32) -> Option<Self> {
        let below_max = |now: u32| (now < max).then_some(now + 1);
        of.fetch_update(Relaxed, Relaxed, below_max).ok()?;
        Some(Self { of: Arc::clone(of) })
    }
}

impl Drop for SharedPlace {
    fn drop(&mut self) {
        let before = self.of.fetch_sub(1, Relaxed);
        debug_assert!(before > 0, "each place was taken");
    }
}

/// Names an endpoint of a `ClusterState`; never names another one after it has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EndpointId {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

/// The endpoints that one exchange has tried, so that a retry prefers another.
///
/// Remembers the last `TRIED_MAX`; an exchange that tries more may come back to the first.
#[derive(Clone, Debug, Default)]
pub struct Tried {
    ids: [Option<EndpointId>; TRIED_MAX],
    next: usize,
}

/// What a worker knows of one endpoint.
#[derive(Clone, Debug)]
pub struct EndpointState {
    pub(crate) id: EndpointId,
    pub(crate) address: ResolvedAddress,
    pub(crate) weight: u32,
    pub(crate) terms: EndpointOptions,
    pub(crate) host: Option<Arc<str>>,
    /// Whether it is in another zone than eddy, where both are known.
    pub(crate) is_far: bool,
    /// Since when it warms up, if it has begun to.
    pub(crate) warms_since: Option<Duration>,
    pub(crate) active: u32,
    /// The exchanges of all workers there, where those are limited together.
    pub(crate) shared_active: Option<Arc<AtomicU32>>,
    /// Why it is not well, as health checks say, and it is left out for it.
    pub(crate) unwell: Option<Unwell>,
    pub(crate) ejection: Ejection,
    pub(crate) stats: EndpointStats,
}

/// What has happened to an endpoint on one worker since the endpoint appeared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointStats {
    /// Times it was chosen.
    pub selections: u64,
    /// Times it was reported to have served.
    pub successes: u64,
    /// Times it was reported to have failed.
    pub failures: u64,
    /// Times it was ejected.
    pub ejections: u64,
}

impl EndpointSet {
    /// A set of `members`; an address that comes twice is one member with the weights added up and the terms of the first.
    pub fn new(members: impl IntoIterator<Item = ResolvedEndpoint>) -> Self {
        let mut merged: Vec<ResolvedEndpoint> = Vec::new();
        let mut places: HashMap<ResolvedAddress, usize> = HashMap::new();
        for member in members {
            let weight = member.weight.max(1);
            match places.get(&member.address).and_then(|place| merged.get_mut(*place)) {
                Some(earlier) => earlier.weight = earlier.weight.saturating_add(weight),
                None => {
                    places.insert(member.address.clone(), merged.len());
                    merged.push(ResolvedEndpoint { weight, ..member });
                }
            }
        }
        let shared = SharedActive::new(&merged);
        Self { members: merged, tables: BalanceTables::default(), shared }
    }

    /// The same set, which goes on counting the exchanges that all workers have at members of `before`.
    pub(crate) fn counting_on(mut self, before: &Self) -> Self {
        for (place, member) in self.members.iter().enumerate() {
            let earlier = before.members.iter().position(|other| other.address == member.address);
            if let (Some(count), Some(earlier)) = (self.shared.counts.get_mut(place), earlier)
                && let (Some(count), Some(Some(earlier))) = (count, before.shared.counts.get(earlier))
            {
                *count = Arc::clone(earlier);
            }
        }
        self
    }

    /// The count of exchanges that all workers have at a member, where that is limited.
    pub(crate) fn shared_active(&self, place: usize) -> Option<&Arc<AtomicU32>> {
        self.shared.counts.get(place)?.as_ref()
    }

    /// The members, in the order they were given.
    pub fn members(&self) -> &[ResolvedEndpoint] {
        &self.members
    }

    /// What balancers have made of the members, for all workers.
    pub fn tables(&self) -> &BalanceTables {
        &self.tables
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is no member, as before a name is first resolved.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

impl Tried {
    /// Nothing tried.
    pub fn new() -> Self {
        Self::default()
    }

    /// Remembers `id`, forgetting the oldest when full.
    pub fn push(&mut self, id: EndpointId) {
        if let Some(place) = self.ids.get_mut(self.next) {
            *place = Some(id);
        }
        self.next = (self.next + 1) % TRIED_MAX;
    }

    /// Whether `id` is remembered.
    pub fn contains(&self, id: EndpointId) -> bool {
        self.ids.contains(&Some(id))
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        // Places are taken from the first on and never given back.
        self.ids.first().is_none_or(Option::is_none)
    }
}

impl ResolvedEndpoint {
    /// An endpoint that nothing else holds for.
    pub fn new(address: ResolvedAddress, weight: u32) -> Self {
        Self { address, weight, terms: EndpointOptions::default(), host: None }
    }
}

impl ResolvedEndpoint {
    /// What it calls itself, see [`EndpointState::own_name`].
    pub fn own_name(&self) -> Option<String> {
        own_name(self.host.as_deref(), &self.address)
    }
}

impl EndpointState {
    pub(crate) fn new(id: EndpointId, endpoint: &ResolvedEndpoint) -> Self {
        Self {
            id,
            address: endpoint.address.clone(),
            weight: endpoint.weight,
            terms: endpoint.terms.clone(),
            host: endpoint.host.clone(),
            is_far: false,
            warms_since: None,
            active: 0,
            shared_active: None,
            unwell: None,
            ejection: Ejection::default(),
            stats: EndpointStats::default(),
        }
    }

    /// The name of the endpoint in its `ClusterState`.
    pub fn id(&self) -> EndpointId {
        self.id
    }

    /// Where the endpoint is.
    pub fn address(&self) -> &ResolvedAddress {
        &self.address
    }

    /// What it calls itself: the name that its address was found under, else the address; nothing behind a Unix socket.
    pub fn own_name(&self) -> Option<String> {
        own_name(self.host.as_deref(), &self.address)
    }

    /// Why it is left out, as health checks say; `None` when they find it well, or nobody asks it.
    pub fn unwell(&self) -> Option<&Unwell> {
        self.unwell.as_ref()
    }

    /// What it is called where keys are spread over endpoints.
    pub(crate) fn key_name(&self) -> String {
        self.terms.label.as_ref().map_or_else(|| self.address.to_string(), |label| label.to_string())
    }

    /// Its share of the requests relative to the others.
    pub fn weight(&self) -> u32 {
        self.weight
    }

    /// What else holds for it.
    pub fn terms(&self) -> &EndpointOptions {
        &self.terms
    }

    /// Its place in the order in which groups of endpoints are asked: by tier, and of a tier eddy's own zone first.
    pub(crate) fn level(&self) -> u16 {
        u16::from(self.terms.tier) * 2 + u16::from(self.is_far)
    }

    /// How much of its share it gets while it warms up for as long as `window`, percent.
    pub fn warmth(&self, window: Duration, now: Duration) -> u64 {
        let Some(since) = self.warms_since else { return WARM };
        let elapsed = now.saturating_sub(since).min(window);
        let gained = (elapsed.as_micros() * u128::from(WARM - COLD)).checked_div(window.as_micros());
        COLD + gained.and_then(|gained| u64::try_from(gained).ok()).unwrap_or(WARM - COLD)
    }

    /// When it is left out because it fails; `cluster` says so where it has no rule of its own.
    pub fn ejection_config(&self, cluster: &EjectionConfig) -> EjectionConfig {
        self.terms.ejection.unwrap_or(*cluster)
    }

    /// Whether it may be asked at all: it is not down, and has room for one more exchange.
    pub fn has_room(&self) -> bool {
        let active = self.shared_active.as_ref().map_or(self.active, |count| count.load(Relaxed));
        !self.terms.is_down && self.terms.active_max.is_none_or(|max| active < max)
    }

    /// Exchanges of this worker that are at the endpoint now.
    pub fn active(&self) -> u32 {
        self.active
    }

    /// What has happened to it.
    pub fn stats(&self) -> EndpointStats {
        self.stats
    }

    /// Whether it is left out because it failed, or its return is still undecided.
    pub fn is_ejected(&self) -> bool {
        self.ejection.is_out()
    }

    /// When it may be tried again, while it is left out because it failed.
    pub fn ejected_until(&self) -> Option<Duration> {
        self.ejection.until()
    }

    /// Whether a balancer may choose it: well, and not ejected, or due to be tried again.
    pub fn is_available(&self, now: Duration) -> bool {
        self.unwell.is_none() && self.ejection.is_available(now)
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

/// What of its share an endpoint gets, percent: all of it, and at first where it warms up.
pub(crate) const WARM: u64 = 100;
const COLD: u64 = 10;

/// How many endpoints a `Tried` remembers.
pub const TRIED_MAX: usize = 8;
