//! Threads that repeat a task during a test.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use super::{DEADLINE, try_get};

/// Threads that repeat a task until they are stopped.
pub(crate) struct BackgroundLoad {
    is_stopped: Arc<AtomicBool>,
    threads: Vec<JoinHandle<u64>>,
}

impl BackgroundLoad {
    /// Starts this many threads.
    pub(crate) fn start(count: usize, task: impl Fn() + Clone + Send + 'static) -> Self {
        let is_stopped = Arc::new(AtomicBool::new(false));
        let thread = |_| {
            let (stop, task) = (Arc::clone(&is_stopped), task.clone());
            thread::spawn(move || {
                let mut times = 0;
                while !stop.load(Ordering::Relaxed) {
                    task();
                    times += 1;
                }
                times
            })
        };
        Self { threads: (0..count).map(thread).collect(), is_stopped }
    }

    /// Starts a client of which each request, on new connections, must be answered with 200.
    pub(crate) fn strict(address: SocketAddr) -> Self {
        Self::start(1, move || {
            let answer = try_get(address, "/fixed");
            assert_eq!(answer.as_ref().ok().map(|answer| answer.status), Some(200), "{answer:?}");
        })
    }

    /// Ends the threads, of which none may have failed; returns how often they have done the task.
    pub(crate) fn stop(self) -> u64 {
        self.is_stopped.store(true, Ordering::Relaxed);
        let deadline = Instant::now() + DEADLINE;
        while !self.threads.iter().all(JoinHandle::is_finished) {
            assert!(Instant::now() < deadline, "a request does not end");
            thread::yield_now();
        }
        self.threads.into_iter().map(|thread| thread.join().expect("no request failed")).sum()
    }
}
