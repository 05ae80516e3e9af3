//! Ring hash: another endpoint takes few keys from each of the others.

use super::crc::Crc;
use super::eligible::Eligible;
use super::hash::TRIES_MAX;
use crate::endpoint::{ResolvedAddress, ResolvedEndpoint};

/// Points on a ring, 160 per unit of weight; a key belongs to the first point at or after its own.
///
/// # Source
/// Karger et al., "Consistent hashing and random trees", 1997; the points are those of `hash ... consistent` in NGINX,
/// which follows Cache::Memcached::Fast: `crc32(host \0 port previous)`.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    points: Vec<Point>,
}

#[derive(Clone, Copy, Debug)]
struct Point {
    at: u32,
    endpoint: usize,
}

impl Ring {
    pub(super) fn new(members: &[ResolvedEndpoint]) -> Self {
        let mut points = Vec::new();
        for (endpoint, member) in members.iter().enumerate() {
            let base = base_of(&member.key_name(), &member.address);
            let mut previous = [0; 4];
            for _ in 0..u64::from(member.weight) * POINTS_A_WEIGHT {
                let at = base.with(&previous).value();
                points.push(Point { at, endpoint });
                previous = at.to_le_bytes();
            }
        }
        // Where points of several endpoints coincide, the first endpoint keeps the point.
        points.sort_by_key(|point| point.at);
        points.dedup_by_key(|point| point.at);
        Self { points }
    }

    /// Returns the endpoint of a key, or the next on the ring that is admitted.
    pub(super) fn choose(&self, group: &Eligible<'_>) -> Option<usize> {
        let own = Crc::new().with(group.key).value();
        let from = self.points.partition_point(|point| point.at < own);
        let behind = (0..TRIES_MAX as usize).filter_map(|step| {
            let at = (from + step).checked_rem(self.points.len())?;
            self.points.get(at)
        });
        let mut owners = behind.map(|point| point.endpoint);
        owners.find(|owner| group.admits_at(*owner))
    }
}

/// Returns the common prefix of all points of an endpoint: host and port, separated by a NUL byte.
fn base_of(name: &str, address: &ResolvedAddress) -> Crc {
    let (host, port) = match (name.strip_prefix("unix:"), address) {
        (Some(path), ResolvedAddress::Unix(_)) => (path, ""),
        (_, ResolvedAddress::Tcp(_)) | (None, ResolvedAddress::Unix(_)) => match name.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, port),
            _ => (name, ""),
        },
    };
    Crc::new().with(host.as_bytes()).with(&[0]).with(port.as_bytes())
}

/// Points per unit of weight; more points distribute keys more evenly.
const POINTS_A_WEIGHT: u64 = 160;
