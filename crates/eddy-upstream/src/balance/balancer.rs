//! The balancer of a cluster on one worker, whatever its kind.

use std::time::Duration;

use super::eligible::{Ejected, Eligible};
use super::keyed::{By, Keyed};
use super::least_request::LeastRequest;
use super::random::Random;
use super::ring::Ring;
use super::round_robin::RoundRobin;
use crate::config::Balance;
use crate::endpoint::{EndpointState, Tried};
use crate::rng::Rng;

/// Chooses endpoints; one a cluster and worker.
#[derive(Clone, Debug)]
pub struct Balancer {
    kind: Kind,
    /// The tiers there are, from the first that is asked.
    tiers: Vec<u8>,
}

#[derive(Clone, Debug)]
enum Kind {
    RoundRobin(RoundRobin),
    LeastRequest(LeastRequest),
    Random(Random),
    Keyed(Keyed),
}

impl Balancer {
    /// A balancer of the given kind for `endpoints`.
    pub fn new(kind: Balance, endpoints: &[EndpointState], rng: &mut Rng) -> Self {
        let kind = match kind {
            Balance::RoundRobin => Kind::RoundRobin(RoundRobin::new(endpoints, rng)),
            Balance::LeastRequest => Kind::LeastRequest(LeastRequest::new(endpoints)),
            Balance::Random => Kind::Random(Random::new(endpoints)),
            Balance::Hash => Kind::Keyed(Keyed::new(By::Hash, endpoints, rng)),
            Balance::Ring => Kind::Keyed(Keyed::new(By::Ring(Ring::new(endpoints)), endpoints, rng)),
            Balance::ClientAddress => Kind::Keyed(Keyed::new(By::ClientAddress, endpoints, rng)),
        };
        let mut tiers: Vec<u8> = endpoints.iter().map(|endpoint| endpoint.terms().tier).collect();
        tiers.sort_unstable();
        tiers.dedup();
        Self { kind, tiers }
    }

    /// The index of the endpoint for the next request; `None` only when no endpoint has room for it.
    ///
    /// `endpoints` are those the balancer was made for, in the same order. Ejected endpoints are left out while
    /// there is another, and those in `avoid` while there is another that is not ejected. When all are ejected,
    /// all are used. Of each of these groups the lowest tier that has one is asked. `key` counts for balancers that
    /// go by one; without one they take endpoints in turn.
    ///
    /// # Cost
    /// No allocation. Constant time when weights are equal and few endpoints are left out; else linear in them.
    pub fn pick(
        &mut self,
        endpoints: &[EndpointState],
        key: &[u8],
        avoid: &Tried,
        now: Duration,
        rng: &mut Rng,
    ) -> Option<usize> {
        let Self { kind, tiers } = self;
        let avoid = (!avoid.is_empty()).then_some(avoid);
        let best = Eligible { now, ejected: Ejected::LeaveOut, avoid, tier: 0 };
        let tried_too = Eligible { avoid: None, ..best };
        let ejected_too = Eligible { ejected: Ejected::Use, ..best };
        let all = Eligible { ejected: Ejected::Use, avoid: None, ..best };
        [best, tried_too, ejected_too, all].iter().find_map(|group| {
            tiers.iter().find_map(|tier| kind.pick(endpoints, key, &Eligible { tier: *tier, ..*group }, rng))
        })
    }
}

impl Kind {
    fn pick(
        &mut self,
        endpoints: &[EndpointState],
        key: &[u8],
        group: &Eligible<'_>,
        rng: &mut Rng,
    ) -> Option<usize> {
        match self {
            Self::RoundRobin(balancer) => balancer.pick(endpoints, group),
            Self::LeastRequest(balancer) => balancer.pick(endpoints, group, rng),
            Self::Random(balancer) => balancer.pick(endpoints, group, rng),
            Self::Keyed(balancer) => balancer.pick(endpoints, key, group),
        }
    }
}
