//! Asynchronous calls, in both directions.
#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use eddy_bridge::{BridgeError, BridgeErrorKind, MethodError};
use eddy_bridge_e2e::{Echo, library};

fn echo() -> Echo {
    Echo::bind(&library(Path::new(env!("CARGO_TARGET_TMPDIR")))).unwrap()
}

struct ParkedThreadWaker(Thread);

impl Wake for ParkedThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Blocks this thread on a future, for 30 seconds at most.
fn wait<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(ParkedThreadWaker(thread::current())));
    let mut future = pin!(future);
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        assert!(Instant::now() < end, "the future has not ended");
        thread::park_timeout(Duration::from_secs(1));
    }
}

#[test]
fn responses_arrive_in_any_order() {
    let echo = echo();
    let calls: Vec<_> =
        (0..200_u32).map(|number| (number, echo.later(&number.to_string(), 200 - number))).collect();
    for (number, call) in calls {
        assert_eq!(wait(call).unwrap(), number.to_string());
    }
}

#[test]
fn arguments_are_not_borrowed() {
    let call = {
        let text = "gone ".repeat(1000);
        echo().later(&text, 20)
    };
    assert_eq!(wait(call).unwrap(), "gone ".repeat(1000));
}

#[test]
fn a_dropped_future_cancels_the_context() {
    let echo = echo();
    let before = echo.ended().unwrap();
    for round in 0..100 {
        let mut call = Box::pin(echo.for_ever());
        if round % 2 == 0 {
            let polled = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending());
        }
        drop(call);
    }
    let end = Instant::now() + Duration::from_secs(30);
    while echo.ended().unwrap() < before + 100 {
        assert!(Instant::now() < end, "{} of 100 contexts have ended", echo.ended().unwrap() - before);
        thread::yield_now();
    }
}

#[test]
fn a_panic_in_a_goroutine_is_an_error_with_its_text() {
    let failure = wait(echo().explode_later("the end")).unwrap_err();
    assert_eq!(failure, MethodError::Fault(BridgeError::new(BridgeErrorKind::Panic, "the end")));
    let failure = wait(echo().explode_later("goexit")).unwrap_err();
    let text = "the method ended its goroutine by runtime.Goexit";
    assert_eq!(failure, MethodError::Fault(BridgeError::new(BridgeErrorKind::Panic, text)));
}

#[test]
fn a_goroutine_waits_for_a_future() {
    let echo = echo();
    let calls: Vec<_> = (0..100_u32).map(|number| echo.later_by_rust("by rust", number)).collect();
    for call in calls {
        assert_eq!(wait(call).unwrap(), "by rust");
    }
    let long = "long ".repeat(20_000);
    assert_eq!(wait(echo.later_by_rust(&long, 1)).unwrap(), long);
}

#[test]
fn a_cancelled_context_drops_the_future() {
    assert_eq!(wait(echo().give_up_in_rust(5)).unwrap(), "context deadline exceeded");
}
