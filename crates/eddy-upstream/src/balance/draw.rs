//! Weighted random draw of an endpoint.

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

    /// Draws one of the endpoints that `admits` accepts, with a probability proportional to its weight among them.
    ///
    /// # Cost
    /// A few draws while most are accepted; else two passes over the endpoints. No allocation.
    pub(super) fn draw(
        &self,
        endpoints: &[EndpointState],
        rng: &mut Rng,
        admits: impl Fn(usize, &EndpointState) -> bool,
    ) -> Option<usize> {
        for _ in 0..DRAWS_MAX {
            let index = self.draw_any(endpoints.len(), rng);
            if admits(index, endpoints.get(index)?) {
                return Some(index);
            }
        }
        draw_by_walk(endpoints, rng, admits)
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

fn draw_by_walk(
    endpoints: &[EndpointState],
    rng: &mut Rng,
    admits: impl Fn(usize, &EndpointState) -> bool,
) -> Option<usize> {
    let accepted = || endpoints.iter().enumerate().filter(|(index, endpoint)| admits(*index, endpoint));
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
