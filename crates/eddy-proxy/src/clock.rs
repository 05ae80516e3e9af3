//! Times and shares in the units of a worker.

use std::time::Duration;

use eddy_io::TICK_MS;

/// Returns one worker's share of a limit of the whole gateway; at least 1.
pub(crate) fn share(limit: u32, workers: usize) -> u32 {
    limit.div_ceil(u32::try_from(workers).unwrap_or(u32::MAX).max(1)).max(1)
}

/// Returns a time in whole milliseconds, as timers use it.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Converts milliseconds of the worker's clock to the type that eddy-upstream uses.
pub(crate) fn now(now_ms: u64) -> Duration {
    Duration::from_millis(now_ms)
}

/// Returns the deadline of a wait that begins at `now_ms`, on the worker's clock. That clock may be a tick behind, and no
/// deadline may pass early.
pub(crate) fn due_ms(now_ms: u64, timeout: Duration) -> u64 {
    now_ms.saturating_add(millis(timeout)).saturating_add(TICK_MS)
}
