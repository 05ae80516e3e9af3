//! By a key over a table: as even as the weights say, and another endpoint takes few keys from the others.

use super::eligible::Eligible;
use super::xxhash::xxh64;
use crate::endpoint::EndpointState;

/// Places in the table of [`crate::Balance::Maglev`]: a prime, a hundred times as many as there are endpoints in most clusters.
pub const MAGLEV_PLACES: usize = 65_537;
/// Places that are looked at, from a key's own on, for an endpoint that may be asked.
const TRIES_MAX: usize = 4096;

/// A table of places, each of an endpoint; a key belongs to the place that its hash names.
///
/// # Cost
/// 256 KiB, whatever the endpoints; made in a millisecond or two where weights are alike, shared by all workers.
///
/// # Source
/// Eisenbud et al., "Maglev: a fast and reliable software network load balancer", NSDI 2016, §3.4, with weights, names and
/// hashes as Envoy has them: the same endpoints and keys meet there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MaglevTable {
    /// The index of an endpoint for each place; none where there are no endpoints.
    places: Box<[u32]>,
}

/// The order in which one endpoint wants places, and how many it has had.
struct MaglevPermutation {
    endpoint: u32,
    weight: u64,
    offset: u64,
    skip: u64,
    /// Places asked for, those that others had included.
    asked: u64,
    /// The turn from which it may have another place, times its weight.
    due: u64,
}

impl MaglevTable {
    /// The table of these endpoints.
    ///
    /// # Cost
    /// Allocates; the number of places, times the largest weight over the mean one.
    pub(super) fn new(endpoints: &[EndpointState]) -> Self {
        let mut names: Vec<(String, u32)> = endpoints.iter().map(EndpointState::key_name).zip(0..).collect();
        // The order in which endpoints are written must not matter.
        names.sort_unstable();
        let weight_of = |index: u32| endpoints.get(index as usize).map_or(1, EndpointState::weight);
        let mut claims: Vec<MaglevPermutation> = names
            .into_iter()
            .map(|(name, endpoint)| MaglevPermutation::new(&name, endpoint, weight_of(endpoint)))
            .collect();
        let Some(heaviest) = claims.iter().map(|claim| claim.weight).max() else {
            return Self { places: Box::default() };
        };
        let mut places = vec![FREE; MAGLEV_PLACES].into_boxed_slice();
        let mut free = MAGLEV_PLACES;
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

    /// The endpoint of a key, or that of the next place that is admitted.
    ///
    /// # Cost
    /// A hash of the key, and a look at one place while its endpoint is admitted.
    pub(super) fn choose(
        &self,
        endpoints: &[EndpointState],
        key: &[u8],
        group: &Eligible<'_>,
    ) -> Option<usize> {
        let own = usize::try_from(xxh64(key, 0) % MAGLEV_PLACES as u64).ok()?;
        let from_own = self.places.get(own..)?.iter().chain(self.places.get(..own)?);
        let mut owners = from_own.take(TRIES_MAX).map(|owner| *owner as usize);
        owners.find(|owner| group.admits_at(endpoints, *owner))
    }
}

#[cfg(test)]
impl MaglevTable {
    /// How many places each of so many endpoints has.
    pub(crate) fn counts(&self, endpoints: usize) -> Vec<u32> {
        let mut counts = vec![0; endpoints];
        self.places.iter().for_each(|owner| counts[*owner as usize] += 1);
        counts
    }
}

impl MaglevPermutation {
    fn new(name: &str, endpoint: u32, weight: u32) -> Self {
        let (name, places) = (name.strip_prefix("unix:").unwrap_or(name), MAGLEV_PLACES as u64);
        Self {
            endpoint,
            weight: u64::from(weight),
            offset: xxh64(name.as_bytes(), 0) % places,
            // Never 0, so that a prime number of places is gone through to the last.
            skip: xxh64(name.as_bytes(), 1) % (places - 1) + 1,
            asked: 0,
            due: 0,
        }
    }

    /// Takes the first free place in the order; there is one.
    fn take(&mut self, places: &mut [u32]) {
        for _ in 0..MAGLEV_PLACES {
            let place = (self.offset + self.skip * self.asked) % MAGLEV_PLACES as u64;
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

/// Stands for no endpoint.
const FREE: u32 = u32::MAX;
