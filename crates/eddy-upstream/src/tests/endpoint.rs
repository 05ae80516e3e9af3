//! Endpoint sets and the list of tried endpoints.

use std::path::Path;

use crate::endpoint::EndpointId;
use eddy_model::Balance;

use crate::{EndpointSet, ResolvedAddress, ResolvedEndpoint, TRIED_MAX, TriedEndpoints};

#[test]
fn the_same_address_twice_is_one_member_with_both_weights() {
    let set = EndpointSet::new([member(1, 2), member(2, 1), member(1, 3)], Balance::RoundRobin);
    assert_eq!(set.members(), [member(1, 5), member(2, 1)]);
}

#[test]
fn no_member_has_weight_zero() {
    assert_eq!(EndpointSet::new([member(1, 0)], Balance::RoundRobin).members(), [member(1, 1)]);
}

#[test]
fn addresses_are_formatted_as_written() {
    assert_eq!(member(80, 1).address.to_string(), "127.0.0.1:80");
    assert_eq!(ResolvedAddress::Unix(Path::new("/run/a.sock").into()).to_string(), "unix:/run/a.sock");
}

#[test]
fn tried_endpoints_keep_the_latest() {
    let mut tried = TriedEndpoints::new();
    assert!(tried.is_empty());
    let ids: Vec<EndpointId> =
        (0..).map(|slot| EndpointId { slot, generation: 0 }).take(TRIED_MAX + 2).collect();
    ids.iter().for_each(|id| tried.push(*id));
    assert!(!tried.contains(ids[0]) && !tried.contains(ids[1]));
    assert!(ids[2..].iter().all(|id| tried.contains(*id)));
    assert!(!tried.contains(EndpointId { slot: 5, generation: 1 }), "another generation is another endpoint");
}

fn member(port: u16, weight: u32) -> ResolvedEndpoint {
    ResolvedEndpoint::new(ResolvedAddress::Tcp(([127, 0, 0, 1], port).into()), weight)
}
