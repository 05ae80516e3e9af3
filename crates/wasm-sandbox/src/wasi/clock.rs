//! What time modules are told.

use std::fmt::Debug;
use std::time::{Duration, Instant, SystemTime};

/// A clock for modules. It need not be exact: a time that stands still during a callback is fine, and tells less.
pub trait WasiClock: Debug + Send + Sync + 'static {
    /// Since the beginning of 1970.
    fn realtime(&self) -> Duration;

    /// Since some moment, never going back.
    fn monotonic(&self) -> Duration;

    /// The smallest step it makes.
    fn resolution(&self) -> Duration;
}

/// The system's clock, in steps.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    start: Instant,
    resolution: Duration,
}

impl SystemClock {
    /// A clock in steps of this length, at least a nanosecond. Long steps make it harder to measure what neighbours do.
    pub fn new(resolution: Duration) -> Self {
        Self { start: Instant::now(), resolution: resolution.max(Duration::from_nanos(1)) }
    }

    fn step(&self, time: Duration) -> Duration {
        let excess = time.as_nanos() % self.resolution.as_nanos();
        // What is left over is less than a step, and steps of more than 584 years are nobody's.
        time.saturating_sub(Duration::from_nanos(u64::try_from(excess).unwrap_or(u64::MAX)))
    }
}

impl Default for SystemClock {
    /// In steps of a microsecond.
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
    fn time_goes_in_steps() {
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
