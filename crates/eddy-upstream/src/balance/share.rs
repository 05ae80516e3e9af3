//! Which endpoint a number falls to, where each has as many numbers as it weighs.

use crate::endpoint::EndpointState;

/// The index of the endpoint that has `number`, once the weights are gone through as often as it takes.
///
/// Endpoints that are down keep their share, so that the others keep their keys.
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

/// Numbers that are tried for a key before endpoints are taken in turn.
pub(super) const TRIES_MAX: u32 = 21;
