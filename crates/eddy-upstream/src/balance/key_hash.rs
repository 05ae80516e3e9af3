//! Balancing by a hash of a key: the same key goes to the same endpoint as long as the endpoints stay the same.

use super::crc::Crc;
use super::eligible::Eligible;
use super::share::{TRIES_MAX, shared};

/// Returns the endpoint of a key, by weight. A key whose endpoint is excluded is hashed again with a counter, so that
/// the keys of a failing endpoint are spread over all others.
///
/// # Source
/// `hash` of NGINX, which follows Perl's Cache::Memcached: the sum of `(crc32([count] key) >> 16) & 0x7fff`.
pub(super) fn choose(group: &Eligible<'_>) -> Option<usize> {
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

/// Returns the checksum of a number below 100 in decimal digits.
fn with_number(number: u32) -> Crc {
    let digit = |value: u32| [b'0' + u8::try_from(value % 10).expect("a digit")];
    let crc = if number >= 10 { Crc::new().with(&digit(number / 10)) } else { Crc::new() };
    crc.with(&digit(number))
}
