//! Random balancing by weight.

use super::draw::WeightedDraw;
use super::eligible::Eligible;
use crate::endpoint::EndpointState;
use crate::rng::Rng;

/// Draws each endpoint with a probability proportional to its weight; stateless.
#[derive(Clone, Debug)]
pub(super) struct WeightedRandom {
    draw: WeightedDraw,
}

impl WeightedRandom {
    pub(super) fn new(endpoints: &[EndpointState]) -> Self {
        Self { draw: WeightedDraw::new(endpoints) }
    }

    pub(super) fn pick(
        &self,
        endpoints: &[EndpointState],
        group: &Eligible<'_>,
        rng: &mut Rng,
    ) -> Option<usize> {
        self.draw.draw(endpoints, rng, |_, endpoint| group.admits(endpoint))
    }
}
