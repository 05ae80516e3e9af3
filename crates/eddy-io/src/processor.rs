//! Reads the time that a thread has waited for a processor.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// Run-queue wait of a thread: the time in which it was runnable while other threads had the processors.
///
/// The count includes the time in which the thread's control group is throttled.
///
/// # Source
/// The second number of `/proc/thread-self/schedstat` (Linux, `Documentation/scheduler/sched-stats.rst`).
#[derive(Debug)]
pub struct ProcessorWait {
    /// `None` when the kernel keeps no such count.
    counts: Option<File>,
    seen: Duration,
}

impl ProcessorWait {
    /// Starts counting for the calling thread.
    pub fn of_this_thread() -> Self {
        let counts = File::open("/proc/thread-self/schedstat").ok();
        let mut wait = Self { counts, seen: Duration::ZERO };
        wait.take();
        wait
    }

    /// Returns the time waited since the last call; zero when the kernel keeps no count.
    ///
    /// # Cost
    /// One system call, some 2 µs.
    pub fn take(&mut self) -> Duration {
        let Some(now) = self.counts.as_ref().and_then(read) else { return Duration::ZERO };
        let waited = now.saturating_sub(self.seen);
        self.seen = now;
        waited
    }
}

fn read(counts: &File) -> Option<Duration> {
    let mut text = [0; COUNTS_BYTES_MAX];
    let length = counts.read_at(&mut text, 0).ok()?;
    parse(std::str::from_utf8(text.get(..length)?).ok()?)
}

/// Parses the time on a processor, the time waited for one (both in nanoseconds) and the number of time slices; returns
/// the second.
fn parse(counts: &str) -> Option<Duration> {
    let waited_ns = counts.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(Duration::from_nanos(waited_ns))
}

/// Three 64-bit numbers, two spaces and a line break.
const COUNTS_BYTES_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_number_of_schedstat_is_the_wait_time() {
        assert_eq!(parse("81302 3476658 12\n"), Some(Duration::from_nanos(3_476_658)));
        assert_eq!(parse("81302\n"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn the_wait_time_is_counted_since_the_last_call() {
        let mut wait = ProcessorWait::of_this_thread();
        let before = wait.seen;
        let waited = wait.take();
        assert_eq!(wait.seen - before, waited);
    }

    #[test]
    fn a_kernel_without_schedstat_reports_no_wait_time() {
        let mut wait = ProcessorWait { counts: None, seen: Duration::ZERO };
        assert_eq!(wait.take(), Duration::ZERO);
    }
}
