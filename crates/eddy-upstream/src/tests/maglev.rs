//! Maglev table: evenness, and the keys that move.

use std::rc::Rc;
use std::sync::Arc;

use eddy_ids::WorkerTime;
use eddy_model::{Balance, MAGLEV_TABLE_SIZE};
use proptest::prelude::*;

use crate::balance::{BalanceTables, Balancer};
use crate::endpoint::{EndpointId, EndpointState, ResolvedAddress, ResolvedEndpoint, TriedEndpoints};
use crate::{EndpointSet, Rng};

const NOW: WorkerTime = WorkerTime::from_millis(1_000);

/// Creates endpoints with these ports and weights.
fn endpoints(ports: &[(u16, u32)]) -> Vec<EndpointState> {
    let state = |(slot, (port, weight)): (u32, &(u16, u32))| {
        let address = ResolvedAddress::Tcp(([127, 0, 0, 1], *port).into());
        EndpointState::new(EndpointId { slot, generation: 0 }, &ResolvedEndpoint::new(address, *weight))
    };
    (0..).zip(ports).map(state).collect()
}

fn balancer(endpoints: &[EndpointState]) -> Balancer {
    Balancer::new(
        Balance::Maglev,
        endpoints,
        &BalanceTables::of_states(Balance::Maglev, endpoints),
        &mut Rng::new(1),
    )
}

/// Returns the address of the endpoint of each key from 0 to `keys`.
fn owners(endpoints: &[EndpointState], keys: u32) -> Vec<Rc<ResolvedAddress>> {
    let mut balancer = balancer(endpoints);
    let owner = |number: u32| {
        let key = number.to_string();
        let index =
            balancer.pick(endpoints, key.as_bytes(), &TriedEndpoints::new(), NOW, &mut Rng::new(1)).unwrap();
        endpoints[index].address().clone()
    };
    (0..keys).map(owner).collect()
}

#[test]
fn the_order_of_endpoints_does_not_matter() {
    let one = endpoints(&[(1, 3), (2, 1), (3, 1)]);
    let other = endpoints(&[(3, 1), (1, 3), (2, 1)]);
    assert_eq!(owners(&one, 2000), owners(&other, 2000));
}

/// Endpoints that Envoy 1.40 selected with `lb_policy: MAGLEV` and a `hash_policy` on a header, key by key.
#[test]
fn keys_select_the_same_endpoints_as_in_envoy() {
    let envoy = "5245552354122551255213222223512535225522235235532332341522452";
    let endpoints = endpoints(&[(18901, 1), (18902, 3), (18903, 2), (18904, 1), (18905, 5)]);
    let long = "a-key-that-is-longer-than-thirty-two-bytes-so-that-stripes-count".to_owned();
    let keys = (0..60).map(|number| format!("key-{number}")).chain([long]);
    let mut balancer = balancer(&endpoints);
    let owner = |key: String| {
        let index = balancer.pick(&endpoints, key.as_bytes(), &TriedEndpoints::new(), NOW, &mut Rng::new(1));
        (index.unwrap() + 1).to_string()
    };
    assert_eq!(keys.map(owner).collect::<String>(), envoy);
}

#[test]
fn tables_are_built_before_a_worker_sees_the_set() {
    let members =
        || (1..4).map(|port| ResolvedEndpoint::new(ResolvedAddress::Tcp(([127, 0, 0, 1], port).into()), 1));
    let set = EndpointSet::new(members(), Balance::Maglev);
    let first = set.tables().maglev().expect("built with the set");
    assert!(Arc::ptr_eq(&first, &set.tables().maglev().unwrap()), "one table for all workers");
    let ring = EndpointSet::new(members(), Balance::Ring);
    assert!(ring.tables().ring().is_some() && ring.tables().maglev().is_none());
    assert_ne!(set, ring, "a change of the kind alone reaches the workers");
    assert_eq!(set, EndpointSet::new(members(), Balance::Maglev));
}

#[test]
fn a_set_without_its_table_is_balanced_by_round_robin() {
    let endpoints = endpoints(&[(1, 1), (2, 1)]);
    let tables = BalanceTables::of_states(Balance::Ring, &endpoints);
    let mut balancer = Balancer::new(Balance::Maglev, &endpoints, &tables, &mut Rng::new(1));
    let mut pick =
        || balancer.pick(&endpoints, b"key", &TriedEndpoints::new(), NOW, &mut Rng::new(1)).unwrap();
    assert_ne!(pick(), pick());
}

#[test]
fn keys_of_an_excluded_endpoint_are_spread_over_the_others() {
    let all = endpoints(&[(1, 1), (2, 1), (3, 1), (4, 1)]);
    let mut without = endpoints(&[(1, 1), (2, 1), (3, 1), (4, 1)]);
    without[1].terms.is_down = true;
    let (before, after) = (owners(&all, 8000), owners(&without, 8000));
    let mut took = [0_u32; 5];
    for (before, after) in before.iter().zip(&after) {
        if *before == *all[1].address() {
            let ResolvedAddress::Tcp(address) = **after else { continue };
            took[usize::from(address.port())] += 1;
        } else {
            assert_eq!(before, after);
        }
    }
    assert!(took[2] == 0 && [1, 3, 4].iter().all(|port| took[*port] > 500), "{took:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn table_entries_follow_the_weights_to_a_hundredth(weights in prop::collection::vec(1_u32..20, 1..30)) {
        let ports: Vec<(u16, u32)> = (1..).zip(weights.iter().copied()).collect();
        let endpoints = endpoints(&ports);
        let counts = BalanceTables::of_states(Balance::Maglev, &endpoints).maglev().unwrap().counts(endpoints.len());
        let total: u32 = weights.iter().sum();
        let places: u32 = counts.iter().sum();
        prop_assert_eq!(places as usize, MAGLEV_TABLE_SIZE);
        for (count, weight) in counts.iter().zip(&weights) {
            let expected = f64::from(places) * f64::from(*weight) / f64::from(total);
            // Slot counts are integers: small shares deviate by a few.
            prop_assert!((f64::from(*count) - expected).abs() < expected / 100.0 + 2.0, "{counts:?} {weights:?}");
        }
    }

    #[test]
    fn an_added_endpoint_moves_few_keys(count in 2_u16..40) {
        let before: Vec<(u16, u32)> = (1..=count).map(|port| (port, 1)).collect();
        let after: Vec<(u16, u32)> = (1..=count + 1).map(|port| (port, 1)).collect();
        let (before, after) = (owners(&endpoints(&before), 4000), owners(&endpoints(&after), 4000));
        let moved = before.iter().zip(&after).filter(|(before, after)| before != after).count();
        // The share of the new endpoint, and some keys that move among the others.
        prop_assert!(moved as f64 / 4000.0 < 1.0 / f64::from(count + 1) + 0.08, "{moved}");
    }
}
