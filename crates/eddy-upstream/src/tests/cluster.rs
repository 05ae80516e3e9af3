//! Cluster state of one worker under requests, failures and endpoint changes.

use std::collections::HashSet;
use std::sync::Arc;

use eddy_ids::{Millis, Shared, WorkerTime};
use eddy_model::{Balance, ClusterConfig, EjectionConfig};
use proptest::prelude::*;

use crate::eject::{EjectionChange, ejected_max};
use crate::{
    ClusterState, EndpointId, EndpointSet, Lease, ResolvedAddress, ResolvedEndpoint, Rng, TriedEndpoints,
};

#[test]
fn an_empty_cluster_has_no_endpoint() {
    let mut world = ClusterFixture::new(config(Balance::RoundRobin), &[]);
    assert!(world.try_select(&mut TriedEndpoints::new()).is_none());
}

#[test]
fn active_requests_are_counted_until_released() {
    let mut world = ClusterFixture::new(config(Balance::RoundRobin), &[1]);
    let first = world.select();
    let second = world.select();
    assert_eq!(world.state.endpoints()[0].active(), 2);
    world.state.release(first);
    world.state.release(second);
    assert_eq!(world.state.endpoints()[0].active(), 0);
    assert_eq!(world.state.endpoints()[0].stats().selections, 2);
}

#[test]
fn a_retry_prefers_another_endpoint() {
    for balance in [Balance::RoundRobin, Balance::LeastRequest, Balance::Random] {
        let mut world = ClusterFixture::new(config(balance), &[1, 2, 3]);
        for _ in 0..50 {
            let mut tried = TriedEndpoints::new();
            let leases: Vec<Lease> = (0..3).map(|_| world.try_select(&mut tried).unwrap()).collect();
            let seen: HashSet<EndpointId> = leases.iter().map(Lease::endpoint).collect();
            assert_eq!(seen.len(), 3, "{balance:?}");
            let again = world.try_select(&mut tried).unwrap();
            leases.into_iter().chain([again]).for_each(|lease| world.state.release(lease));
        }
    }
}

#[test]
fn the_caller_is_notified_of_ejections_and_returns() {
    let mut world = ClusterFixture::new(config(Balance::RoundRobin), &[1, 2]);
    let lease = (0..2).map(|_| world.select()).last().unwrap();
    let changes: Vec<EjectionChange> = (0..5).map(|_| world.state.on_failure(&lease, world.now)).collect();
    assert_eq!(
        changes,
        [
            EjectionChange::None,
            EjectionChange::None,
            EjectionChange::None,
            EjectionChange::None,
            EjectionChange::Ejected
        ]
    );
    world.state.release(lease);
    world.now += Millis::new(10_000);
    let probe = (0..2).map(|_| world.select()).find(|lease| lease.is_probe).unwrap();
    assert_eq!(world.state.on_success(&probe, world.now), EjectionChange::Returned);
    world.state.release(probe);
}

#[test]
fn an_ejected_endpoint_is_retried_after_its_ejection_time() {
    let mut world = ClusterFixture::new(config(Balance::RoundRobin), &[1, 2]);
    world.fail_until_ejected(1);
    assert_eq!(world.ports_of(20), HashSet::from([2]));
    world.now += Millis::new(10_000);
    let leases: Vec<Lease> = (0..4).map(|_| world.select()).collect();
    let probes: Vec<&Lease> = leases.iter().filter(|lease| lease.is_probe).collect();
    assert_eq!(probes.len(), 1, "one request at a time goes to a half-open endpoint");
    world.state.on_success(probes[0], world.now);
    leases.into_iter().for_each(|lease| world.state.release(lease));
    assert_eq!(world.ports_of(20), HashSet::from([1, 2]));
}

#[test]
fn a_probe_without_outcome_leaves_the_endpoint_half_open() {
    let mut world = ClusterFixture::new(config(Balance::RoundRobin), &[1, 2]);
    world.fail_until_ejected(1);
    world.now += Millis::new(10_000);
    for _ in 0..2 {
        let probe = (0..3).map(|_| world.select()).find(|lease| lease.is_probe).unwrap();
        world.state.release(probe);
    }
    assert!(world.endpoint(1).is_ejected());
}

