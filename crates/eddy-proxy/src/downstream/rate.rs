//! Enforcement of a minimum transfer rate.

use std::time::Duration;

use eddy_config::HttpTimeouts;
use eddy_ids::{Millis, WorkerTime};

/// Watches the transfer rate of a body, counting only the time spent waiting for the peer.
///
/// # Source
/// A token bucket of waiting time: it holds at most `grace`, waiting empties it, and each byte moved puts back the time
/// that it may take. So a burst never earns more than the grace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateGuard {
    rate_min: u32,
    grace: Millis,
    /// Waiting time not yet compensated by bytes, in microseconds, as a byte at a high rate is worth less than 1 ms.
    spent_us: u64,
    waiting_since: Option<WorkerTime>,
}

impl RateGuard {
    /// Creates the guard of a message to or from a client of a listener.
    pub(crate) fn of(timeouts: &HttpTimeouts) -> Self {
        Self::new(timeouts.body_rate_min, timeouts.body_grace)
    }

    /// Creates a guard that requires `rate_min` bytes per second after `grace`; 0 disables it.
    fn new(rate_min: u32, grace: Duration) -> Self {
        Self { rate_min, grace: Millis::of(grace), spent_us: 0, waiting_since: None }
    }

    /// Counts bytes that the peer sent or accepted; the wait for it is over.
    pub(crate) fn moved(&mut self, bytes: u64, now: WorkerTime) {
        if self.rate_min == 0 {
            return;
        }
        if let Some(since) = self.waiting_since.take() {
            let waited_us = (now - since).as_micros();
            let earned_us = bytes.saturating_mul(1_000_000) / u64::from(self.rate_min);
            self.spent_us = self.spent_us.saturating_add(waited_us).saturating_sub(earned_us);
        }
    }

    /// Records that the peer is being waited for; returns the deadline.
    pub(crate) fn deadline(&mut self, now: WorkerTime) -> WorkerTime {
        self.deadline_within(now, Millis::MAX)
    }

    /// As [`Self::deadline`], with a grace of at most `grace_max`.
    pub(crate) fn deadline_within(&mut self, now: WorkerTime, grace_max: Millis) -> WorkerTime {
        if self.rate_min == 0 {
            return WorkerTime::NEVER;
        }
        let since = *self.waiting_since.get_or_insert(now);
        since + (self.grace.min(grace_max) - Millis::new(self.spent_us / 1000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> WorkerTime {
        WorkerTime::from_millis(millis)
    }

    fn guard(rate_min: u32) -> RateGuard {
        RateGuard::new(rate_min, Duration::from_secs(10))
    }

    #[test]
    fn a_silent_peer_has_only_the_grace_period() {
        let mut guard = guard(1024);
        assert_eq!(guard.deadline(at(5_000)), at(15_000));
        assert_eq!(guard.deadline(at(9_000)), at(15_000));
    }

    #[test]
    fn transferred_bytes_earn_time_and_waiting_uses_it_up() {
        let mut guard = guard(1000);
        guard.deadline(at(0));
        guard.moved(2_000, at(4_000));
        // 4 s waited, 2 s earned: 8 s are left.
        assert_eq!(guard.deadline(at(4_000)), at(12_000));
        // Time spent waiting for others does not count.
        guard.moved(0, at(4_000));
        assert_eq!(guard.deadline(at(100_000)), at(108_000));
    }

    #[test]
    fn a_burst_earns_no_more_than_the_grace() {
        let mut guard = guard(1000);
        guard.deadline(at(0));
        guard.moved(100_000_000, at(1_000));
        assert_eq!(guard.deadline(at(1_000)), at(11_000));
    }

    #[test]
    fn a_trickle_times_out_and_the_minimum_rate_does_not() {
        let (mut drip, mut steady) = (guard(1024), guard(1024));
        let mut now = WorkerTime::ZERO;
        let second = Millis::new(1_000);
        while drip.deadline(now) > now + second {
            assert!(steady.deadline(now) > now + second);
            now += second;
            drip.moved(1, now);
            steady.moved(1024, now);
            assert!(now < at(12_000), "one byte a second is too slow");
        }
        for _ in 0..10_000 {
            assert!(steady.deadline(now) > now + second);
            now += second;
            steady.moved(1024, now);
        }
    }

    #[test]
    fn a_rate_of_zero_has_no_deadline() {
        assert_eq!(guard(0).deadline(at(1)), WorkerTime::NEVER);
    }
}
