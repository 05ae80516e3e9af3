//! Environment and clock that modules see.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// Environment and clock that modules see: by default a clock and randomness, no arguments, no environment. There are
/// never files, sockets or other processes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Sandbox {
    /// Environment variables as names and values. Entries with `=` in the name, or with a zero byte, are omitted.
    pub environment: Vec<(String, String)>,
    /// Clock.
    pub clock: Arc<dyn WasiClock>,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self { environment: Vec::new(), clock: Arc::new(SystemClock::default()) }
    }
}

/// Clock for modules. It need not be exact: a time that is constant during a callback is fine, and leaks less.
pub trait WasiClock: Debug + Send + Sync + 'static {
    /// Returns the time since 1970-01-01 UTC.
    fn realtime(&self) -> Duration;

    /// Returns the time since an arbitrary moment; never decreases.
    fn monotonic(&self) -> Duration;

    /// Returns the resolution of the clock.
    fn resolution(&self) -> Duration;
}

/// System clock with reduced resolution.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    start: Instant,
    resolution: Duration,
}

impl SystemClock {
    /// Creates a clock with this resolution, at least a nanosecond. A coarse clock makes timing side channels harder to
    /// use.
    pub fn new(resolution: Duration) -> Self {
        Self { start: Instant::now(), resolution: resolution.max(Duration::from_nanos(1)) }
    }

    fn step(&self, time: Duration) -> Duration {
        let excess = time.as_nanos() % self.resolution.as_nanos();
        // The remainder is less than the resolution, and no resolution exceeds 584 years (`u64` nanoseconds).
        time.saturating_sub(Duration::from_nanos(u64::try_from(excess).unwrap_or(u64::MAX)))
    }
}

impl Default for SystemClock {
    /// Returns a clock with a resolution of one microsecond.
    fn default() -> Self {
        Self::new(Duration::from_micros(1))
    }
}

impl WasiClock for SystemClock {
    fn realtime(&self) -> Duration {
        self.step(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
    }

    fn monotonic(&self) -> Duration {
        self.step(self.start.elapsed())
    }

    fn resolution(&self) -> Duration {
        self.resolution
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_advances_in_steps() {
        let clock = SystemClock::new(Duration::from_secs(10));
        assert_eq!(clock.realtime().as_nanos() % 10_000_000_000, 0);
        assert!(clock.realtime() > Duration::from_secs(1_600_000_000));
        assert_eq!(clock.monotonic(), Duration::ZERO);
        assert_eq!(clock.step(Duration::new(29, 999)), Duration::from_secs(20));
    }

    #[test]
    fn a_step_takes_some_time() {
        assert_eq!(SystemClock::new(Duration::ZERO).resolution(), Duration::from_nanos(1));
    }
}
