//! Slices: work on a worker's event loop that is divided so that traffic is served in between.

use rustix::time::{ClockId, clock_gettime};

use crate::stats::WorkerSeries;

/// One uninterrupted turn of work on the event loop, with a time budget.
pub(crate) struct Slice {
    begun_ns: u64,
    units: u32,
    is_over: bool,
}

impl Slice {
    /// Runs one slice and records the processor time that it took.
    ///
    /// # Cost
    /// Three system calls, and one for each [`UNITS_PER_CLOCK_READ`] units.
    pub(crate) fn run<T>(series: &WorkerSeries, work: impl FnOnce(&mut Self) -> T) -> T {
        let begun_ns = nanos(ClockId::ThreadCPUTime);
        let mut slice = Self { begun_ns: nanos(ClockId::Monotonic), units: 0, is_over: false };
        let result = work(&mut slice);
        let took_us = nanos(ClockId::ThreadCPUTime).saturating_sub(begun_ns).div_ceil(1000);
        series.slices.increment();
        series.slice_us_max.set(series.slice_us_max.value().max(took_us));
        result
    }

    /// Counts a unit of work; returns whether the budget is spent, so that the work goes on in the next slice.
    pub(crate) fn is_over(&mut self) -> bool {
        self.units += 1;
        if !self.is_over && self.units.is_multiple_of(UNITS_PER_CLOCK_READ) {
            self.is_over = nanos(ClockId::Monotonic).saturating_sub(self.begun_ns) >= BUDGET_NS;
        }
        self.is_over
    }
}

/// Takes steps slice by slice until `step` returns false; other tasks run and I/O is polled between two slices.
pub(crate) async fn step_in_slices(series: &WorkerSeries, mut step: impl FnMut() -> bool) {
    let mut step_slice = |slice: &mut Slice| {
        while step() {
            if slice.is_over() {
                return false;
            }
        }
        true
    };
    while !Slice::run(series, &mut step_slice) {
        tokio::task::yield_now().await;
    }
}

fn nanos(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    let (seconds, nanos) = (u64::try_from(now.tv_sec), u64::try_from(now.tv_nsec));
    seconds.unwrap_or(0).saturating_mul(1_000_000_000).saturating_add(nanos.unwrap_or(0))
}

/// Time after which a slice ends, nanoseconds.
const BUDGET_NS: u64 = 500_000;
/// Units of work between two looks at the clock.
const UNITS_PER_CLOCK_READ: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_slice_ends_after_its_budget_and_is_recorded() {
        let series = WorkerSeries::default();
        let units = Slice::run(&series, |slice| {
            let mut units = 1_u64;
            while !slice.is_over() {
                units += 1;
            }
            units
        });
        assert!(units.is_multiple_of(u64::from(UNITS_PER_CLOCK_READ)), "{units}");
        assert_eq!(series.slices.value(), 1);
        assert!(series.slice_us_max.value() > 0);
    }

    #[test]
    fn the_longest_slice_is_kept() {
        let series = WorkerSeries::default();
        series.slice_us_max.set(60_000_000);
        Slice::run(&series, |_| ());
        assert_eq!(series.slice_us_max.value(), 60_000_000);
    }

    #[tokio::test(flavor = "current_thread")]
    async fn long_work_takes_several_slices() {
        let series = WorkerSeries::default();
        let mut left = 4 * UNITS_PER_CLOCK_READ;
        step_in_slices(&series, || {
            let begun_ns = nanos(ClockId::Monotonic);
            while nanos(ClockId::Monotonic) - begun_ns < BUDGET_NS / u64::from(UNITS_PER_CLOCK_READ) {}
            left -= 1;
            left > 0
        })
        .await;
        assert_eq!((left, series.slices.value()), (0, 4));
    }
}
