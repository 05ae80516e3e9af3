//! Waiting for futures and for what comes about, within a time.

#![allow(dead_code, reason = "no program of tests needs all of it")]

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

struct TestThreadWaker(Thread);

impl Wake for TestThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a future on this thread.
pub(crate) fn wait<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(TestThreadWaker(thread::current())));
    let mut future = pin!(future);
    let begun = Instant::now();
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        assert!(begun.elapsed() < SOON, "the future has not ended");
        thread::park_timeout(Duration::from_secs(1));
    }
}

/// Waits until something holds.
pub(crate) fn until(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < SOON, "it never holds");
        thread::yield_now();
    }
}

/// How many threads this process has.
pub(crate) fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").expect("a process has threads").count()
}

/// Longer than anything takes that works.
const SOON: Duration = Duration::from_secs(60);
