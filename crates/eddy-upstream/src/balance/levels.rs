//! Which endpoints are asked before others: tiers, and of each tier eddy's own zone first.

use std::time::Duration;

use super::xxhash::xxh64;
use crate::endpoint::EndpointState;
use crate::rng::Rng;

/// The levels of a cluster's endpoints, and how a request finds the one that it begins with.
#[derive(Clone, Debug)]
pub(super) struct Levels {
    /// From the first that is asked; as [`EndpointState::level`] has them.
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

    /// The levels, from the one with this index on and then those before it.
    pub(super) fn beginning_with(&self, first: usize) -> impl Iterator<Item = u16> {
        let (before, behind) = self.levels.split_at_checked(first).unwrap_or_default();
        behind.iter().chain(before).copied()
    }

    /// The index of the level that a request is for: each bears as much as its available endpoints can, and the next ones
    /// what is left. Where all together can't bear everything, each gets its part of what they can.
    ///
    /// The same key meets the same level as long as endpoints stay as they are.
    ///
    /// # Cost
    /// Nothing where there is one level. Else linear in the endpoints, for each level that is asked.
    pub(super) fn first(
        &self,
        endpoints: &[EndpointState],
        key: &[u8],
        now: Duration,
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

    /// Whether there are several levels, and those endpoints that are available can bear everything together.
    pub(super) fn bear_all(
        &self,
        endpoints: &[EndpointState],
        is_available: impl Fn(&EndpointState) -> bool,
    ) -> bool {
        let borne: u64 = self.levels.iter().map(|level| self.borne(endpoints, *level, &is_available)).sum();
        self.levels.len() > 1 && borne >= WHOLE
    }

    /// How much of the whole a level can bear, percent.
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

/// All requests, percent.
const WHOLE: u64 = 100;
/// Keys are spread over levels otherwise than over endpoints.
const LEVEL_SEED: u64 = 2;
