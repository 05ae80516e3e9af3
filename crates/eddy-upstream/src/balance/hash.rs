//! Balancing by a hash of a key or of the client's network: the same key goes to the same endpoint as long as the
//! endpoints stay the same. Each endpoint owns as many consecutive numbers as its weight.

use super::crc::Crc;
use super::eligible::Eligible;
use crate::endpoint::EndpointState;

/// Returns the endpoint of a key, by weight. A key whose endpoint is excluded is hashed again with a counter, so that
/// the keys of a failing endpoint are spread over all others.
///
/// # Source
/// `hash` of NGINX, which follows Perl's Cache::Memcached: the sum of `(crc32([count] key) >> 16) & 0x7fff`.
pub(super) fn choose_by_key(group: &Eligible<'_>) -> Option<usize> {
    let mut number = 0;
    for count in 0..TRIES_MAX {
        let crc = if count == 0 { Crc::new() } else { with_number(count) };
        number += u64::from((crc.with(group.key).value() >> 16) & 0x7fff);
        let index = shared(group.endpoints, number)?;
        if group.admits(group.endpoints.get(index)?) {
            return Some(index);
        }
    }
    None
}

/// Returns the endpoint of a client address, by weight; the key is the address bytes that are hashed.
///
/// # Source
/// `ip_hash` of NGINX: `hash = (hash * 113 + byte) % 6271`, starting at 89, repeated once per excluded endpoint.
pub(super) fn choose_by_address(group: &Eligible<'_>) -> Option<usize> {
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

/// Returns the index of the endpoint that owns `number`, modulo the sum of the weights.
///
/// Unavailable endpoints keep their share, so that the others keep their keys.
fn shared(endpoints: &[EndpointState], number: u64) -> Option<usize> {
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

/// Returns the checksum of a number below 100 in decimal digits.
fn with_number(number: u32) -> Crc {
    let digit = |value: u32| [b'0' + u8::try_from(value % 10).expect("a digit")];
    let crc = if number >= 10 { Crc::new().with(&digit(number / 10)) } else { Crc::new() };
    crc.with(&digit(number))
}

/// Maximum hashes tried for a key before the fallback to round robin.
pub(super) const TRIES_MAX: u32 = 21;
