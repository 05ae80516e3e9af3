//! By the client's address: its network always goes to the same endpoint.

use super::eligible::Eligible;
use super::share::{TRIES_MAX, shared};
use crate::endpoint::EndpointState;

/// The endpoint of an address by weight; the key is the bytes that count of it.
///
/// # Source
/// `ip_hash` of NGINX's upstreams: `hash = (hash * 113 + byte) % 6271`, from 89 on, once more for each endpoint left out.
pub(super) fn choose(endpoints: &[EndpointState], key: &[u8], group: &Eligible<'_>) -> Option<usize> {
    let mut hash: u64 = 89;
    for _ in 0..TRIES_MAX {
        hash = key.iter().fold(hash, |hash, byte| (hash * 113 + u64::from(*byte)) % 6271);
        let index = shared(endpoints, hash)?;
        if group.admits(endpoints.get(index)?) {
            return Some(index);
        }
    }
    None
}
