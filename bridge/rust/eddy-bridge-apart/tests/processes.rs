//! Services of a Go process: every type, both directions, and errors.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod process;

use eddy_bridge::BridgeErrorKind;
use eddy_bridge_apart::RemoteBindError;
use eddy_bridge_e2e::{Echo, ValueGenerator, View};

use crate::process::GoProcess;

#[test]
fn random_values_round_trip() {
    let process = GoProcess::start("values");
    let echo = Echo::with(process.linked().bind("Echo", Echo::SHAPE).unwrap());
    for seed in 0..2000 {
        let value = ValueGenerator::new(seed).every();
        let back =
            if seed % 2 == 0 { echo.every(&value).unwrap() } else { echo.every_by_rust(&value).unwrap() };
        assert!(value == back, "seed {seed}: {value:?} became {back:?}");
    }
}

#[test]
fn large_values_round_trip() {
    let process = GoProcess::start("large");
    let echo = Echo::with(process.linked().bind("Echo", Echo::SHAPE).unwrap());
    let (body, numbers) = (vec![7; 3 << 20], (0..300_000).collect::<Vec<u32>>());
    let view = View { name: "large", body: &body, numbers: &numbers, maybe: None, count: 0 };
    for back in [echo.view(&view).unwrap(), echo.view_by_rust(&view).unwrap()] {
        assert!(back.body == body && back.numbers == numbers);
    }
    let long = vec![0; 17 << 20];
    let view = View { body: &long, ..view };
    assert_eq!(
        echo.view(&view).unwrap_err().kind,
        BridgeErrorKind::Malformed,
        "that is more than a ring passes on"
    );
}

#[test]
fn services_are_found_by_name_and_signature() {
    let process = GoProcess::start("names");
    let apart = process.linked();
    assert_eq!(apart.bind("Echo", 7).unwrap_err(), RemoteBindError::Different("Echo".to_owned()));
    assert_eq!(apart.bind("Ohce", Echo::SHAPE).unwrap_err(), RemoteBindError::Absent("Ohce".to_owned()));
}

#[test]
fn a_call_to_a_crashed_process_fails() {
    let mut process = GoProcess::start("dead");
    let echo = Echo::with(process.linked().bind("Echo", Echo::SHAPE).unwrap());
    echo.nothing().unwrap();
    process.child.kill().unwrap();
    process.child.wait().unwrap();
    let fault = echo.nothing().unwrap_err();
    assert_eq!(fault.kind, BridgeErrorKind::Closed);
    assert!(fault.text.contains("ended or closed the link"), "{}", fault.text);
}
