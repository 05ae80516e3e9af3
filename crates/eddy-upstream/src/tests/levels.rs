//! Priorities, zones and slow start.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use eddy_ids::{Millis, Shared, WorkerTime};
use eddy_model::{Balance, ClusterConfig, EndpointOptions, HealthConfig, UNLIMITED_OVERPROVISIONING};

use crate::balance::{BalanceTables, Balancer};
use crate::endpoint::{EndpointId, EndpointState, ResolvedAddress, ResolvedEndpoint, TriedEndpoints};
use crate::health::UnhealthySet;
use crate::{ClusterState, EndpointSet, Rng};

const NOW: WorkerTime = WorkerTime::from_millis(1_000_000);

fn member(port: u16, tier: u8, zone: Option<&str>) -> ResolvedEndpoint {
    let terms = EndpointOptions { tier, zone: zone.map(Into::into), ..EndpointOptions::default() };
    ResolvedEndpoint { terms, ..ResolvedEndpoint::new(address(port), 1) }
}

fn address(port: u16) -> ResolvedAddress {
    ResolvedAddress::Tcp(([127, 0, 0, 1], port).into())
}

/// Creates endpoints from tuples of tier, count and number of unhealthy ones, which come first.
fn endpoints(tiers: &[(u8, u16, u16)]) -> Vec<EndpointState> {
    let each =
        tiers.iter().flat_map(|(tier, count, unhealthy)| (0..*count).map(move |at| (*tier, at < *unhealthy)));
    let state = |(slot, (tier, is_unhealthy)): (u32, (u8, bool))| {
        let id = EndpointId { slot, generation: 0 };
        let mut state = EndpointState::new(id, &member(u16::try_from(slot).unwrap() + 1, tier, None));
        state.unhealthy = is_unhealthy.then(|| "for a test".into());
        state
    };
    (0..).zip(each).map(state).collect()
}

/// Returns the percentage of requests that each tier gets.
fn shares(endpoints: &[EndpointState], percent: u32, kind: Balance) -> Vec<u32> {
    let mut rng = Rng::new(5);
    let mut balancer = Balancer::new(kind, endpoints, &BalanceTables::of_states(kind, endpoints), &mut rng)
        .overprovisioned(endpoints, percent);
    let tiers = endpoints.iter().map(|one| usize::from(one.terms().tier) + 1).max().unwrap_or(0);
    let mut counts = vec![0; tiers];
    for number in 0..10_000_u32 {
        let key = number.to_string();
        let index = balancer.pick(endpoints, key.as_bytes(), &TriedEndpoints::new(), NOW, &mut rng).unwrap();
        assert!(endpoints[index].unhealthy().is_none(), "{kind:?}");
        counts[usize::from(endpoints[index].terms().tier)] += 1;
    }
    counts.iter().map(|count| (count + 50) / 100).collect()
}

#[test]
fn priority_levels_get_load_by_their_healthy_endpoints() {
    // Envoy's own examples for 140 %, and results for other factors.
    for (tiers, percent, expected) in [
        (vec![(0, 10, 0), (1, 10, 0)], 140, vec![100, 0]),
        (vec![(0, 4, 1), (1, 4, 0)], 140, vec![100, 0]),
        (vec![(0, 2, 1), (1, 2, 0)], 140, vec![70, 30]),
        (vec![(0, 10, 10), (1, 10, 0)], 140, vec![0, 100]),
        (vec![(0, 10, 9), (1, 10, 9)], 140, vec![50, 50]),
        (vec![(0, 2, 2), (1, 4, 3), (2, 1, 0)], 140, vec![0, 35, 65]),
        (vec![(0, 4, 1), (1, 4, 0)], 100, vec![75, 25]),
        (vec![(0, 4, 3), (1, 4, 0)], UNLIMITED_OVERPROVISIONING, vec![100, 0]),
    ] {
        for kind in
            [Balance::RoundRobin, Balance::LeastRequest, Balance::Random, Balance::Maglev, Balance::Ring]
        {
            let shares = shares(&endpoints(&tiers), percent, kind);
            for (share, expected) in shares.iter().zip(&expected) {
                assert!(share.abs_diff(*expected) <= 2, "{kind:?} {tiers:?} {percent}: {shares:?}");
            }
        }
    }
}

struct LevelsFixture {
    state: ClusterState,
    rng: Rng,
    now: WorkerTime,
}

