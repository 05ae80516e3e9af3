//! Calls to another process do not occupy a thread while they wait. A test program of its own, because it counts its
//! threads.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod process;
mod waiting;

use std::future::Future;
use std::task::{Context, Waker};
use std::thread::available_parallelism;

use eddy_bridge_e2e::Echo;

use crate::process::GoProcess;
use crate::waiting::{threads, until, wait};

#[test]
fn a_thousand_calls_are_in_flight_from_one_thread() {
    let process = GoProcess::start("threads");
    let echo = Echo::with(process.linked().bind("Echo", Echo::SHAPE).unwrap());
    let before = threads();

    let mut calls: Vec<_> = (0..1000).map(|_| Box::pin(echo.for_ever())).collect();
    // Later calls are answered first.
    assert_eq!(wait(echo.later("meanwhile", 0)).unwrap(), "meanwhile");
    for call in &mut calls {
        assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    assert_eq!(threads(), before);
    assert!(process.threads() < FEW, "goroutines hold {} threads", process.threads());
    assert_eq!(echo.ended().unwrap(), 0);
    drop(calls);
    until(|| echo.ended().unwrap() == 1000);

    // The other direction: each goroutine waits for a future of this process that never ends.
    let calls: Vec<_> = (0..500).map(|_| echo.give_up_in_rust(HOUR_MS)).collect();
    assert_eq!(wait(echo.later_by_rust("meanwhile", 3)).unwrap(), "meanwhile");
    let executor = available_parallelism().unwrap().get();
    assert!(threads() <= before + executor, "futures hold {} threads", threads());
    assert!(process.threads() < FEW, "goroutines hold {} threads", process.threads());
    drop(calls);
}

/// Far fewer threads than calls; the Go runtime has some of its own.
const FEW: usize = 30;
const HOUR_MS: u32 = 3_600_000;
