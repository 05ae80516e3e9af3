//! How long a call may go on.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// What a call has used of its time.
///
/// It is looked at when the engine ticks, so a call that is over before the next tick costs nothing.
#[derive(Debug, Default)]
pub(super) struct CpuTimeMeter {
    /// The time that may be used, by the thread's own clock; none where ticks alone count.
    allowed: Option<Duration>,
    /// The thread's clock at the first tick of the call.
    begun: Option<Duration>,
}

impl CpuTimeMeter {
    /// Begins a call; after how many ticks it is looked at.
    #[inline]
    pub(super) fn begin(&mut self, ticks: u64, cpu_tick: Option<Duration>) -> u64 {
        let times = u32::try_from(ticks).unwrap_or(u32::MAX);
        *self = Self { allowed: cpu_tick.map(|tick| tick.saturating_mul(times)), begun: None };
        if self.allowed.is_some() { 1 } else { ticks }
    }

    /// Looks at the call; after how many ticks to look again, none if it is to be stopped.
    pub(super) fn look(&mut self) -> Option<u64> {
        let allowed = self.allowed?;
        let now = thread_time();
        let begun = *self.begun.get_or_insert(now);
        (now.saturating_sub(begun) < allowed).then_some(1)
    }
}

/// The CPU time that this thread has used.
fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}
