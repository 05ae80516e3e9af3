//! Order in which groups of endpoints are used: by priority tier, and within a tier eddy's own zone first.

use eddy_ids::WorkerTime;

use super::xxhash::xxh64;
use crate::endpoint::EndpointState;
use crate::rng::Rng;

/// Levels of a cluster's endpoints, and the selection of the level at which a request starts.
#[derive(Clone, Debug)]
pub(super) struct Levels {
    /// In the order of use; values as in [`EndpointState::level`].
    levels: Vec<u16>,
    /// See [`crate::ClusterConfig::overprovision_percent`].
    percent: u32,
}

impl Levels {
    pub(super) fn new(endpoints: &[EndpointState], percent: u32) -> Self {
        let mut levels: Vec<u16> = endpoints.iter().map(EndpointState::level).collect();
        levels.sort_unstable();
        levels.dedup();
        Self { levels, percent }
    }

    /// Iterates over the levels: from the one at index `first` to the end, then those before it.
    pub(super) fn starting_at(&self, first: usize) -> impl Iterator<Item = u16> {
        let (before, behind) = self.levels.split_at(first);
        behind.iter().chain(before).copied()
    }

    /// Returns the index of the level for a request. Each level takes as much as its available endpoints can, and the
    /// next level takes the rest. Where all levels together cannot take everything, each gets its proportional part.
    ///
    /// The same key gets the same level as long as the endpoints do not change.
    ///
    /// # Cost
    /// None with one level. Else linear in the endpoints, for each level that is considered.
    pub(super) fn first(
        &self,
        endpoints: &[EndpointState],
        key: &[u8],
        now: WorkerTime,
        rng: &mut Rng,
    ) -> usize {
        if self.levels.len() < 2 {
            return 0;
        }
        let share = |level: u16| self.borne(endpoints, level, |endpoint| endpoint.is_available(now));
        if self.levels.first().is_none_or(|first| share(*first) >= WHOLE) {
            return 0;
        }
        let borne = self.levels.iter().fold(0, |borne, level| WHOLE.min(borne + share(*level)));
        if borne == 0 {
            return 0;
        }
        let mut point = if key.is_empty() { rng.below(borne) } else { xxh64(key, LEVEL_SEED) % borne };
        let mut left = borne;
        for (index, level) in self.levels.iter().enumerate() {
            let own = share(*level).min(left);
            match point.checked_sub(own) {
                Some(rest) => point = rest,
                None => return index,
            }
            left -= own;
        }
        0
    }

    /// Whether there are several levels and the available endpoints can take all requests together.
    pub(super) fn can_serve_all(
        &self,
        endpoints: &[EndpointState],
        is_available: impl Fn(&EndpointState) -> bool,
    ) -> bool {
        let borne: u64 = self.levels.iter().map(|level| self.borne(endpoints, *level, &is_available)).sum();
        self.levels.len() > 1 && borne >= WHOLE
    }

    /// Returns the share of all requests that a level can take, percent.
    fn borne(
        &self,
        endpoints: &[EndpointState],
        level: u16,
        is_available: impl Fn(&EndpointState) -> bool,
    ) -> u64 {
        let (mut available, mut all) = (0_u64, 0_u64);
        for endpoint in endpoints.iter().filter(|one| one.level() == level && !one.terms().is_down) {
            all += 1;
            available += u64::from(is_available(endpoint));
        }
        (available * u64::from(self.percent)).checked_div(all).unwrap_or(0).min(WHOLE)
    }
}

/// All requests, in percent.
const WHOLE: u64 = 100;
/// Seed that makes the distribution of keys over levels independent of the one over endpoints.
const LEVEL_SEED: u64 = 2;
