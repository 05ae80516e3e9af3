//! Waiting for futures and conditions, with a timeout.

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

/// Blocks this thread on a future.
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

/// Waits until a condition holds.
pub(crate) fn until(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < SOON, "it never holds");
        thread::yield_now();
    }
}

/// Returns the number of threads of this process.
pub(crate) fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").expect("a process has threads").count()
}

/// Longer than any successful operation takes.
const SOON: Duration = Duration::from_secs(60);
