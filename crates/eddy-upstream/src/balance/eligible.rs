//! Which endpoints a choice is made among.

use std::time::Duration;

use crate::endpoint::{EndpointState, Tried};

/// A group of endpoints, from the preferred to the last resort.
#[derive(Clone, Copy)]
pub(super) struct Eligible<'a> {
    pub(super) now: Duration,
    pub(super) ejected: Ejected,
    pub(super) avoid: Option<&'a Tried>,
    pub(super) level: u16,
}

/// What is done about ejected endpoints.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ejected {
    /// They are left out.
    LeaveOut,
    /// They are used like the others: there is nothing better.
    Use,
}

impl Eligible<'_> {
    pub(super) fn admits(&self, endpoint: &EndpointState) -> bool {
        endpoint.level() == self.level
            && endpoint.has_room()
            && (self.ejected == Ejected::Use || endpoint.is_available(self.now))
            && self.avoid.is_none_or(|tried| !tried.contains(endpoint.id()))
    }

    /// The same of the endpoint at this place, if there is one.
    pub(super) fn admits_at(&self, endpoints: &[EndpointState], index: usize) -> bool {
        endpoints.get(index).is_some_and(|endpoint| self.admits(endpoint))
    }
}
