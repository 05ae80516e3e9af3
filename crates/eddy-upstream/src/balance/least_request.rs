//! Least-requests balancing: the less loaded of two endpoints drawn at random.

use super::draw::WeightedDraw;
use super::eligible::Eligible;
use crate::endpoint::EndpointState;
use crate::rng::Rng;

/// Draws two endpoints by weight and returns the one with fewer active requests in relation to its weight.
///
/// Only the requests of this worker count: workers share no state.
///
/// # Source
/// Mitzenmacher, "The power of two choices in randomized load balancing", 2001.
#[derive(Clone, Debug)]
pub(super) struct LeastRequest {
    draw: WeightedDraw,
}

impl LeastRequest {
    pub(super) fn new(endpoints: &[EndpointState]) -> Self {
        Self { draw: WeightedDraw::new(endpoints) }
    }

    pub(super) fn pick(
        &self,
        endpoints: &[EndpointState],
        group: &Eligible<'_>,
        rng: &mut Rng,
    ) -> Option<usize> {
        let first = self.draw.draw(endpoints, rng, |_, endpoint| group.admits(endpoint))?;
        let other = |index: usize, endpoint: &EndpointState| index != first && group.admits(endpoint);
        let Some(second) = self.draw.draw(endpoints, rng, other) else {
            return Some(first);
        };
        let is_lighter = load_order(endpoints.get(second)?, endpoints.get(first)?).is_lt();
        Some(if is_lighter { second } else { first })
    }
}

/// Compares active requests per weight, without a division.
fn load_order(a: &EndpointState, b: &EndpointState) -> std::cmp::Ordering {
    let a_scaled = u64::from(a.active()) * u64::from(b.weight());
    let b_scaled = u64::from(b.active()) * u64::from(a.weight());
    a_scaled.cmp(&b_scaled)
}