#[test]
fn the_last_endpoint_is_not_ejected() {
    let mut world = ClusterFixture::new(config(Balance::RoundRobin), &[1]);
    for _ in 0..50 {
        let lease = world.select();
        world.state.on_failure(&lease, world.now);
        world.state.release(lease);
    }
    assert!(!world.state.endpoints()[0].is_ejected());
    assert_eq!(world.state.endpoints()[0].stats().failures, 50);
}

#[test]
fn an_update_keeps_the_state_of_remaining_endpoints() {
    let mut world = ClusterFixture::new(config(Balance::RoundRobin), &[1, 2, 3, 4]);
    world.fail_until_ejected(2);
    let (two, three) = (world.endpoint(2).id(), world.endpoint(3).id());
    let gone = world.update(&[4, 2, 9]);
    assert_eq!(gone.len(), 2);
    assert!(gone.contains(&three));
    assert!(world.state.endpoint(three).is_none());
    assert_eq!(**world.state.endpoint(two).unwrap().address(), address(2));
    assert!(world.endpoint(2).is_ejected());
    assert!(world.endpoint(2).stats().failures > 0);
    assert_eq!(world.endpoint(9).stats().selections, 0);
}

#[test]
fn a_lease_of_a_removed_endpoint_affects_no_other() {
    let mut world = ClusterFixture::new(config(Balance::RoundRobin), &[1]);
    let old = world.select();
    world.update(&[2]);
    let new_id = world.endpoint(2).id();
    assert_ne!(old.endpoint(), new_id);
    world.state.on_failure(&old, world.now);
    world.state.on_success(&old, world.now);
    world.state.release(old);
    assert_eq!(world.endpoint(2).stats(), crate::EndpointStats::default());
    assert_eq!(world.endpoint(2).active(), 0);
}

#[test]
fn an_update_that_leaves_mostly_ejected_endpoints_readmits_some() {
    let mut world = ClusterFixture::new(config(Balance::RoundRobin), &[1, 2, 3, 4]);
    world.fail_until_ejected(1);
    world.now += Millis::new(1_000);
    world.fail_until_ejected(2);
    world.update(&[1, 2, 3]);
    assert!(!world.endpoint(1).is_ejected(), "the one whose time is over first");
    assert!(world.endpoint(2).is_ejected());
    world.update(&[2]);
    assert!(!world.endpoint(2).is_ejected(), "the only one left");
}

#[test]
fn an_update_changes_weights() {
    let mut world = ClusterFixture::new(config(Balance::RoundRobin), &[1, 2]);
    let heavy = ResolvedEndpoint::new(address(1), 3);
    let light = ResolvedEndpoint::new(address(2), 1);
    world.state.update(
        Arc::new(EndpointSet::new([heavy, light], Balance::RoundRobin)),
        world.now,
        &mut world.rng,
    );
    let ports: Vec<u16> = (0..8).map(|_| world.pass()).collect();
    assert_eq!(ports.iter().filter(|port| **port == 1).count(), 6);
}

#[test]
fn another_configuration_keeps_health_and_counters() {
    let mut world = ClusterFixture::new(config(Balance::RoundRobin), &[1, 2]);
    world.fail_until_ejected(1);
    let id = world.endpoint(1).id();
    world.state.reconfigure(Shared::new(config(Balance::Random)), world.now, &mut world.rng);
    assert!(world.state.endpoint(id).unwrap().is_ejected());
    let off = EjectionConfig { failures: 0, ..EjectionConfig::default() };
    let config = ClusterConfig { ejection: off, ..config(Balance::Random) };
    world.state.reconfigure(Shared::new(config), world.now, &mut world.rng);
    assert!(!world.state.endpoint(id).unwrap().is_ejected());
}

#[test]
fn a_request_allocates_nothing() {
    for balance in [Balance::RoundRobin, Balance::LeastRequest, Balance::Random] {
        let mut world = ClusterFixture::new(config(balance), &[1, 2, 3, 4, 5]);
        let counted = allocation_counter::measure(|| {
            for round in 0..500 {
                let mut tried = TriedEndpoints::new();
                let lease = world.state.select(world.now, &mut world.rng, &mut tried).unwrap();
                if round % 3 == 0 {
                    world.state.on_failure(&lease, world.now);
                } else {
                    world.state.on_success(&lease, world.now);
                }
                world.state.release(lease);
            }
        });
        assert_eq!(counted.count_total, 0, "{balance:?}");
    }
}

