//! Reads of the kernel's clocks.

use eddy_ids::WorkerTime;
use rustix::time::{ClockId, clock_gettime};

/// Reads the clock of a worker.
///
/// # Cost
/// As [`monotonic_ms`].
pub fn monotonic_time() -> WorkerTime {
    WorkerTime::from_millis(monotonic_ms())
}

/// Returns the milliseconds of the monotonic clock, which all processes of the machine share.
///
/// # Cost
/// No system call; some 6 ns. Reads the coarse clock, which advances every 1 to 4 ms.
pub fn monotonic_ms() -> u64 {
    let now = clock_gettime(ClockId::MonotonicCoarse);
    now.tv_sec.cast_unsigned() * 1000 + now.tv_nsec.cast_unsigned() / 1_000_000
}

/// Returns the seconds of the wall clock since 1970; 0 if it is set to an earlier time.
///
/// # Cost
/// As [`monotonic_ms`].
pub fn unix_seconds() -> u64 {
    u64::try_from(clock_gettime(ClockId::RealtimeCoarse).tv_sec).unwrap_or(0)
}

/// Returns the microseconds of the wall clock since 1970; 0 if it is set to an earlier time.
///
/// # Cost
/// As [`monotonic_ms`], with the same resolution.
pub fn unix_micros() -> u64 {
    let now = clock_gettime(ClockId::RealtimeCoarse);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds * 1_000_000 + now.tv_nsec.cast_unsigned() / 1000
}
