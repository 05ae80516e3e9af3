//! Ejection of endpoints: trigger, duration and return to service.

use std::time::Duration;

use eddy_ids::{Millis, WorkerTime};
use eddy_model::EjectionConfig;
use proptest::prelude::*;

use crate::eject::{Ejection, EjectionChange, Room, ejected_max, room};

const CONFIG: EjectionConfig = EjectionConfig {
    failures: 3,
    base_time: Duration::from_secs(10),
    time_max: Duration::from_secs(25),
    percent_max: 50,
    memory: Duration::ZERO,
};

#[test]
fn consecutive_failures_eject() {
    let mut ejection = Ejection::default();
    assert_eq!(fail(&mut ejection, 1), EjectionChange::None);
    assert_eq!(fail(&mut ejection, 2), EjectionChange::None);
    assert_eq!(fail(&mut ejection, 3), EjectionChange::Ejected);
    assert_eq!(ejection.until(), Some(secs(13)));
    assert!(!ejection.is_available(secs(12)));
    assert!(ejection.is_available(secs(13)));
}

#[test]
fn a_success_resets_the_failure_count() {
    let mut ejection = Ejection::default();
    fail(&mut ejection, 1);
    fail(&mut ejection, 1);
    assert_eq!(ejection.on_success(0, secs(1), &CONFIG), EjectionChange::None);
    fail(&mut ejection, 1);
    assert_eq!(fail(&mut ejection, 1), EjectionChange::None);
    assert!(!ejection.is_out());
}

#[test]
fn failures_expire_after_a_while() {
    let config = EjectionConfig { memory: Duration::from_secs(10), ..CONFIG };
    let mut ejection = Ejection::default();
    let fail = |ejection: &mut Ejection, at| ejection.on_failure(0, secs(at), Room::Free, &config);
    fail(&mut ejection, 1);
    ejection.on_success(0, secs(10), &config);
    fail(&mut ejection, 10);
    assert_eq!(fail(&mut ejection, 10), EjectionChange::Ejected, "a success within the time forgets nothing");
    let mut ejection = Ejection::default();
    fail(&mut ejection, 1);
    fail(&mut ejection, 1);
    ejection.on_success(0, secs(11), &config);
    assert_eq!(fail(&mut ejection, 12), EjectionChange::None, "one after it does");
}

#[test]
fn zero_failures_turns_ejection_off() {
    let config = EjectionConfig { failures: 0, ..CONFIG };
    let mut ejection = Ejection::default();
    for _ in 0..100 {
        assert_eq!(ejection.on_failure(0, secs(1), Room::Free, &config), EjectionChange::None);
    }
}

#[test]
fn half_open_lets_one_request_through() {
    let mut ejection = ejected_at(0);
    assert!(!ejection.on_select(secs(9)), "still out");
    assert!(ejection.on_select(secs(10)));
    assert!(!ejection.is_available(secs(10)), "one at a time");
    assert!(!ejection.on_select(secs(11)));
}

#[test]
fn a_successful_first_request_ends_the_ejection() {
    let mut ejection = ejected_at(0);
    assert!(ejection.on_select(secs(10)));
    assert_eq!(ejection.on_success(ejection.epoch(), secs(11), &CONFIG), EjectionChange::Returned);
    assert!(!ejection.is_out());
}

#[test]
fn a_failed_first_request_ejects_again_with_growing_times_up_to_a_limit() {
    let mut ejection = ejected_at(0);
    let mut lengths = Vec::new();
    for _ in 0..3 {
        let due = ejection.until().unwrap();
        assert!(ejection.on_select(due));
        assert_eq!(
            ejection.on_failure(ejection.epoch(), due, Room::Full, &CONFIG),
            EjectionChange::EjectedAgain
        );
        lengths.push(ejection.until().unwrap() - due);
    }
    assert_eq!(lengths, [20_000, 25_000, 25_000].map(Millis::new));
}

#[test]
fn a_lost_probe_allows_the_next() {
    let mut ejection = ejected_at(0);
    assert!(ejection.on_select(secs(10)));
    ejection.on_probe_lost();
    assert!(ejection.is_available(secs(10)));
    assert!(ejection.on_select(secs(10)));
}

