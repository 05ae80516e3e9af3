//! Balancing by client address: a client network always goes to the same endpoint.

use super::eligible::Eligible;
use super::share::{TRIES_MAX, shared};

/// Returns the endpoint of a client address, by weight; the key is the address bytes that are hashed.
///
/// # Source
/// `ip_hash` of NGINX: `hash = (hash * 113 + byte) % 6271`, starting at 89, repeated once per excluded endpoint.
pub(super) fn choose(group: &Eligible<'_>) -> Option<usize> {
    let mut hash: u64 = 89;
    for _ in 0..TRIES_MAX {
        hash = group.key.iter().fold(hash, |hash, byte| (hash * 113 + u64::from(*byte)) % 6271);
        let index = shared(group.endpoints, hash)?;
        if group.admits(group.endpoints.get(index)?) {
            return Some(index);
        }
    }
    None
}
