//! Balancing by a key of the request, with round robin as the fallback.

use std::sync::Arc;

use super::eligible::Eligible;
use super::hash::{choose_by_address, choose_by_key};
use super::maglev::MaglevTable;
use super::ring::Ring;
use super::round_robin::RoundRobin;
use crate::endpoint::EndpointState;
use crate::rng::Rng;

/// Sends the same key to the same endpoint. Falls back to round robin without a key, or when the endpoints of the key
/// are excluded.
#[derive(Clone, Debug)]
pub(super) struct Keyed {
    by: By,
    turn: RoundRobin,
}

/// Mapping from a key to an endpoint.
#[derive(Clone, Debug)]
pub(super) enum By {
    /// Hash; most keys move when the number of endpoints changes.
    Hash,
    /// Ring; few keys move.
    Ring(Arc<Ring>),
    /// Maglev table; few keys move.
    Maglev(Arc<MaglevTable>),
    /// Hash of the client's network.
    ClientAddress,
}

impl Keyed {
    pub(super) fn new(by: By, endpoints: &[EndpointState], rng: &mut Rng) -> Self {
        Self { by, turn: RoundRobin::new(endpoints, rng) }
    }

    pub(super) fn pick(&mut self, group: &Eligible<'_>) -> Option<usize> {
        let chosen = match &self.by {
            _ if group.key.is_empty() || group.endpoints.len() < 2 => None,
            By::Hash => choose_by_key(group),
            By::Maglev(table) => table.choose(group),
            By::Ring(ring) => ring.choose(group),
            By::ClientAddress => choose_by_address(group),
        };
        chosen.or_else(|| self.turn.pick(group))
    }
}
