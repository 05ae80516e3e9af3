//! Endpoint selection: which endpoint is picked, how often and by which group.

use eddy_ids::WorkerTime;
use eddy_model::{Balance, EjectionConfig};
use proptest::prelude::*;

use crate::Rng;
use crate::balance::{BalanceTables, Balancer};
use crate::eject::Room;
use crate::endpoint::{EndpointId, EndpointState, ResolvedAddress, ResolvedEndpoint, TriedEndpoints};

const KINDS: [Balance; 7] = [
    Balance::RoundRobin,
    Balance::LeastRequest,
    Balance::Random,
    Balance::Hash,
    Balance::Ring,
    Balance::Maglev,
    Balance::ClientAddress,
];
const NOW: WorkerTime = WorkerTime::from_millis(1_000_000);

#[test]
fn round_robin_rotates_equal_endpoints() {
    let endpoints = endpoints(&[1, 1, 1]);
    let mut rng = Rng::new(7);
    let mut balancer = balancer(Balance::RoundRobin, &endpoints, &mut rng);
    let picks: Vec<usize> =
        (0..6).map(|_| pick(&mut balancer, &endpoints, &TriedEndpoints::new(), &mut rng)).collect();
    let first = picks[0];
    let expected: Vec<usize> = (0..6).map(|step| (first + step) % 3).collect();
    assert_eq!(picks, expected);
}

#[test]
fn round_robin_spreads_a_heavy_endpoint_over_the_cycle() {
    let endpoints = endpoints(&[5, 1, 1]);
    let mut rng = Rng::new(1);
    let mut balancer = balancer(Balance::RoundRobin, &endpoints, &mut rng);
    let picks: Vec<usize> =
        (0..70).map(|_| pick(&mut balancer, &endpoints, &TriedEndpoints::new(), &mut rng)).collect();
    for window in picks.windows(5) {
        assert!(window.iter().any(|index| *index != 0), "five times the same in a row: {picks:?}");
    }
}

#[test]
fn round_robin_starts_elsewhere_for_another_seed() {
    let endpoints = endpoints(&[1; 16]);
    let first_pick = |seed| {
        let mut rng = Rng::new(seed);
        let mut balancer = balancer(Balance::RoundRobin, &endpoints, &mut rng);
        pick(&mut balancer, &endpoints, &TriedEndpoints::new(), &mut rng)
    };
    let starts: std::collections::HashSet<usize> = (0..64).map(first_pick).collect();
    assert!(starts.len() > 8, "{starts:?}");
}

#[test]
fn least_request_prefers_the_idle_endpoint() {
    let mut endpoints = endpoints(&[1, 1]);
    endpoints[0].active = 10;
    let mut rng = Rng::new(3);
    let mut balancer = balancer(Balance::LeastRequest, &endpoints, &mut rng);
    for _ in 0..100 {
        assert_eq!(pick(&mut balancer, &endpoints, &TriedEndpoints::new(), &mut rng), 1);
    }
}

#[test]
fn least_request_compares_load_by_weight() {
    let mut endpoints = endpoints(&[10, 1]);
    endpoints[0].active = 5;
    endpoints[1].active = 1;
    let mut rng = Rng::new(3);
    let mut balancer = balancer(Balance::LeastRequest, &endpoints, &mut rng);
    for _ in 0..100 {
        assert_eq!(pick(&mut balancer, &endpoints, &TriedEndpoints::new(), &mut rng), 0);
    }
}

#[test]
fn random_follows_the_weights() {
    let endpoints = endpoints(&[1, 3, 6]);
    let mut rng = Rng::new(11);
    let mut balancer = balancer(Balance::Random, &endpoints, &mut rng);
    let mut counts = [0_u32; 3];
    for _ in 0..100_000 {
        counts[pick(&mut balancer, &endpoints, &TriedEndpoints::new(), &mut rng)] += 1;
    }
    for (count, expected) in counts.iter().zip([10_000_u32, 30_000, 60_000]) {
        assert!(count.abs_diff(expected) < expected / 10, "{counts:?}");
    }
}

#[test]
fn random_follows_the_weights_of_those_left() {
    let mut endpoints = endpoints(&[100, 1, 3]);
    eject(&mut endpoints[0]);
    let mut rng = Rng::new(11);
    let mut balancer = balancer(Balance::Random, &endpoints, &mut rng);
    let mut counts = [0_u32; 3];
    for _ in 0..40_000 {
        counts[pick(&mut balancer, &endpoints, &TriedEndpoints::new(), &mut rng)] += 1;
    }
    assert_eq!(counts[0], 0);
    assert!(counts[1].abs_diff(10_000) < 1_000, "{counts:?}");
}

#[test]
fn an_empty_set_has_no_endpoint_to_pick() {
    for kind in KINDS {
        let mut rng = Rng::new(0);
        let mut balancer = balancer(kind, &[], &mut rng);
        assert_eq!(balancer.pick(&[], b"k", &TriedEndpoints::new(), NOW, &mut rng), None);
    }
}

