//! Remembered addresses of a name and lookup times, in simulated time.

use std::net::IpAddr;
use std::time::Duration;

use eddy_ids::{Millis, WorkerTime};
use eddy_model::{AddressFamilies, DnsConfig};
use hickory_resolver::proto::op::ResponseCode;
use proptest::prelude::*;

use crate::Rng;
use crate::resolve::ADDRESSES_MAX;
use crate::resolve::client::{AddressLookup, AddressRecords, LookupFault};
use crate::resolve::name::{
    FAILURE_DELAY_MAX, LastGoodAnswer, LookupFollowup, NameEvent, NameState, WARNING_INTERVAL,
};

const CONFIG: DnsConfig = DnsConfig {
    refresh_min: Duration::from_secs(1),
    refresh_max: Duration::from_secs(300),
    timeout: Duration::from_secs(5),
    stale_max: Duration::from_secs(3600),
    families: AddressFamilies::Both,
};

#[test]
fn the_shortest_ttl_applies_within_limits_and_a_tenth_of_jitter() {
    for (ttl, least, most) in [(0, 1_000, 1_100), (60, 60_000, 66_000), (86_400, 270_000, 300_000)] {
        for seed in 0..50 {
            let mut name = NameFixture::new(seed);
            let step = name.answer(found(&["10.0.0.1"], ttl), found(&["fd00::1"], 100_000));
            let delay = u64::try_from(step.delay.as_millis()).unwrap();
            assert!((least..=most).contains(&delay), "ttl {ttl}: {delay} ms");
        }
    }
}

#[test]
fn records_in_another_order_are_the_same_result() {
    let mut name = NameFixture::new(0);
    name.answer(found(&["10.0.0.2", "10.0.0.1", "10.0.0.2"], 5), found(&["fd00::1"], 5));
    assert_eq!(name.addresses(), ["10.0.0.1", "10.0.0.2", "fd00::1"]);
}

#[test]
fn addresses_that_must_not_be_connected_to_are_skipped() {
    let mut name = NameFixture::new(0);
    name.answer(
        found(&["0.0.0.0", "224.0.0.1", "255.255.255.255", "10.0.0.1"], 5),
        found(&["::", "ff02::1"], 5),
    );
    assert_eq!(name.addresses(), ["10.0.0.1"]);
}

#[test]
fn a_long_result_is_truncated() {
    let many: Vec<String> = (0..1500_u32).map(|n| format!("10.0.{}.{}", n / 250, n % 250)).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let mut name = NameFixture::new(0);
    name.answer(found(&many, 5), found(&["fd00::1"], 5));
    assert_eq!(name.addresses().len(), ADDRESSES_MAX);
}

#[test]
fn the_last_good_result_outlives_failures_up_to_the_limit() {
    let mut name = NameFixture::new(0);
    name.answer(found(&["10.0.0.1"], 5), found(&[], 5));
    for fault in
        [LookupFault::NoName, LookupFault::Timeout(secs(5)), LookupFault::Refused(ResponseCode::ServFail)]
    {
        name.now += seconds(1000);
        name.answer(Err(fault.clone()), Err(fault));
        assert_eq!(name.addresses(), ["10.0.0.1"]);
    }
    name.now += seconds(599);
    let step = name.answer(Err(LookupFault::NoName), Err(LookupFault::NoName));
    assert_eq!(name.addresses(), ["10.0.0.1"]);
    assert!(step.delay <= secs(1), "asked again when the addresses become too old: {:?}", step.delay);
    name.now += seconds(1);
    let step = name.answer(Err(LookupFault::NoName), Err(LookupFault::NoName));
    assert_eq!(step.news, Some(NameEvent::Dropped));
    assert!(name.addresses().is_empty());
}

#[test]
fn a_name_without_addresses_counts_as_a_failure() {
    let mut name = NameFixture::new(0);
    name.answer(found(&["10.0.0.1"], 5), found(&[], 5));
    name.now += seconds(5);
    let step = name.answer(found(&[], 5), found(&[], 5));
    assert!(matches!(step.fault, Some(LookupFault::NoAddress)));
    assert_eq!(name.addresses(), ["10.0.0.1"]);
}

#[test]
fn a_failing_address_family_keeps_its_addresses_and_the_other_is_updated() {
    let mut name = NameFixture::new(0);
    name.answer(found(&["10.0.0.1"], 60), found(&["fd00::1"], 60));
    name.now += seconds(60);
    let step = name.answer(found(&["10.0.0.2"], 60), Err(LookupFault::Refused(ResponseCode::ServFail)));
    assert_eq!(name.addresses(), ["10.0.0.2", "fd00::1"]);
    assert!(step.delay <= FAILURE_DELAY_MAX);
}

