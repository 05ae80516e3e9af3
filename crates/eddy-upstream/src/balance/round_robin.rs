//! Each endpoint in turn, as often as its weight says and as evenly spaced as can be.

use super::eligible::Eligible;
use crate::endpoint::EndpointState;
use crate::rng::Rng;

/// Smooth weighted round robin; over a whole cycle each endpoint is chosen exactly as often as its weight says.
///
/// # Source
/// Each round every endpoint earns its weight, the richest is chosen and pays the sum of the weights.
#[derive(Clone, Debug)]
pub(super) struct RoundRobin {
    turn: RoundRobinState,
}

impl RoundRobin {
    /// Starts at a random place in the cycle, so that workers don't all begin with the same endpoint.
    pub(super) fn new(endpoints: &[EndpointState], rng: &mut Rng) -> Self {
        let is_even = endpoints.windows(2).all(|pair| pair[0].weight() == pair[1].weight());
        if is_even {
            return Self { turn: RoundRobinState::Even { next: rng.index(endpoints.len()) } };
        }
        let mut credits = vec![0; endpoints.len()];
        for _ in 0..rng.below(START_ROUNDS_MAX) {
            pick_richest(&mut credits, endpoints, |_| true);
        }
        Self { turn: RoundRobinState::Weighted { credits } }
    }

    pub(super) fn pick(&mut self, endpoints: &[EndpointState], group: &Eligible<'_>) -> Option<usize> {
        match &mut self.turn {
            RoundRobinState::Even { next } => {
                let chosen = (*next..endpoints.len())
                    .chain(0..*next)
                    .find(|index| group.admits_at(endpoints, *index))?;
                *next = (chosen + 1) % endpoints.len();
                Some(chosen)
            }
            RoundRobinState::Weighted { credits } => {
                debug_assert_eq!(credits.len(), endpoints.len());
                pick_richest(credits, endpoints, |endpoint| group.admits(endpoint))
            }
        }
    }
}

#[derive(Clone, Debug)]
enum RoundRobinState {
    /// All weights are equal: a walk in a circle.
    Even { next: usize },
    /// What each endpoint has earned and not yet spent; the sum is always zero.
    Weighted { credits: Vec<i64> },
}

fn pick_richest(
    credits: &mut [i64],
    endpoints: &[EndpointState],
    admits: impl Fn(&EndpointState) -> bool,
) -> Option<usize> {
    let mut total = 0;
    let mut richest: Option<(usize, i64)> = None;
    for (index, (credit, endpoint)) in credits.iter_mut().zip(endpoints).enumerate() {
        if !admits(endpoint) {
            continue;
        }
        total += i64::from(endpoint.weight());
        *credit += i64::from(endpoint.weight());
        if richest.is_none_or(|(_, most)| *credit > most) {
            richest = Some((index, *credit));
        }
    }
    let (index, _) = richest?;
    if let Some(credit) = credits.get_mut(index) {
        *credit -= total;
    }
    Some(index)
}

const START_ROUNDS_MAX: u64 = 32;
