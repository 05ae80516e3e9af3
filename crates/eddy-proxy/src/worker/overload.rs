//! When a worker has more to do than it can: what it refuses, and how it finds out.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use eddy_upstream::Rng;

/// What presses on the whole gateway, as the monitor sees it.
#[derive(Debug, Default)]
pub(crate) struct Pressure {
    /// Memory is above its limit.
    pub(crate) memory: AtomicBool,
}

/// How much of the arriving work a worker refuses, so that the rest is done in time.
///
/// A round of the loop takes as long as the work that was waiting. When a round takes longer than it may, the share
/// that would have fitted is let in and the rest refused; while rounds are short enough, the share refused shrinks.
#[derive(Debug, Default)]
pub(crate) struct Shedding {
    /// Of [`LEVEL_MAX`] requests, how many are refused.
    level: Cell<u64>,
}

const LEVEL_MAX: u64 = 256;
/// How much less is refused for each tick in time: from all to nothing takes some two seconds.
const LEVEL_STEP_DOWN: u64 = 3;

impl Shedding {
    /// Takes note of how late a tick came.
    pub(crate) fn on_tick(&self, lag_ms: u64, lag_max_ms: u64) {
        let level = self.level.get().saturating_sub(LEVEL_STEP_DOWN);
        let is_late = lag_max_ms > 0 && lag_ms > lag_max_ms;
        let wanted = if is_late { LEVEL_MAX * (lag_ms - lag_max_ms) / lag_ms } else { 0 };
        // Something always gets through, or there would be nothing left to measure by.
        self.level.set(level.max(wanted).min(LEVEL_MAX - LEVEL_STEP_DOWN));
    }

    /// Whether the next request is to be refused.
    pub(crate) fn refuses(&self, rng: &mut Rng) -> bool {
        let level = self.level.get();
        level > 0 && rng.below(LEVEL_MAX) < level
    }
}

impl Pressure {
    /// Whether nothing new should be taken on.
    pub(crate) fn is_high(&self) -> bool {
        self.memory.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_loop_sheds_what_is_too_much_and_a_timely_one_stops() {
        let shedding = Shedding::default();
        let mut rng = Rng::new(1);
        assert!((0..1000).all(|_| !shedding.refuses(&mut rng)));
        shedding.on_tick(2_000, 500);
        let refused = (0..1000).filter(|_| shedding.refuses(&mut rng)).count();
        assert!((700..800).contains(&refused), "three quarters of a round of 2 s are too much: {refused}");
        (0..100).for_each(|_| shedding.on_tick(3, 500));
        assert!((0..1000).all(|_| !shedding.refuses(&mut rng)));
    }

    #[test]
    fn a_limit_of_zero_turns_it_off() {
        let shedding = Shedding::default();
        shedding.on_tick(10_000, 0);
        assert!(!shedding.refuses(&mut Rng::new(1)));
    }
}