#[test]
fn an_address_family_without_records_is_dropped_immediately() {
    for none in [found(&[], 60), Err(LookupFault::NoName)] {
        let mut name = NameFixture::new(0);
        name.answer(found(&["10.0.0.1"], 60), found(&["fd00::1"], 60));
        name.answer(found(&["10.0.0.1"], 60), none);
        assert_eq!(name.addresses(), ["10.0.0.1"]);
    }
}

#[test]
fn failed_lookups_are_retried_with_backoff() {
    let mut name = NameFixture::new(0);
    let delays: Vec<u64> = (0..8).map(|_| name.fail().delay.as_secs()).collect();
    assert_eq!(delays[..4], [1, 2, 4, 8]);
    let limit = FAILURE_DELAY_MAX.as_secs();
    assert!(delays[5..].iter().all(|delay| (limit * 9 / 10..=limit).contains(delay)), "{delays:?}");
    name.answer(found(&["10.0.0.1"], 5), found(&[], 5));
    assert_eq!(name.fail().delay.as_secs(), 1, "a good answer starts again");
}

#[test]
fn a_lasting_failure_is_logged_periodically() {
    let mut name = NameFixture::new(0);
    let mut mentioned = 0;
    for _ in 0..600 {
        mentioned += u32::from(name.fail().news.is_some());
        name.now += seconds(1);
    }
    assert_eq!(mentioned, 10, "600 s, once every {WARNING_INTERVAL:?}");
    let step = name.answer(found(&["10.0.0.1"], 5), found(&[], 5));
    assert_eq!(step.news, Some(NameEvent::Recovered));
    assert_eq!(name.fail().news, Some(NameEvent::Failing), "a new failure is said at once");
}

#[test]
fn an_earlier_result_is_used_unless_too_old() {
    let mut name = NameFixture::new(0);
    name.answer(found(&["10.0.0.1"], 5), found(&[], 5));
    let known = name.state.known().clone();
    let later = |now| NameState::new(CONFIG, known.clone(), now).addresses().len();
    assert_eq!(later(name.now + seconds(3599)), 1);
    assert_eq!(later(name.now + seconds(3600)), 0);
}

proptest! {
    #[test]
    fn delays_stay_within_their_limits(
        seed: u64,
        refresh_min_ms in 0_u64..5_000,
        refresh_more_ms in 0_u64..600_000,
        answers in prop::collection::vec((any::<Option<u32>>(), 0_u64..400), 1..60),
    ) {
        let refresh_min = Duration::from_millis(refresh_min_ms);
        let config = DnsConfig { refresh_min, refresh_max: refresh_min + Duration::from_millis(refresh_more_ms), ..CONFIG };
        let mut name = NameFixture { state: NameState::new(config, LastGoodAnswer::default(), WorkerTime::ZERO), ..NameFixture::new(seed) };
        for (ttl, pause) in answers {
            let step = match ttl {
                Some(ttl) => name.answer(found(&["10.0.0.1"], ttl), found(&[], 0)),
                None => name.fail(),
            };
            prop_assert!(step.delay >= Duration::from_millis(20));
            prop_assert!(step.delay <= config.refresh_max.max(refresh_min.max(Duration::from_millis(20)) * 11 / 10));
            name.now += seconds(pause);
        }
    }
}

struct NameFixture {
    state: NameState,
    rng: Rng,
    now: WorkerTime,
}

impl NameFixture {
    fn new(seed: u64) -> Self {
        let now = WorkerTime::ZERO + seconds(10);
        Self { state: NameState::new(CONFIG, LastGoodAnswer::default(), now), rng: Rng::new(seed), now }
    }

    fn answer(
        &mut self,
        v4: Result<AddressRecords, LookupFault>,
        v6: Result<AddressRecords, LookupFault>,
    ) -> LookupFollowup {
        self.state.handle_answers(self.now, AddressLookup { v4, v6 }, &mut self.rng)
    }

    fn fail(&mut self) -> LookupFollowup {
        self.answer(Err(LookupFault::NoName), Err(LookupFault::NoName))
    }

    fn addresses(&self) -> Vec<String> {
        self.state.addresses().iter().map(IpAddr::to_string).collect()
    }
}

fn found(addresses: &[&str], ttl: u32) -> Result<AddressRecords, LookupFault> {
    let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
    Ok(AddressRecords { addresses, ttl: secs(ttl.into()) })
}

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn seconds(count: u64) -> Millis {
    Millis::of(secs(count))
}
