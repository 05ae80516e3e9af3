//! Mapping of numbers to endpoints: each endpoint owns as many consecutive numbers as its weight.

use crate::endpoint::EndpointState;

/// Returns the index of the endpoint that owns `number`, modulo the sum of the weights.
///
/// Unavailable endpoints keep their share, so that the others keep their keys.
pub(super) fn shared(endpoints: &[EndpointState], number: u64) -> Option<usize> {
    let total: u64 = endpoints.iter().map(|endpoint| u64::from(endpoint.weight())).sum();
    let mut left = number.checked_rem(total)?;
    endpoints.iter().position(|endpoint| match left.checked_sub(u64::from(endpoint.weight())) {
        Some(rest) => {
            left = rest;
            false
        }
        None => true,
    })
}

/// Maximum hashes tried for a key before the fallback to round robin.
pub(super) const TRIES_MAX: u32 = 21;
