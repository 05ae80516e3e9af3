//! Detects hanging workers, as opposed to a machine that was suspended.

use std::time::Duration;

/// Worker whose heartbeat has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SilentWorker {
    /// Index of the worker.
    pub(super) index: usize,
    /// Time without a heartbeat, excluding the time in which this process was paused as well.
    pub(super) silence: Duration,
}

/// Checks heartbeats against the monotonic clock, and detects pauses of this process itself.
#[derive(Debug)]
pub(super) struct Watchdog {
    last_check_ms: u64,
    resumed_ms: u64,
}

impl Watchdog {
    /// Creates a watchdog that starts at `now_ms`.
    pub(super) fn new(now_ms: u64) -> Self {
        Self { last_check_ms: now_ms, resumed_ms: now_ms }
    }

    /// Records that this process runs. Call it at least every [`TICK`].
    ///
    /// A gap means that this process, and so perhaps the whole machine, was paused: every worker gets a new full
    /// period.
    pub(super) fn look(&mut self, now_ms: u64) {
        if now_ms.saturating_sub(self.last_check_ms) > PAUSE_GAP_MS {
            self.resumed_ms = now_ms;
        }
        self.last_check_ms = now_ms;
    }

    /// Returns the worker without heartbeat for the longest time, if that exceeds the limit.
    pub(super) fn silent_worker(
        &self,
        last_heartbeats_ms: impl Iterator<Item = u64>,
    ) -> Option<SilentWorker> {
        last_heartbeats_ms
            .enumerate()
            .map(|(index, sign_ms)| (index, self.last_check_ms.saturating_sub(sign_ms.max(self.resumed_ms))))
            .max_by_key(|(_, silence_ms)| *silence_ms)
            .map(|(index, silence_ms)| SilentWorker { index, silence: Duration::from_millis(silence_ms) })
            .filter(|worker| worker.silence >= SILENCE_MAX)
    }
}

/// Interval of heartbeat checks.
pub(super) const TICK: Duration = Duration::from_millis(500);

/// Time without a heartbeat after which a worker's process is killed.
const SILENCE_MAX: Duration = Duration::from_secs(5);

/// Gap between two checks that only a pause explains.
const PAUSE_GAP_MS: u64 = 1500;

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks every half second from 1,000 ms to `until_ms`.
    fn watch(until_ms: u64) -> Watchdog {
        let mut watchdog = Watchdog::new(1_000);
        for now_ms in (1_000..=until_ms).step_by(500) {
            watchdog.look(now_ms);
        }
        watchdog
    }

    #[test]
    fn a_silent_worker_is_named() {
        let watchdog = watch(10_000);
        assert_eq!(watchdog.silent_worker([9_900, 9_800].into_iter()), None);
        let silent = watchdog.silent_worker([9_900, 5_000].into_iter()).unwrap();
        assert_eq!(silent, SilentWorker { index: 1, silence: Duration::from_secs(5) });
        assert_eq!(watchdog.silent_worker([5_100].into_iter()), None);
    }

    #[test]
    fn a_paused_machine_kills_no_process() {
        let mut watchdog = watch(10_000);
        watchdog.look(100_000);
        assert_eq!(watchdog.silent_worker([10_000].into_iter()), None);
        for now_ms in (100_500..=105_000).step_by(500) {
            watchdog.look(now_ms);
        }
        assert!(watchdog.silent_worker([10_000].into_iter()).is_some());
        assert_eq!(watchdog.silent_worker([100_100].into_iter()), None);
    }
}
