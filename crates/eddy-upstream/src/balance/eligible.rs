//! Groups of endpoints among which one is selected for a request.

use eddy_ids::WorkerTime;

use crate::endpoint::{EndpointState, TriedEndpoints};

/// A group of endpoints; groups go from the preferred to the last resort.
#[derive(Clone, Copy)]
pub(super) struct Eligible<'a> {
    /// All endpoints of the cluster.
    pub(super) endpoints: &'a [EndpointState],
    /// Key of the request; empty if it has none.
    pub(super) key: &'a [u8],
    pub(super) now: WorkerTime,
    pub(super) ejected: Ejected,
    pub(super) avoid: Option<&'a TriedEndpoints>,
    pub(super) level: u16,
}

/// Treatment of ejected endpoints.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ejected {
    /// Ejected endpoints are skipped.
    Skip,
    /// Ejected endpoints are used like the others, because there is no better one.
    Include,
}

impl Eligible<'_> {
    pub(super) fn admits(&self, endpoint: &EndpointState) -> bool {
        endpoint.level() == self.level
            && endpoint.has_room()
            && (self.ejected == Ejected::Include || endpoint.is_available(self.now))
            && self.avoid.is_none_or(|tried| !tried.contains(endpoint.id()))
    }

    /// Whether the endpoint at `index` exists and is admitted, see [`Self::admits`].
    pub(super) fn admits_at(&self, index: usize) -> bool {
        self.endpoints.get(index).is_some_and(|endpoint| self.admits(endpoint))
    }
}