#[derive(Clone, Debug)]
enum ClusterTestEvent {
    Select,
    Succeed(usize),
    Fail(usize),
    Release(usize),
    Wait(u64),
    Update(Vec<u16>),
}

fn event() -> impl Strategy<Value = ClusterTestEvent> {
    prop_oneof![
        4 => Just(ClusterTestEvent::Select),
        2 => any::<usize>().prop_map(ClusterTestEvent::Succeed),
        6 => any::<usize>().prop_map(ClusterTestEvent::Fail),
        3 => any::<usize>().prop_map(ClusterTestEvent::Release),
        1 => (0_u64..15_000).prop_map(ClusterTestEvent::Wait),
        1 => prop::collection::vec(1_u16..12, 0..8).prop_map(ClusterTestEvent::Update),
    ]
}

proptest! {
    /// Any order of events keeps the limits: percentage, at least one endpoint in service, no ejected endpoint selected
    /// while a healthy one exists, and active counts that return to zero.
    #[test]
    fn limits_are_respected_in_random_runs(
        ports in prop::collection::vec(1_u16..12, 1..8),
        events in prop::collection::vec(event(), 0..300),
        percent_max in 0_u8..=100,
        balance in prop::sample::select(vec![Balance::RoundRobin, Balance::LeastRequest, Balance::Random]),
    ) {
        let ejection = EjectionConfig { failures: 2, percent_max, ..EjectionConfig::default() };
        let mut world = ClusterFixture::new(ClusterConfig { ejection, ..config(balance) }, &ports);
        let mut leases: Vec<Lease> = Vec::new();
        for event in events {
            match event {
                ClusterTestEvent::Select => {
                    let has_healthy = world.state.endpoints().iter().any(|endpoint| !endpoint.is_ejected());
                    if let Some(lease) = world.try_select(&mut TriedEndpoints::new()) {
                        let is_ejected = world.state.endpoint(lease.endpoint()).unwrap().is_ejected();
                        prop_assert!(!(has_healthy && is_ejected) || lease.is_probe);
                        leases.push(lease);
                    } else {
                        prop_assert!(world.state.endpoints().is_empty());
                    }
                }
                ClusterTestEvent::Succeed(at) if !leases.is_empty() => {
                    world.state.on_success(&leases[at % leases.len()], world.now);
                }
                ClusterTestEvent::Fail(at) if !leases.is_empty() => {
                    world.state.on_failure(&leases[at % leases.len()], world.now);
                }
                ClusterTestEvent::Release(at) if !leases.is_empty() => {
                    let lease = leases.swap_remove(at % leases.len());
                    world.state.release(lease);
                }
                ClusterTestEvent::Succeed(_) | ClusterTestEvent::Fail(_) | ClusterTestEvent::Release(_) => {}
                ClusterTestEvent::Wait(ms) => world.now += Millis::new(ms),
                ClusterTestEvent::Update(ports) => { world.update(&ports); }
            }
            let ejected = world.state.endpoints().iter().filter(|endpoint| endpoint.is_ejected()).count();
            prop_assert!(ejected <= ejected_max(world.state.endpoints().len(), &ejection));
        }
        leases.into_iter().for_each(|lease| world.state.release(lease));
        prop_assert!(world.state.endpoints().iter().all(|endpoint| endpoint.active() == 0));
    }
}