#[test]
fn all_ejected_means_all_are_used() {
    for kind in KINDS {
        let mut endpoints = endpoints(&[1, 2, 3]);
        endpoints.iter_mut().for_each(eject);
        let mut rng = Rng::new(5);
        let mut balancer = balancer(kind, &endpoints, &mut rng);
        let mut seen = [false; 3];
        for _ in 0..200 {
            seen[pick(&mut balancer, &endpoints, &TriedEndpoints::new(), &mut rng)] = true;
        }
        assert_eq!(seen, [true; 3], "{kind:?}");
    }
}

#[test]
fn an_already_tried_healthy_endpoint_is_preferred_to_an_ejected_one() {
    for kind in KINDS {
        let mut endpoints = endpoints(&[1, 1]);
        eject(&mut endpoints[0]);
        let mut tried = TriedEndpoints::new();
        tried.push(endpoints[1].id());
        let mut rng = Rng::new(5);
        let mut balancer = balancer(kind, &endpoints, &mut rng);
        assert_eq!(pick(&mut balancer, &endpoints, &tried, &mut rng), 1, "{kind:?}");
    }
}

#[test]
fn picking_allocates_nothing() {
    for kind in KINDS {
        let mut endpoints = endpoints(&[5, 1, 3, 2, 2, 9, 1]);
        eject(&mut endpoints[2]);
        let mut tried = TriedEndpoints::new();
        tried.push(endpoints[5].id());
        let mut rng = Rng::new(5);
        let mut balancer = balancer(kind, &endpoints, &mut rng);
        let counted = allocation_counter::measure(|| {
            for _ in 0..1000 {
                pick(&mut balancer, &endpoints, &tried, &mut rng);
            }
        });
        assert_eq!(counted.count_total, 0, "{kind:?}");
    }
}

#[test]
fn a_key_stays_with_its_endpoint_and_keys_follow_the_weights() {
    for kind in [Balance::Hash, Balance::Ring, Balance::Maglev, Balance::ClientAddress] {
        let endpoints = endpoints(&[1, 3, 6]);
        let mut balancer = balancer(kind, &endpoints, &mut Rng::new(9));
        let mut counts = [0_u32; 3];
        for number in 0..10_000_u32 {
            let key = number.wrapping_mul(0x9e37_79b9).to_be_bytes();
            let first = pick_for(&mut balancer, &endpoints, &key[..3]);
            assert_eq!(pick_for(&mut balancer, &endpoints, &key[..3]), first);
            counts[first] += 1;
        }
        for (count, expected) in counts.iter().zip([1000_u32, 3000, 6000]) {
            assert!(count.abs_diff(expected) < expected / 3, "{kind:?} {counts:?}");
        }
    }
}

#[test]
fn a_ring_gives_few_keys_to_a_new_endpoint() {
    let (before, after) = (endpoints(&[1; 9]), endpoints(&[1; 10]));
    let mut moved = [0, 0];
    for (kind, moved) in [Balance::Ring, Balance::Hash].into_iter().zip(&mut moved) {
        let mut old = balancer(kind, &before, &mut Rng::new(1));
        let mut new = balancer(kind, &after, &mut Rng::new(1));
        for number in 0..1000_u32 {
            let key = number.to_string();
            let own = pick_for(&mut old, &before, key.as_bytes());
            *moved += u32::from(own != pick_for(&mut new, &after, key.as_bytes()));
        }
    }
    assert!(moved[0] < 200 && moved[1] > 500, "{moved:?}");
}

#[test]
fn an_endpoint_that_is_down_keeps_its_share_of_the_keys() {
    for kind in [Balance::Hash, Balance::Ring, Balance::Maglev, Balance::ClientAddress] {
        let all = endpoints(&[1; 5]);
        let mut down = endpoints(&[1; 5]);
        down[2].terms.is_down = true;
        let mut with_all = balancer(kind, &all, &mut Rng::new(1));
        let mut with_down = balancer(kind, &down, &mut Rng::new(1));
        for number in 0..500_u32 {
            let key = number.to_be_bytes();
            let (own, other) =
                (pick_for(&mut with_all, &all, &key[1..]), pick_for(&mut with_down, &down, &key[1..]));
            assert!(other != 2 && (own == 2 || own == other), "{kind:?} {number}: {own} {other}");
        }
    }
}

