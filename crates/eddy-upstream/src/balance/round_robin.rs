//! Smooth weighted round robin: each endpoint in turn, by weight, and as evenly spaced as possible.

use super::eligible::Eligible;
use crate::endpoint::EndpointState;
use crate::rng::Rng;

/// Smooth weighted round robin; over a whole cycle each endpoint is chosen exactly in proportion to its weight.
///
/// # Source
/// In each round every endpoint is credited its weight; the one with the highest credit is chosen and pays the sum of
/// the weights.
#[derive(Clone, Debug)]
pub(super) struct RoundRobin {
    turn: RoundRobinState,
}

impl RoundRobin {
    /// Starts at a random position of the cycle, so that workers do not all begin with the same endpoint.
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

    pub(super) fn pick(&mut self, group: &Eligible<'_>) -> Option<usize> {
        let endpoints = group.endpoints;
        match &mut self.turn {
            RoundRobinState::Even { next } => {
                let chosen =
                    (*next..endpoints.len()).chain(0..*next).find(|index| group.admits_at(*index))?;
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
    /// All weights are equal: a plain cycle.
    Even { next: usize },
    /// Credit of each endpoint: earned and not yet spent. The sum is always zero.
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
