//! Due times of the requests of an open loop.

use std::time::Duration;

use crate::pattern::mix;

/// Random arrival times with a fixed mean rate, the same for the same seed.
///
/// Independent users arrive as a Poisson process; evenly spaced requests would hide queueing.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    gap_mean: Duration,
    seed: u64,
    drawn: u64,
    due: Duration,
}

impl Schedule {
    /// Creates a schedule of `rate` requests per second.
    pub(super) fn new(rate: f64, seed: u64) -> Self {
        let gap_mean = Duration::from_secs_f64(1.0 / rate.max(RATE_MIN));
        let mut schedule = Self { gap_mean, seed: mix(seed), drawn: 0, due: Duration::ZERO };
        schedule.advance();
        schedule
    }

    /// Returns the due time of the next request, from the beginning.
    pub(super) fn due(&self) -> Duration {
        self.due
    }

    /// Advances to the next request.
    pub(super) fn advance(&mut self) {
        self.drawn += 1;
        // 53 bits make a fraction in (0, 1]; its negative logarithm is exponentially distributed with mean 1.
        let bits = mix(self.seed.wrapping_add(self.drawn)) >> 11;
        let fraction = (bits + 1) as f64 / (1_u64 << 53) as f64;
        self.due += self.gap_mean.mul_f64(-fraction.ln());
    }
}

/// Below this rate an open loop would send nothing in a window.
const RATE_MIN: f64 = 1.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_rate_is_kept() {
        let mut schedule = Schedule::new(1000.0, 7);
        for _ in 0..100_000 {
            schedule.advance();
        }
        let seconds = schedule.due().as_secs_f64();
        assert!((98.0..102.0).contains(&seconds), "{seconds}");
    }

    #[test]
    fn the_same_seed_gives_the_same_arrivals() {
        let (mut one, mut two, mut other) =
            (Schedule::new(10.0, 1), Schedule::new(10.0, 1), Schedule::new(10.0, 2));
        for _ in 0..100 {
            assert_eq!(one.due(), two.due());
            assert_ne!(one.due(), other.due());
            one.advance();
            two.advance();
            other.advance();
        }
    }
}
