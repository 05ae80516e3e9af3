//! Restart policy: a process that died is replaced at once, unless processes die in quick succession.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Recent deaths, and the wait before the next start.
#[derive(Debug, Default)]
pub(super) struct RestartPolicy {
    deaths: VecDeque<Instant>,
    waits: u32,
    /// Earliest time of the next start, if there is a wait.
    pub(super) not_before: Option<Instant>,
}

impl RestartPolicy {
    /// Records the death at `now` of a process that had lived for `age`, and returns the wait that follows.
    ///
    /// A process that lived a while is replaced at once, however often it dies: restarts cannot be more frequent than
    /// its lifetime.
    pub(super) fn record_crash(&mut self, now: Instant, age: Duration) -> Duration {
        if age >= CHILDHOOD {
            *self = Self::default();
            return Duration::ZERO;
        }
        self.deaths.push_back(now);
        while self.deaths.front().is_some_and(|first| now.duration_since(*first) >= WINDOW) {
            self.deaths.pop_front();
        }
        if self.deaths.len() <= CRASHES_MAX && self.waits == 0 {
            return Duration::ZERO;
        }
        let wait = WAIT_MIN.saturating_mul(1 << self.waits.min(8)).min(WAIT_MAX);
        self.waits += 1;
        self.not_before = Some(now + wait);
        wait
    }

    /// Ends the wait: an operator has intervened.
    pub(super) fn end_wait(&mut self) {
        *self = Self::default();
    }
}

/// A process that dies younger than this has failed to start.
const CHILDHOOD: Duration = Duration::from_secs(1);
/// Maximum of such deaths within [`WINDOW`] without a wait.
const CRASHES_MAX: usize = 5;
const WINDOW: Duration = Duration::from_secs(10);
const WAIT_MIN: Duration = Duration::from_secs(1);
const WAIT_MAX: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    const YOUNG: Duration = Duration::from_millis(50);

    #[test]
    fn the_first_crashes_restart_immediately() {
        let mut policy = RestartPolicy::default();
        let now = Instant::now();
        for _ in 0..5 {
            assert_eq!(policy.record_crash(now, YOUNG), Duration::ZERO);
        }
        assert_eq!(policy.not_before, None);
        assert_eq!(policy.record_crash(now, YOUNG), Duration::from_secs(1));
        assert_eq!(policy.record_crash(now, YOUNG), Duration::from_secs(2));
    }

    #[test]
    fn restart_delays_grow_to_a_limit_and_reset_after_a_long_run() {
        let mut policy = RestartPolicy::default();
        let mut now = Instant::now();
        for _ in 0..20 {
            now += policy.record_crash(now, YOUNG);
        }
        assert_eq!(policy.record_crash(now, YOUNG), WAIT_MAX);
        assert_eq!(policy.record_crash(now, CHILDHOOD), Duration::ZERO);
    }

    #[test]
    fn rare_crashes_restart_without_delay() {
        let mut policy = RestartPolicy::default();
        let mut now = Instant::now();
        for _ in 0..50 {
            now += Duration::from_secs(3);
            assert_eq!(policy.record_crash(now, YOUNG), Duration::ZERO);
        }
        for _ in 0..50 {
            assert_eq!(policy.record_crash(now, CHILDHOOD), Duration::ZERO);
        }
    }

    #[test]
    fn an_operator_ends_the_restart_delay() {
        let mut policy = RestartPolicy::default();
        let now = Instant::now();
        for _ in 0..6 {
            policy.record_crash(now, YOUNG);
        }
        assert!(policy.not_before.is_some());
        policy.end_wait();
        assert_eq!(policy.not_before, None);
    }
}
