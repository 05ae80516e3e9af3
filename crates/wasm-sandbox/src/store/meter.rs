//! Call deadlines measured in CPU time.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// CPU time used by a call.
///
/// It is checked when the engine ticks, so a call that ends before the next tick costs nothing.
#[derive(Debug, Default)]
pub(super) struct CpuTimeMeter {
    /// CPU time allowed, by the thread's own clock; `None` where only ticks count.
    allowed: Option<Duration>,
    /// The thread's CPU clock at the first tick of the call.
    begun: Option<Duration>,
}

impl CpuTimeMeter {
    /// Begins a call and returns the number of ticks until the first check.
    #[inline]
    pub(super) fn begin(&mut self, ticks: u64, cpu_tick: Option<Duration>) -> u64 {
        let times = u32::try_from(ticks).unwrap_or(u32::MAX);
        *self = Self { allowed: cpu_tick.map(|tick| tick.saturating_mul(times)), begun: None };
        if self.allowed.is_some() { 1 } else { ticks }
    }

    /// Checks the call; returns the number of ticks until the next check, or `None` if the call is to be stopped.
    pub(super) fn look(&mut self) -> Option<u64> {
        let allowed = self.allowed?;
        let now = thread_time();
        let begun = *self.begun.get_or_insert(now);
        (now.saturating_sub(begun) < allowed).then_some(1)
    }
}

/// Returns the CPU time that this thread has used.
fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}
