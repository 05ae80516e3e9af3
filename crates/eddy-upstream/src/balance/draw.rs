//! Weighted random draw of an endpoint: random balancing, and the draws of least-requests balancing.

use super::eligible::Eligible;
use crate::endpoint::EndpointState;
use crate::rng::Rng;

/// Draws from the endpoints it was created for.
#[derive(Clone, Debug)]
pub(super) struct WeightedDraw {
    /// Cumulative weights, one per endpoint; empty when all weights are equal.
    sums: Vec<u64>,
}

impl WeightedDraw {
    pub(super) fn new(endpoints: &[EndpointState]) -> Self {
        if endpoints.windows(2).all(|pair| pair[0].weight() == pair[1].weight()) {
            return Self { sums: Vec::new() };
        }
        let sums = endpoints.iter().scan(0, |sum, endpoint| {
            *sum += u64::from(endpoint.weight());
            Some(*sum)
        });
        Self { sums: sums.collect() }
    }

    /// Draws one of the endpoints of a group, except that at index `but`, with a probability proportional to its weight
    /// among them.
    ///
    /// # Cost
    /// A few draws while most are accepted; else two passes over the endpoints. No allocation.
    pub(super) fn draw(&self, group: &Eligible<'_>, but: Option<usize>, rng: &mut Rng) -> Option<usize> {
        for _ in 0..DRAWS_MAX {
            let index = self.draw_any(group.endpoints.len(), rng);
            if group.admits(group.endpoints.get(index)?) && but != Some(index) {
                return Some(index);
            }
        }
        draw_by_walk(group, but, rng)
    }

    fn draw_any(&self, len: usize, rng: &mut Rng) -> usize {
        match self.sums.last() {
            None => rng.index(len),
            Some(total) => {
                let point = rng.below(*total);
                self.sums.partition_point(|sum| *sum <= point)
            }
        }
    }
}

fn draw_by_walk(group: &Eligible<'_>, but: Option<usize>, rng: &mut Rng) -> Option<usize> {
    let is_accepted =
        |(index, endpoint): &(usize, &EndpointState)| group.admits(endpoint) && but != Some(*index);
    let accepted = || group.endpoints.iter().enumerate().filter(is_accepted);
    let total: u64 = accepted().map(|(_, endpoint)| u64::from(endpoint.weight())).sum();
    let mut point = rng.below(total);
    for (index, endpoint) in accepted() {
        match point.checked_sub(u64::from(endpoint.weight())) {
            Some(rest) => point = rest,
            None => return Some(index),
        }
    }
    None
}

/// Maximum draws before the slower pass that always finds one.
const DRAWS_MAX: u32 = 4;