#[test]
fn outcomes_of_requests_sent_before_the_ejection_are_ignored() {
    let mut ejection = ejected_at(0);
    let before = ejection;
    assert_eq!(ejection.on_success(0, secs(1), &CONFIG), EjectionChange::None);
    assert_eq!(ejection.on_failure(0, secs(20), Room::Free, &CONFIG), EjectionChange::None);
    assert_eq!(ejection, before);
}

#[test]
fn a_success_while_all_are_ejected_ends_the_ejection() {
    let mut ejection = ejected_at(0);
    assert!(!ejection.on_select(secs(2)));
    assert_eq!(ejection.on_success(ejection.epoch(), secs(2), &CONFIG), EjectionChange::Returned);
}

#[test]
fn a_failure_while_all_are_ejected_does_not_prolong_the_ejection() {
    let mut ejection = ejected_at(0);
    assert_eq!(ejection.on_failure(ejection.epoch(), secs(9), Room::Free, &CONFIG), EjectionChange::None);
    assert_eq!(ejection.until(), Some(secs(10)));
}

#[test]
fn past_ejections_are_forgotten_over_time() {
    let mut ejection = ejected_at(0);
    ejection.on_select(secs(10));
    ejection.on_failure(ejection.epoch(), secs(10), Room::Full, &CONFIG);
    ejection.on_select(secs(30));
    ejection.on_success(ejection.epoch(), secs(30), &CONFIG);
    // Two past ejections; one is forgotten a base time later, so the next is the second.
    for _ in 0..3 {
        ejection.on_failure(ejection.epoch(), secs(40), Room::Free, &CONFIG);
    }
    assert_eq!(ejection.until(), Some(secs(60)));
}

#[test]
fn no_endpoint_is_ejected_beyond_the_ejection_limit() {
    let mut ejection = Ejection::default();
    for _ in 0..10 {
        assert_eq!(ejection.on_failure(0, secs(1), Room::Full, &CONFIG), EjectionChange::None);
    }
    assert_eq!(fail(&mut ejection, 2), EjectionChange::Ejected);
}

#[test]
fn one_endpoint_is_never_ejected() {
    let all = EjectionConfig { percent_max: 100, ..CONFIG };
    for (total, expected) in [(0, 0), (1, 0), (2, 1), (10, 9)] {
        assert_eq!(ejected_max(total, &all), expected, "{total}");
    }
    for (total, expected) in [(1, 0), (2, 1), (3, 1), (4, 2), (5, 2)] {
        assert_eq!(ejected_max(total, &CONFIG), expected, "{total}");
    }
    assert_eq!(room(1, 4, &CONFIG), Room::Free);
    assert_eq!(room(2, 4, &CONFIG), Room::Full);
}

proptest! {
    #[test]
    fn an_ejection_never_lasts_longer_than_the_limit(events in prop::collection::vec((0_u64..40, any::<bool>()), 0..200)) {
        let mut ejection = Ejection::default();
        let mut now = WorkerTime::ZERO;
        for (pause, is_success) in events {
            now += Millis::new(pause * 1000);
            if ejection.is_available(now) { ejection.on_select(now); }
            let epoch = ejection.epoch();
            if is_success {
                ejection.on_success(epoch, now, &CONFIG);
                prop_assert!(!ejection.is_out());
            } else {
                ejection.on_failure(epoch, now, Room::Free, &CONFIG);
            }
            prop_assert!(ejection.until().is_none_or(|until| until <= now + Millis::of(CONFIG.time_max)));
        }
    }
}

fn ejected_at(at: u64) -> Ejection {
    let mut ejection = Ejection::default();
    for _ in 0..3 {
        fail(&mut ejection, at);
    }
    assert!(ejection.is_out());
    ejection
}

fn fail(ejection: &mut Ejection, at: u64) -> EjectionChange {
    ejection.on_failure(ejection.epoch(), secs(at), Room::Free, &CONFIG)
}

fn secs(seconds: u64) -> WorkerTime {
    WorkerTime::from_millis(seconds * 1000)
}
