//! By something of the request, and in turn where that leads to nobody.

use std::sync::Arc;

use super::eligible::Eligible;
use super::maglev::MaglevTable;
use super::ring::Ring;
use super::round_robin::RoundRobin;
use super::{address_hash, key_hash};
use crate::endpoint::EndpointState;
use crate::rng::Rng;

/// Sends the same key to the same endpoint. Without a key, or when those that the key leads to are left out, endpoints are
/// taken in turn.
#[derive(Clone, Debug)]
pub(super) struct Keyed {
    by: By,
    turn: RoundRobin,
}

/// How a key leads to an endpoint.
#[derive(Clone, Debug)]
pub(super) enum By {
    /// By a hash; another number of endpoints moves most keys.
    Hash,
    /// By a ring; it moves few.
    Ring(Ring),
    /// By a table; it moves few.
    Maglev(Arc<MaglevTable>),
    /// By a hash of a client's network.
    ClientAddress,
}

impl Keyed {
    pub(super) fn new(by: By, endpoints: &[EndpointState], rng: &mut Rng) -> Self {
        Self { by, turn: RoundRobin::new(endpoints, rng) }
    }

    pub(super) fn pick(
        &mut self,
        endpoints: &[EndpointState],
        key: &[u8],
        group: &Eligible<'_>,
    ) -> Option<usize> {
        let chosen = match &self.by {
            _ if key.is_empty() || endpoints.len() < 2 => None,
            By::Hash => key_hash::choose(endpoints, key, group),
            By::Maglev(table) => table.choose(endpoints, key, group),
            By::Ring(ring) => ring.choose(endpoints, key, group),
            By::ClientAddress => address_hash::choose(endpoints, key, group),
        };
        chosen.or_else(|| self.turn.pick(endpoints, group))
    }
}
