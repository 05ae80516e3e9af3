//! Async methods of another process, in Go, and async methods that it calls back.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod process;
mod waiting;

use std::time::{Duration, Instant};

use eddy_bridge::{BridgeError, BridgeErrorKind, MethodError};
use eddy_bridge_e2e::Echo;

use crate::process::GoProcess;
use crate::waiting::{until, wait};

fn echo(process: &GoProcess) -> Echo {
    Echo::with(process.linked().bind("Echo", Echo::SHAPE).unwrap())
}

/// The default limit of concurrent calls of a link.
const CALLS: usize = 1024;

#[test]
fn responses_arrive_in_any_order() {
    let process = GoProcess::start("order");
    let echo = echo(&process);
    let calls: Vec<_> =
        (0..200_u32).map(|number| (number, echo.later(&number.to_string(), 200 - number))).collect();
    for (number, call) in calls {
        assert_eq!(wait(call).unwrap(), number.to_string());
    }
    let long = "long ".repeat(200_000);
    assert_eq!(wait(echo.later(&long, 1)).unwrap(), long);
}

#[test]
fn a_call_starts_immediately_and_outlives_its_client() {
    let process = GoProcess::start("outlives");
    let call = echo(&process).later("by nobody any more", 20);
    assert_eq!(wait(call).unwrap(), "by nobody any more");
}

#[test]
fn a_crashed_process_ends_all_calls() {
    let mut process = GoProcess::start("ends");
    let echo = echo(&process);
    let calls: Vec<_> = (0..CALLS).map(|_| echo.for_ever()).collect();
    // One more call is beyond the limit while all of these are in flight.
    assert_eq!(echo.nothing().unwrap_err().kind, BridgeErrorKind::Overloaded);
    process.child.kill().unwrap();
    for call in calls {
        let fault = wait(call).unwrap_err();
        assert_eq!(fault.kind, BridgeErrorKind::Closed, "{fault}");
        assert!(fault.text.contains("ended or closed the link"), "{fault}");
    }
    assert_eq!(wait(echo.for_ever()).unwrap_err().kind, BridgeErrorKind::Closed);
}

#[test]
fn a_call_ends_at_its_deadline_on_both_sides() {
    let process = GoProcess::start("deadline");
    let apart = process.linked_within(Duration::from_secs(1));
    let echo = Echo::with(apart.bind("Echo", Echo::SHAPE).unwrap());
    let begun = Instant::now();
    let fault = wait(echo.for_ever()).unwrap_err();
    assert_eq!(fault.kind, BridgeErrorKind::Deadline, "{fault}");
    assert!(begun.elapsed() >= Duration::from_secs(1));
    let patient = Echo::with(process.linked().bind("Echo", Echo::SHAPE).unwrap());
    until(|| patient.ended().unwrap() == 1);
}

#[test]
fn calls_beyond_the_link_limit_are_refused() {
    let process = GoProcess::start("crowded");
    let echo = echo(&process);
    let calls: Vec<_> = (0..CALLS).map(|_| echo.for_ever()).collect();
    assert_eq!(wait(echo.for_ever()).unwrap_err().kind, BridgeErrorKind::Overloaded);
    drop(calls);
    until(|| echo.ended().is_ok_and(|ended| ended == CALLS as u64));
}

#[test]
fn a_panic_in_a_goroutine_is_an_error_with_its_text() {
    let process = GoProcess::start("panic");
    let echo = echo(&process);
    let failure = wait(echo.explode_later("the end")).unwrap_err();
    assert_eq!(failure, MethodError::Fault(BridgeError::new(BridgeErrorKind::Panic, "the end")));
    let failure = wait(echo.explode_later("goexit")).unwrap_err();
    let text = "the handler ended its goroutine by runtime.Goexit";
    assert_eq!(failure, MethodError::Fault(BridgeError::new(BridgeErrorKind::Panic, text)));
    assert_eq!(wait(echo.later("still there", 0)).unwrap(), "still there");
}

#[test]
fn goroutines_wait_for_futures() {
    let process = GoProcess::start("back");
    let echo = echo(&process);
    let calls: Vec<_> = (0..500_u32).map(|number| echo.later_by_rust("by rust", number)).collect();
    for call in calls {
        assert_eq!(wait(call).unwrap(), "by rust");
    }
    let long = "long ".repeat(20_000);
    assert_eq!(wait(echo.later_by_rust(&long, 1)).unwrap(), long);
}

#[test]
fn a_cancelled_context_drops_the_future_of_the_other_process() {
    let process = GoProcess::start("give-up");
    assert_eq!(wait(echo(&process).give_up_in_rust(5)).unwrap(), "context deadline exceeded");
}
