//! Health state of endpoints, derived from check results.

use std::collections::HashMap;

use eddy_model::HealthConfig;

use crate::endpoint::{ResolvedAddress, UnhealthyReason};

/// The unhealthy endpoints of a cluster; replaced as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnhealthySet {
    members: HashMap<ResolvedAddress, UnhealthyReason>,
}

/// Health check results of one endpoint.
///
/// The first result decides alone; after it, as many in a row as configured are needed for a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Checkup {
    is_healthy: bool,
    /// Whether there was a result.
    is_known: bool,
    /// Consecutive results that contradict the current state.
    against: u32,
}

/// Effect of a check result on an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HealthChange {
    /// No change.
    None,
    /// The endpoint is healthy again.
    Healthy,
    /// The endpoint is no longer healthy.
    Unhealthy,
}

impl UnhealthySet {
    /// Returns why the endpoint at this address is unhealthy; `None` when it is healthy.
    pub fn why(&self, address: &ResolvedAddress) -> Option<&UnhealthyReason> {
        self.members.get(address)
    }

    /// Whether all endpoints are healthy.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Adds an unhealthy endpoint.
    pub fn insert(&mut self, address: ResolvedAddress, why: UnhealthyReason) {
        self.members.insert(address, why);
    }

    /// Removes an endpoint that is healthy again.
    pub fn remove(&mut self, address: &ResolvedAddress) {
        self.members.remove(address);
    }

    /// Removes the endpoints for which `is_kept` is false.
    pub fn retain(&mut self, is_kept: impl Fn(&ResolvedAddress) -> bool) {
        self.members.retain(|address, _| is_kept(address));
    }
}

impl Checkup {
    /// Creates the state of an endpoint that is new (healthy, not checked yet) or known to be unhealthy.
    pub(super) fn new(was_unhealthy: bool) -> Self {
        Self { is_healthy: !was_unhealthy, is_known: was_unhealthy, against: 0 }
    }

    /// Applies a check result.
    pub(super) fn on_answer(&mut self, is_good: bool, config: &HealthConfig) -> HealthChange {
        let is_first = !std::mem::replace(&mut self.is_known, true);
        if is_good == self.is_healthy {
            self.against = 0;
            return HealthChange::None;
        }
        self.against = self.against.saturating_add(1);
        let needed = if is_good { config.healthy_after } else { config.unhealthy_after };
        if self.against < needed && !is_first {
            return HealthChange::None;
        }
        self.against = 0;
        self.is_healthy = is_good;
        if is_good { HealthChange::Healthy } else { HealthChange::Unhealthy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Maps a row of results, `+` or `-`, to the changes: `w` for healthy, `u` for unhealthy, `.` for none.
    fn turns(was_unhealthy: bool, answers: &str) -> String {
        let config = HealthConfig { healthy_after: 2, unhealthy_after: 3, ..HealthConfig::default() };
        let mut checkup = Checkup::new(was_unhealthy);
        let turn = |answer| match checkup.on_answer(answer == '+', &config) {
            HealthChange::None => '.',
            HealthChange::Healthy => 'w',
            HealthChange::Unhealthy => 'u',
        };
        answers.chars().map(turn).collect()
    }

    #[test]
    fn the_first_result_decides_and_later_changes_need_several_in_a_row() {
        for (answers, expected) in [
            ("+--+---", "......u"),
            ("-+", "u."),
            ("-++", "u.w"),
            ("-+-++", "u...w"),
            ("+---++---", "...u.w..u"),
        ] {
            assert_eq!(turns(false, answers), expected, "{answers}");
        }
        // A state known from before is not changed by a single result.
        assert_eq!(turns(true, "+-++"), "...w");
    }
}