#[test]
fn workers_together_respect_the_exchange_limit_of_an_endpoint() {
    let limited = |port: u16| {
        let mut member = ResolvedEndpoint::new(address(port), 1);
        member.terms.active_max = Some(2);
        member.terms.is_active_max_shared = true;
        member
    };
    let set = Arc::new(EndpointSet::new([limited(1), limited(2)], Balance::RoundRobin));
    let (mut rng, now) = (Rng::new(1), WorkerTime::from_millis(100_000));
    let config = Shared::new(ClusterConfig::new("c", Vec::new()));
    let mut workers: Vec<ClusterState> =
        (0..3).map(|_| ClusterState::new(config.clone(), Arc::clone(&set), now, &mut rng)).collect();
    let mut held: Vec<(usize, Lease)> = Vec::new();
    for number in 0..9 {
        let worker = number % 3;
        let lease = workers[worker].select(now, &mut rng, &mut TriedEndpoints::new());
        held.extend(lease.map(|lease| (worker, lease)));
    }
    assert_eq!(held.len(), 4, "two at each of two endpoints");
    let (worker, lease) = held.remove(0);
    workers[worker].release(lease);
    let other = (worker + 1) % 3;
    let lease = workers[other].select(now, &mut rng, &mut TriedEndpoints::new()).unwrap();
    // Active exchanges stay counted after the endpoints have changed.
    let next = EndpointSet::new([limited(2), limited(1), limited(3)], Balance::RoundRobin);
    let next = Arc::new(next.with_counts_of(&set));
    workers.iter_mut().for_each(|worker| drop(worker.update(Arc::clone(&next), now, &mut rng)));
    for _ in 0..2 {
        let lease = workers[0].select(now, &mut rng, &mut TriedEndpoints::new()).unwrap();
        assert_eq!(**workers[0].endpoint(lease.endpoint()).unwrap().address(), address(3));
        held.push((0, lease));
    }
    assert!(workers[1].select(now, &mut rng, &mut TriedEndpoints::new()).is_none());
    held.push((other, lease));
    held.into_iter().for_each(|(worker, lease)| workers[worker].release(lease));
    assert!(workers.iter().all(|worker| worker.endpoints().iter().all(|endpoint| endpoint.has_room())));
}

struct ClusterFixture {
    state: ClusterState,
    rng: Rng,
    now: WorkerTime,
}

impl ClusterFixture {
    fn new(config: ClusterConfig, ports: &[u16]) -> Self {
        let (mut rng, now) = (Rng::new(1), WorkerTime::from_millis(100_000));
        let set = set(ports, config.balance);
        let state = ClusterState::new(Shared::new(config), set, now, &mut rng);
        Self { state, rng, now }
    }

    fn try_select(&mut self, tried: &mut TriedEndpoints) -> Option<Lease> {
        self.state.select(self.now, &mut self.rng, tried)
    }

    fn select(&mut self) -> Lease {
        self.try_select(&mut TriedEndpoints::new()).unwrap()
    }

    fn update(&mut self, ports: &[u16]) -> Vec<EndpointId> {
        self.state.update(set(ports, self.state.config().balance), self.now, &mut self.rng)
    }

    fn endpoint(&self, port: u16) -> &crate::EndpointState {
        self.state.endpoints().iter().find(|endpoint| **endpoint.address() == address(port)).unwrap()
    }

    /// Sends one successful request; returns the port it went to.
    fn pass(&mut self) -> u16 {
        let lease = self.select();
        let address = self.state.endpoint(lease.endpoint()).unwrap().address().clone();
        self.state.on_success(&lease, self.now);
        self.state.release(lease);
        match *address {
            ResolvedAddress::Tcp(address) => address.port(),
            ResolvedAddress::Unix(_) => 0,
        }
    }

    fn ports_of(&mut self, requests: usize) -> HashSet<u16> {
        (0..requests).map(|_| self.pass()).collect()
    }

    fn fail_until_ejected(&mut self, port: u16) {
        for _ in 0..1000 {
            let lease = self.select();
            if self.state.endpoint(lease.endpoint()).unwrap().address().as_ref() == &address(port) {
                self.state.on_failure(&lease, self.now);
            }
            self.state.release(lease);
            if self.endpoint(port).is_ejected() {
                return;
            }
        }
        panic!("port {port} was never ejected");
    }
}

fn config(balance: Balance) -> ClusterConfig {
    ClusterConfig { balance, ..ClusterConfig::new("users", Vec::new()) }
}

fn set(ports: &[u16], balance: Balance) -> Arc<EndpointSet> {
    let members = ports.iter().map(|port| ResolvedEndpoint::new(address(*port), 1));
    Arc::new(EndpointSet::new(members, balance))
}

fn address(port: u16) -> ResolvedAddress {
    ResolvedAddress::Tcp(([127, 0, 0, 1], port).into())
}
