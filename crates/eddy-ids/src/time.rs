//! Points and spans of time, in whole milliseconds.
//!
//! All arithmetic saturates: a point too far away to be represented is never reached, and no time has passed since a
//! point in the future.

use std::ops::{Add, AddAssign, Div, Sub};
use std::time::Duration;

/// Interval at which a worker advances its timers; deadlines fire up to one tick late.
pub const TICK: Millis = Millis::new(20);

/// A point on the clock of a worker, or of whatever else passes the time to code that reads no clock itself: a reading
/// of the machine's monotonic clock in milliseconds.
///
/// Eight bytes, unlike [`std::time::Instant`], and not comparable with wall-clock times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerTime(u64);

/// A span of time in milliseconds.
///
/// Eight bytes, where a [`Duration`] takes sixteen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(u64);

impl WorkerTime {
    /// Start of the clock, before every reading.
    pub const ZERO: Self = Self(0);
    /// Point that is never reached, after every reading.
    pub const NEVER: Self = Self(u64::MAX);

    /// Returns the point at which the clock shows `millis`.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Returns the milliseconds that the clock shows.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// Returns the whole seconds that the clock shows.
    pub const fn as_secs(self) -> u64 {
        self.0 / 1000
    }

    /// Returns the deadline of a wait of `timeout` that begins at this reading. The reading may be a tick old, and no
    /// deadline may pass early.
    pub fn deadline(self, timeout: Millis) -> Self {
        self + timeout + TICK
    }
}

impl Millis {
    /// No time.
    pub const ZERO: Self = Self(0);
    /// Longest span, which stands for no limit.
    pub const MAX: Self = Self(u64::MAX);

    /// Returns a span of `count` milliseconds.
    pub const fn new(count: u64) -> Self {
        Self(count)
    }

    /// Returns the whole milliseconds of `duration`; [`Self::MAX`] when they are too many.
    pub fn of(duration: Duration) -> Self {
        u64::try_from(duration.as_millis()).map_or(Self::MAX, Self)
    }

    /// Returns the number of milliseconds.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the number of microseconds.
    pub const fn as_micros(self) -> u64 {
        self.0.saturating_mul(1000)
    }

    /// Returns the span in the type of the standard library.
    pub const fn as_duration(self) -> Duration {
        Duration::from_millis(self.0)
    }
}

impl Add<Millis> for WorkerTime {
    type Output = Self;

    fn add(self, span: Millis) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Millis> for WorkerTime {
    fn add_assign(&mut self, span: Millis) {
        *self = *self + span;
    }
}

impl Sub<Millis> for WorkerTime {
    type Output = Self;

    fn sub(self, span: Millis) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

impl Sub for WorkerTime {
    type Output = Millis;

    fn sub(self, earlier: Self) -> Millis {
        Millis(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Millis {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Millis {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Div<u64> for Millis {
    type Output = Self;

    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates() {
        let (early, late) = (WorkerTime::from_millis(5), WorkerTime::from_millis(7));
        assert_eq!((late - early, early - late), (Millis::new(2), Millis::ZERO));
        assert_eq!(early - Millis::new(9), WorkerTime::ZERO);
        assert_eq!(early + Millis::MAX, WorkerTime::NEVER);
        assert_eq!(WorkerTime::NEVER + Millis::new(1), WorkerTime::NEVER);
        assert_eq!(Millis::MAX + Millis::new(1), Millis::MAX);
        assert_eq!(Millis::new(1) - Millis::new(2), Millis::ZERO);
        assert_eq!(Millis::MAX.as_micros(), u64::MAX);
    }

    #[test]
    fn a_deadline_allows_for_an_old_reading() {
        assert_eq!(WorkerTime::from_millis(100).deadline(Millis::new(50)), WorkerTime::from_millis(170));
        assert_eq!(WorkerTime::from_millis(100).deadline(Millis::MAX), WorkerTime::NEVER);
    }

    #[test]
    fn durations_are_rounded_down() {
        assert_eq!(Millis::of(Duration::from_micros(1_999)), Millis::new(1));
        assert_eq!(Millis::of(Duration::MAX), Millis::MAX);
        assert_eq!(Millis::new(1_500).as_duration(), Duration::from_millis(1_500));
    }
}
