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
pub(super) fn pick(draw: &WeightedDraw, group: &Eligible<'_>, rng: &mut Rng) -> Option<usize> {
    let first = draw.draw(group, None, rng)?;
    let Some(second) = draw.draw(group, Some(first), rng) else { return Some(first) };
    let is_lighter = load_order(group.endpoints.get(second)?, group.endpoints.get(first)?).is_lt();
    Some(if is_lighter { second } else { first })
}

/// Compares active requests per weight, without a division.
fn load_order(a: &EndpointState, b: &EndpointState) -> std::cmp::Ordering {
    let a_scaled = u64::from(a.active()) * u64::from(b.weight());
    let b_scaled = u64::from(b.active()) * u64::from(a.weight());
    a_scaled.cmp(&b_scaled)
}
