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
/// # Source
/// Additive increase while the loop is late, slower decrease when it is in time again, as TCP does with its
/// window: the share settles where what is let in can just be done.
#[derive(Debug, Default)]
pub(crate) struct Shedding {
    /// Of [`LEVEL_MAX`] requests, how many are refused.
    level: Cell<u32>,
}

const LEVEL_MAX: u32 = 256;
const LEVEL_STEP_UP: u32 = 24;
const LEVEL_STEP_DOWN: u32 = 4;

impl Shedding {
    /// Takes note of how late a tick came.
    pub(crate) fn on_tick(&self, lag_ms: u64, lag_max_ms: u64) {
        let level = self.level.get();
        if lag_max_ms > 0 && lag_ms > lag_max_ms {
            // Something always gets through, or there would be nothing left to measure by.
            self.level.set((level + LEVEL_STEP_UP).min(LEVEL_MAX - LEVEL_STEP_DOWN));
        } else {
            self.level.set(level.saturating_sub(LEVEL_STEP_DOWN));
        }
    }

    /// Whether the next request is to be refused.
    pub(crate) fn refuses(&self, rng: &mut Rng) -> bool {
        let level = self.level.get();
        level > 0 && rng.below(u64::from(LEVEL_MAX)) < u64::from(level)
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
    fn a_late_loop_sheds_more_and_more_and_a_timely_one_stops() {
        let shedding = Shedding::default();
        let mut rng = Rng::new(1);
        assert!((0..1000).all(|_| !shedding.refuses(&mut rng)));
        (0..50).for_each(|_| shedding.on_tick(600, 500));
        let refused = (0..1000).filter(|_| shedding.refuses(&mut rng)).count();
        assert!((900..1000).contains(&refused), "{refused}");
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