#[test]
fn a_backup_tier_is_used_only_while_no_preferred_tier_is_available() {
    for kind in KINDS {
        let mut endpoints = endpoints(&[1, 1, 5]);
        endpoints[2].terms.tier = 1;
        let mut rng = Rng::new(5);
        let mut balancer = balancer(kind, &endpoints, &mut rng);
        for _ in 0..50 {
            assert_ne!(pick(&mut balancer, &endpoints, &TriedEndpoints::new(), &mut rng), 2, "{kind:?}");
        }
        let mut tried = TriedEndpoints::new();
        tried.push(endpoints[0].id());
        eject(&mut endpoints[1]);
        assert_eq!(pick(&mut balancer, &endpoints, &tried, &mut rng), 2, "{kind:?}");
        endpoints[2].terms.is_down = true;
        assert_eq!(
            pick(&mut balancer, &endpoints, &tried, &mut rng),
            0,
            "{kind:?}: one tried is better than one ejected"
        );
    }
}

#[test]
fn a_full_endpoint_is_never_selected() {
    for kind in KINDS {
        let mut endpoints = endpoints(&[1, 1]);
        endpoints.iter_mut().for_each(|endpoint| endpoint.terms.active_max = Some(2));
        endpoints[0].active = 2;
        let mut rng = Rng::new(5);
        let mut balancer = balancer(kind, &endpoints, &mut rng);
        for _ in 0..50 {
            assert_eq!(pick(&mut balancer, &endpoints, &TriedEndpoints::new(), &mut rng), 1, "{kind:?}");
        }
        endpoints[1].active = 2;
        assert_eq!(balancer.pick(&endpoints, b"k", &TriedEndpoints::new(), NOW, &mut rng), None, "{kind:?}");
    }
}

proptest! {
    #[test]
    fn weights_are_exact_over_a_cycle(weights in prop::collection::vec(1_u32..40, 1..12), seed: u64, late in 0_usize..50) {
        let endpoints = endpoints(&weights);
        let mut rng = Rng::new(seed);
        let mut balancer = balancer(Balance::RoundRobin, &endpoints, &mut rng);
        for _ in 0..late {
            pick(&mut balancer, &endpoints, &TriedEndpoints::new(), &mut rng);
        }
        let mut counts = vec![0_u32; weights.len()];
        for _ in 0..weights.iter().sum::<u32>() {
            counts[pick(&mut balancer, &endpoints, &TriedEndpoints::new(), &mut rng)] += 1;
        }
        prop_assert_eq!(counts, weights);
    }

    #[test]
    fn an_ejected_endpoint_is_never_picked_while_there_is_another(
        members in prop::collection::vec((1_u32..20, any::<bool>(), any::<bool>()), 1..12),
        seed: u64,
        kind in prop::sample::select(KINDS.to_vec()),
    ) {
        let weights: Vec<u32> = members.iter().map(|(weight, ..)| *weight).collect();
        let mut endpoints = endpoints(&weights);
        let mut tried = TriedEndpoints::new();
        for (endpoint, (_, is_ejected, is_tried)) in endpoints.iter_mut().zip(&members) {
            if *is_ejected { eject(endpoint); }
            if *is_tried { tried.push(endpoint.id()); }
        }
        let mut rng = Rng::new(seed);
        let mut balancer = balancer(kind, &endpoints, &mut rng);
        let has_healthy = endpoints.iter().any(|endpoint| !endpoint.is_ejected());
        let has_fresh = endpoints.iter().any(|endpoint| !endpoint.is_ejected() && !tried.contains(endpoint.id()));
        for _ in 0..50 {
            let chosen = &endpoints[pick(&mut balancer, &endpoints, &tried, &mut rng)];
            prop_assert!(!has_healthy || !chosen.is_ejected());
            prop_assert!(!has_fresh || !tried.contains(chosen.id()));
        }
    }
}

fn balancer(kind: Balance, endpoints: &[EndpointState], rng: &mut Rng) -> Balancer {
    Balancer::new(kind, endpoints, &BalanceTables::of_states(kind, endpoints), rng)
}

/// Returns the endpoint of a key.
fn pick_for(balancer: &mut Balancer, endpoints: &[EndpointState], key: &[u8]) -> usize {
    balancer.pick(endpoints, key, &TriedEndpoints::new(), NOW, &mut Rng::new(1)).unwrap()
}

fn pick(
    balancer: &mut Balancer,
    endpoints: &[EndpointState],
    tried: &TriedEndpoints,
    rng: &mut Rng,
) -> usize {
    balancer.pick(endpoints, b"", tried, NOW, rng).unwrap()
}

fn endpoints(weights: &[u32]) -> Vec<EndpointState> {
    let state = |(slot, weight): (u32, &u32)| {
        let address = ResolvedAddress::Tcp(([127, 0, 0, 1], u16::try_from(slot).unwrap()).into());
        EndpointState::new(EndpointId { slot, generation: 0 }, &ResolvedEndpoint::new(address, *weight))
    };
    (0..).zip(weights).map(state).collect()
}

fn eject(endpoint: &mut EndpointState) {
    let config = EjectionConfig { failures: 1, ..EjectionConfig::default() };
    endpoint.ejection.on_failure(0, NOW, Room::Free, &config);
    assert!(endpoint.is_ejected());
}
