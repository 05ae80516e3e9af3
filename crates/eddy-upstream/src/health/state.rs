//! What answers come to.

use std::collections::HashMap;
use std::sync::Arc;

use super::config::HealthConfig;
use crate::endpoint::ResolvedAddress;

/// The endpoints of a cluster that are not well; replaced as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnhealthySet {
    members: HashMap<ResolvedAddress, Unwell>,
}

/// Why an endpoint is not well, for people.
pub type Unwell = Arc<str>;

/// One endpoint's answers so far.
///
/// The first answer decides by itself; after it as many in a row as configured do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Checkup {
    is_well: bool,
    /// Whether there was an answer.
    is_known: bool,
    /// Answers in a row that say the opposite.
    against: u32,
}

/// What an answer did to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HealthChange {
    /// Nothing.
    None,
    /// It is well again.
    Well,
    /// It is not well any more.
    Unwell,
}

impl UnhealthySet {
    /// Why the endpoint at this address is not well; `None` when it is.
    pub fn why(&self, address: &ResolvedAddress) -> Option<&Unwell> {
        self.members.get(address)
    }

    /// Whether all are well.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Notes an endpoint that is not well.
    pub fn insert(&mut self, address: ResolvedAddress, why: Unwell) {
        self.members.insert(address, why);
    }

    /// Notes an endpoint that is.
    pub fn remove(&mut self, address: &ResolvedAddress) {
        self.members.remove(address);
    }

    /// Forgets all others.
    pub fn retain(&mut self, is_kept: impl Fn(&ResolvedAddress) -> bool) {
        self.members.retain(|address, _| is_kept(address));
    }
}

impl Checkup {
    /// An endpoint that was not asked yet, or of which it is known how it was.
    pub(super) fn new(was_unwell: bool) -> Self {
        Self { is_well: !was_unwell, is_known: was_unwell, against: 0 }
    }

    /// Notes an answer.
    pub(super) fn on_answer(&mut self, is_good: bool, config: &HealthConfig) -> HealthChange {
        let is_first = !std::mem::replace(&mut self.is_known, true);
        if is_good == self.is_well {
            self.against = 0;
            return HealthChange::None;
        }
        self.against = self.against.saturating_add(1);
        let needed = if is_good { config.healthy_after } else { config.unhealthy_after };
        if self.against < needed && !is_first {
            return HealthChange::None;
        }
        self.against = 0;
        self.is_well = is_good;
        if is_good { HealthChange::Well } else { HealthChange::Unwell }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a row of answers, `+` or `-`, comes to: `w` and `u` where it turns, `.` where it doesn't.
    fn turns(was_unwell: bool, answers: &str) -> String {
        let config = HealthConfig { healthy_after: 2, unhealthy_after: 3, ..HealthConfig::default() };
        let mut checkup = Checkup::new(was_unwell);
        let turn = |answer| match checkup.on_answer(answer == '+', &config) {
            HealthChange::None => '.',
            HealthChange::Well => 'w',
            HealthChange::Unwell => 'u',
        };
        answers.chars().map(turn).collect()
    }

    #[test]
    fn the_first_answer_decides_and_then_several_in_a_row() {
        for (answers, expected) in [
            ("+--+---", "......u"),
            ("-+", "u."),
            ("-++", "u.w"),
            ("-+-++", "u...w"),
            ("+---++---", "...u.w..u"),
        ] {
            assert_eq!(turns(false, answers), expected, "{answers}");
        }
        // What is known from before is not decided by one answer.
        assert_eq!(turns(true, "+-++"), "...w");
    }
}