impl LevelsFixture {
    fn new(config: ClusterConfig, members: Vec<ResolvedEndpoint>) -> Self {
        let mut rng = Rng::new(1);
        let set = Arc::new(EndpointSet::new(members, config.balance));
        Self { state: ClusterState::new(Shared::new(config), set, NOW, &mut rng), rng, now: NOW }
    }

    /// Returns the number of selections of each port.
    fn chosen(&mut self, requests: u32) -> HashMap<String, u32> {
        let mut counts = HashMap::new();
        for _ in 0..requests {
            let lease = self.state.select(self.now, &mut self.rng, &mut TriedEndpoints::new()).unwrap();
            let address = self.state.endpoint(lease.endpoint()).unwrap().address().to_string();
            *counts.entry(address.replace("127.0.0.1:", "")).or_default() += 1;
            self.state.release(lease);
        }
        counts
    }

    fn unhealthy(&mut self, ports: &[u16]) {
        let mut unhealthy = UnhealthySet::default();
        ports.iter().for_each(|port| unhealthy.insert(address(*port), "for a test".into()));
        self.state.set_unhealthy(Arc::new(unhealthy), self.now);
    }
}

#[test]
fn the_own_zone_is_preferred_within_a_priority() {
    let config = ClusterConfig {
        zone: Some("here".into()),
        health: Some(HealthConfig::default()),
        ..ClusterConfig::new("users", Vec::new())
    };
    let members = vec![
        member(1, 0, Some("here")),
        member(2, 0, Some("there")),
        member(3, 1, Some("here")),
        // Its zone is unknown: it counts as near.
        member(4, 0, None),
    ];
    let mut world = LevelsFixture::new(config, members);
    assert_eq!(world.chosen(100), HashMap::from([("1".into(), 50), ("4".into(), 50)]));
    world.unhealthy(&[1, 4]);
    assert_eq!(world.chosen(100), HashMap::from([("2".into(), 100)]));
    // One healthy endpoint of four is below the panic threshold of one half, but it can take all requests.
    world.unhealthy(&[1, 2, 4]);
    assert_eq!(world.chosen(100), HashMap::from([("3".into(), 100)]));
    world.unhealthy(&[1, 2, 3, 4]);
    assert_eq!(world.chosen(100), HashMap::from([("1".into(), 50), ("4".into(), 50)]));
}

#[test]
fn slow_start_grows_from_a_tenth_to_the_full_share() {
    for balance in [Balance::RoundRobin, Balance::LeastRequest, Balance::Random] {
        let slow_start = Some(Duration::from_secs(100));
        let config = ClusterConfig { balance, slow_start, ..ClusterConfig::new("users", Vec::new()) };
        let members = |ports: &[u16]| ports.iter().map(|port| member(*port, 0, None)).collect::<Vec<_>>();
        let mut world = LevelsFixture::new(config, members(&[1, 2]));
        let first = world.chosen(1000);
        assert!(first["1"] > 400 && first["2"] > 400, "where all are new none is spared: {first:?}");
        let set = Arc::new(EndpointSet::new(members(&[1, 2, 3]), balance));
        world.state.update(set, world.now, &mut world.rng);
        for (second, expected) in [(0, 0.1), (50, 0.55), (90, 0.91), (100, 1.0)] {
            world.now = NOW + Millis::new(second * 1000);
            let counts = world.chosen(6000);
            let share = f64::from(counts["3"]) / 6000.0;
            let wanted = expected / (2.0 + expected);
            assert!((share - wanted).abs() < 0.03, "{balance:?} {second}: {counts:?}");
            assert!(counts["1"].abs_diff(counts["2"]) < 400, "{balance:?} {second}: {counts:?}");
        }
    }
}

#[test]
fn a_recovered_endpoint_gets_a_slow_start() {
    let config = ClusterConfig {
        slow_start: Some(Duration::from_secs(100)),
        health: Some(HealthConfig::default()),
        ..ClusterConfig::new("users", Vec::new())
    };
    let mut world = LevelsFixture::new(config, vec![member(1, 0, None), member(2, 0, None)]);
    world.unhealthy(&[1]);
    world.now += Millis::new(5_000);
    world.unhealthy(&[]);
    let counts = world.chosen(1000);
    assert!((50..150).contains(&counts["1"]), "{counts:?}");
}
