//! Maglev balancing: a lookup table that is as even as the weights and moves few keys when an endpoint is added.

use eddy_model::MAGLEV_TABLE_SIZE;

use super::eligible::Eligible;
use super::xxhash::xxh64;
use crate::endpoint::ResolvedEndpoint;

/// Maximum table slots that are searched, from the slot of the key on, for an eligible endpoint.
const TRIES_MAX: usize = 4096;

/// A table of slots, each owned by an endpoint; a key belongs to the slot that its hash selects.
///
/// # Cost
/// 256 KiB for any number of endpoints; built in one or two milliseconds where weights are similar; shared by all
/// workers.
///
/// # Source
/// Eisenbud et al., "Maglev: a fast and reliable software network load balancer", NSDI 2016, §3.4, with the weights,
/// names and hashes of Envoy: the same endpoints and keys map to each other as there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MaglevTable {
    /// Endpoint index of each slot; empty where there are no endpoints.
    places: Box<[u32]>,
}

/// Preference order of one endpoint over the slots, and the number of slots it has requested.
struct MaglevPermutation {
    endpoint: u32,
    weight: u64,
    offset: u64,
    skip: u64,
    /// Number of slots requested, including those that others already had.
    asked: u64,
    /// Round from which the endpoint may take another slot, multiplied by its weight.
    due: u64,
}

impl MaglevTable {
    /// Builds the table of `members`.
    ///
    /// # Cost
    /// Allocates; linear in the number of slots, times the ratio of the largest weight to the mean weight.
    pub(super) fn new(members: &[ResolvedEndpoint]) -> Self {
        let mut names: Vec<(String, u32)> = members.iter().map(ResolvedEndpoint::key_name).zip(0..).collect();
        // The table must not depend on the configured order of endpoints.
        names.sort_unstable();
        let weight_of = |index: u32| members.get(index as usize).map_or(1, |member| member.weight);
        let mut claims: Vec<MaglevPermutation> = names
            .into_iter()
            .map(|(name, endpoint)| MaglevPermutation::new(&name, endpoint, weight_of(endpoint)))
            .collect();
        let Some(heaviest) = claims.iter().map(|claim| claim.weight).max() else {
            return Self { places: Box::default() };
        };
        let mut places = vec![FREE; MAGLEV_TABLE_SIZE].into_boxed_slice();
        let mut free = MAGLEV_TABLE_SIZE;
        for turn in 1.. {
            for claim in &mut claims {
                if free == 0 {
                    return Self { places };
                }
                if turn * claim.weight < claim.due {
                    continue;
                }
                claim.due += heaviest;
                claim.take(&mut places);
                free -= 1;
            }
        }
        Self { places }
    }

    /// Returns the endpoint of a key, or that of the next slot whose endpoint is admitted.
    ///
    /// # Cost
    /// One hash of the key, and one slot while its endpoint is admitted.
    pub(super) fn choose(&self, group: &Eligible<'_>) -> Option<usize> {
        let own = usize::try_from(xxh64(group.key, 0) % MAGLEV_TABLE_SIZE as u64).ok()?;
        let from_own = self.places.get(own..)?.iter().chain(self.places.get(..own)?);
        let mut owners = from_own.take(TRIES_MAX).map(|owner| *owner as usize);
        owners.find(|owner| group.admits_at(*owner))
    }
}

#[cfg(test)]
impl MaglevTable {
    /// Returns the number of slots of each of the `endpoints`.
    pub(crate) fn counts(&self, endpoints: usize) -> Vec<u32> {
        let mut counts = vec![0; endpoints];
        self.places.iter().for_each(|owner| counts[*owner as usize] += 1);
        counts
    }
}

impl MaglevPermutation {
    fn new(name: &str, endpoint: u32, weight: u32) -> Self {
        let (name, places) = (name.strip_prefix("unix:").unwrap_or(name), MAGLEV_TABLE_SIZE as u64);
        Self {
            endpoint,
            weight: u64::from(weight),
            offset: xxh64(name.as_bytes(), 0) % places,
            // Never 0; together with the prime table size every slot is reached.
            skip: xxh64(name.as_bytes(), 1) % (places - 1) + 1,
            asked: 0,
            due: 0,
        }
    }

    /// Takes the first free slot in the preference order; there always is one.
    fn take(&mut self, places: &mut [u32]) {
        for _ in 0..MAGLEV_TABLE_SIZE {
            let place = (self.offset + self.skip * self.asked) % MAGLEV_TABLE_SIZE as u64;
            self.asked += 1;
            if let Some(place) = usize::try_from(place).ok().and_then(|place| places.get_mut(place))
                && *place == FREE
            {
                *place = self.endpoint;
                return;
            }
        }
    }
}

/// Marks a slot without an endpoint.
const FREE: u32 = u32::MAX;
