//! The balancer of a cluster on one worker, whatever its kind.

use std::time::Duration;

use super::eligible::{Ejected, Eligible};
use super::least_request::LeastRequest;
use super::random::Random;
use super::round_robin::RoundRobin;
use crate::config::Balance;
use crate::endpoint::{EndpointState, Tried};
use crate::rng::Rng;

/// Chooses endpoints; one a cluster and worker.
#[derive(Clone, Debug)]
pub enum Balancer {
    /// Each in turn, smooth by weight.
    RoundRobin(RoundRobin),
    /// The less loaded of two drawn at random.
    LeastRequest(LeastRequest),
    /// At random, by weight.
    Random(Random),
}

impl Balancer {
    /// A balancer of the given kind for `endpoints`.
    pub fn new(kind: Balance, endpoints: &[EndpointState], rng: &mut Rng) -> Self {
        match kind {
            Balance::RoundRobin => Self::RoundRobin(RoundRobin::new(endpoints, rng)),
            Balance::LeastRequest => Self::LeastRequest(LeastRequest::new(endpoints)),
            Balance::Random => Self::Random(Random::new(endpoints)),
        }
    }

    /// The index of the endpoint for the next request; `None` only when there are no endpoints.
    ///
    /// `endpoints` are those the balancer was made for, in the same order. Ejected endpoints are left out while
    /// there is another, and those in `avoid` while there is another that is not ejected. When all are ejected,
    /// all are used.
    ///
    /// # Cost
    /// No allocation. Constant time when weights are equal and few endpoints are left out; else linear in them.
    pub fn pick(
        &mut self,
        endpoints: &[EndpointState],
        avoid: &Tried,
        now: Duration,
        rng: &mut Rng,
    ) -> Option<usize> {
        let avoid = (!avoid.is_empty()).then_some(avoid);
        let best = Eligible { now, ejected: Ejected::LeaveOut, avoid };
        let tried_too = Eligible { avoid: None, ..best };
        let ejected_too = Eligible { ejected: Ejected::Use, ..best };
        let all = Eligible { ejected: Ejected::Use, avoid: None, ..best };
        [best, tried_too, ejected_too, all].iter().find_map(|group| self.pick_among(endpoints, group, rng))
    }

    fn pick_among(
        &mut self,
        endpoints: &[EndpointState],
        group: &Eligible<'_>,
        rng: &mut Rng,
    ) -> Option<usize> {
        match self {
            Self::RoundRobin(balancer) => balancer.pick(endpoints, group),
            Self::LeastRequest(balancer) => balancer.pick(endpoints, group, rng),
            Self::Random(balancer) => balancer.pick(endpoints, group, rng),
        }
    }
}
