//! Endpoint sets: what the name resolution of a cluster produces.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use crate::balance::BalanceTables;
use crate::endpoint::{ResolvedAddress, ResolvedEndpoint};
use eddy_model::Balance;

/// The endpoints of a cluster at one time; immutable, replaced as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointSet {
    members: Vec<ResolvedEndpoint>,
    tables: BalanceTables,
    shared: SharedActive,
}

/// Exchanges of all workers at each member with a shared limit; touched only for such members.
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

/// Endpoint sets are equal regardless of the exchanges at their members.
impl PartialEq for SharedActive {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for SharedActive {}

impl EndpointSet {
    /// Creates a set of `members`. Duplicate addresses become one member with the sum of the weights and the settings
    /// of the first. The tables that `balance` needs are built with the set.
    pub fn new(members: impl IntoIterator<Item = ResolvedEndpoint>, balance: Balance) -> Self {
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
        let tables = BalanceTables::new(balance, &merged);
        Self { members: merged, tables, shared }
    }

    /// Returns the set with the shared exchange counts of members of `before` taken over.
    pub(crate) fn with_counts_of(mut self, before: &Self) -> Self {
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

    /// Returns the shared exchange count of a member, where it has a shared limit.
    pub(crate) fn shared_active(&self, place: usize) -> Option<&Arc<AtomicU32>> {
        self.shared.counts.get(place)?.as_ref()
    }

    /// Returns the members, in the order in which they were given.
    pub fn members(&self) -> &[ResolvedEndpoint] {
        &self.members
    }

    /// Returns the balancing tables of the members, shared by all workers.
    pub fn tables(&self) -> &BalanceTables {
        &self.tables
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is no member, as before the first name resolution.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}
