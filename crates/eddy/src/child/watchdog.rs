//! Watches workers from inside the process: logs filters that block a worker, and relays output on standard error.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use eddy_io::{SharedPage, monotonic_ms};

use super::stderr_capture::StderrCapture;

/// Returns the name of a filter by its number.
pub(super) type NameOf = Box<dyn Fn(u32) -> String + Send>;

/// Ends the watchdog thread when dropped.
#[derive(Debug)]
pub(super) struct Watch {
    _end: Sender<()>,
}

/// Starts to watch this many workers.
///
/// # Errors
/// When the thread cannot be started.
pub(super) fn watch(
    page: Arc<SharedPage>,
    workers: usize,
    name_of: NameOf,
    captured_stderr: Option<StderrCapture>,
) -> io::Result<Watch> {
    let (end, ended) = channel();
    let watcher = Watcher { page, stays: vec![FilterOccupancy::default(); workers], name_of };
    thread::Builder::new()
        .name("eddy-watchdog".to_owned())
        .spawn(move || run(watcher, captured_stderr, &ended))?;
    Ok(Watch { _end: end })
}

fn run(mut watcher: Watcher, mut captured_stderr: Option<StderrCapture>, ended: &Receiver<()>) {
    while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
        watcher.look(monotonic_ms());
        captured_stderr.iter_mut().for_each(StderrCapture::relay);
    }
}

struct Watcher {
    page: Arc<SharedPage>,
    stays: Vec<FilterOccupancy>,
    name_of: NameOf,
}

/// Time that a worker has been in a filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct FilterOccupancy {
    filter: u32,
    heartbeat_ms: u64,
    since_ms: u64,
    /// Number of [`SLOW_FILTER_LOG_MS`] that have passed.
    told: usize,
}

impl FilterOccupancy {
    /// Updates the stay; returns its length in milliseconds when it is to be logged.
    fn look(&mut self, filter: u32, heartbeat_ms: u64, now_ms: u64) -> Option<u64> {
        // A worker whose heartbeat changed has left the filter, whatever it shows now.
        if filter == 0 || (filter, heartbeat_ms) != (self.filter, self.heartbeat_ms) {
            *self = Self { filter, heartbeat_ms, since_ms: now_ms, told: 0 };
            return None;
        }
        let held_ms = now_ms.saturating_sub(self.since_ms);
        let patience_ms = *SLOW_FILTER_LOG_MS.get(self.told)?;
        if held_ms < patience_ms {
            return None;
        }
        self.told += 1;
        Some(held_ms)
    }
}

impl Watcher {
    fn look(&mut self, now_ms: u64) {
        for (worker, stay) in self.stays.iter_mut().enumerate() {
            let slot = self.page.worker(worker);
            let filter = slot.filter.load(Relaxed);
            if let Some(held_ms) = stay.look(filter, slot.heartbeat_ms.load(Relaxed), now_ms) {
                let filter = (self.name_of)(filter);
                if stay.told == 1 {
                    tracing::warn!(
                        filter,
                        worker,
                        held_ms,
                        "a filter blocks its worker: move slow work to a background task, or set `blocking: true`"
                    );
                } else {
                    tracing::error!(
                        filter,
                        worker,
                        held_ms,
                        "a filter still blocks its worker, which accepts no new connections meanwhile"
                    );
                }
            }
        }
    }
}

/// Interval of checks.
const TICK: Duration = Duration::from_millis(50);
/// Lengths of a stay after which it is logged. The parent replaces the process after five seconds.
const SLOW_FILTER_LOG_MS: [u64; 2] = [100, 1000];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_filter_call_is_logged_twice() {
        let mut stay = FilterOccupancy::default();
        let told: Vec<u64> = (0..60).filter_map(|tick| stay.look(7, 500, 1_000 + tick * 50)).collect();
        assert_eq!(told, [100, 1000]);
        assert_eq!(stay.look(7, 501, 5_000), None, "the worker went on in between");
    }

    #[test]
    fn short_filter_calls_are_not_logged() {
        let mut stay = FilterOccupancy::default();
        for tick in 0..100 {
            let now_ms = 1_000 + tick * 50;
            assert_eq!(stay.look(if tick % 2 == 0 { 7 } else { 0 }, 500, now_ms), None);
        }
        for tick in 0..100 {
            assert_eq!(stay.look(7, tick, 10_000 + tick * 50), None);
        }
    }
}
