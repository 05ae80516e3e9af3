//! By the client's address: its network always goes to the same endpoint.

use super::eligible::Eligible;
use super::round_robin::RoundRobin;
use super::share::{TRIES_MAX, shared};
use crate::endpoint::EndpointState;
use crate::rng::Rng;

/// Spreads addresses over endpoints by weight; the key is the bytes that count of an address.
///
/// # Source
/// `ip_hash` of NGINX's upstreams: `hash = (hash * 113 + byte) % 6271`, from 89 on, once more for each endpoint left out.
#[derive(Clone, Debug)]
pub(super) struct AddressHash {
    turn: RoundRobin,
}

impl AddressHash {
    pub(super) fn new(endpoints: &[EndpointState], rng: &mut Rng) -> Self {
        Self { turn: RoundRobin::new(endpoints, rng) }
    }

    pub(super) fn pick(
        &mut self,
        endpoints: &[EndpointState],
        key: &[u8],
        group: &Eligible<'_>,
    ) -> Option<usize> {
        if !key.is_empty() && endpoints.len() > 1 {
            let mut hash: u64 = 89;
            for _ in 0..TRIES_MAX {
                hash = key.iter().fold(hash, |hash, byte| (hash * 113 + u64::from(*byte)) % 6271);
                let index = shared(endpoints, hash)?;
                if group.admits(endpoints.get(index)?) {
                    return Some(index);
                }
            }
        }
        self.turn.pick(endpoints, group)
    }
}
