//! CPU time of processes.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use super::tree::ProcessStat;

/// CPU time of a set of processes up to some moment, per thread.
#[derive(Clone, Debug, Default)]
pub struct CpuUsageSnapshot {
    /// Nanoseconds on a CPU by thread, as counted by the scheduler.
    threads: BTreeMap<i32, u64>,
    user_ticks: u64,
    system_ticks: u64,
}

/// CPU time between two snapshots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Total CPU time.
    pub total: Duration,
    /// Ticks in user mode; coarse, but good for the share over many windows.
    pub user_ticks: u64,
    /// Ticks in the kernel.
    pub system_ticks: u64,
}

impl CpuUsageSnapshot {
    /// Reads the CPU time of the processes `members`.
    ///
    /// The scheduler's count in `/proc/ID/task/*/schedstat` is in nanoseconds. The ticks of `/proc/ID/stat` are 10 ms
    /// long, 1 % of a window; they serve for the split between user and system, and where schedstat is missing.
    pub fn take(members: &[ProcessStat]) -> Self {
        let mut reading = Self::default();
        for id in members.iter().map(|entry| entry.id) {
            if let Some(entry) = ProcessStat::read(id) {
                reading.user_ticks += entry.user_ticks;
                reading.system_ticks += entry.system_ticks;
            }
            let Ok(tasks) = fs::read_dir(format!("/proc/{id}/task")) else { continue };
            for task in tasks.flatten() {
                let Some(thread) = task.file_name().to_str().and_then(|name| name.parse().ok()) else {
                    continue;
                };
                let text = fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
                if let Some(used) = text.split(' ').next().and_then(|count| count.parse().ok()) {
                    reading.threads.insert(thread, used);
                }
            }
        }
        reading
    }

    /// Returns the CPU time used since `earlier`.
    ///
    /// A thread that ended between the two is left out: targets keep their threads while they are under load.
    pub fn since(&self, earlier: &Self) -> Used {
        let grown = self.threads.iter().map(|(thread, &used)| {
            used.saturating_sub(earlier.threads.get(thread).copied().unwrap_or_default())
        });
        let user_ticks = self.user_ticks.saturating_sub(earlier.user_ticks);
        let system_ticks = self.system_ticks.saturating_sub(earlier.system_ticks);
        let total = if self.threads.is_empty() {
            let per_second = rustix::param::clock_ticks_per_second().max(1);
            Duration::from_secs(user_ticks + system_ticks) / u32::try_from(per_second).unwrap_or(u32::MAX)
        } else {
            Duration::from_nanos(grown.sum())
        };
        Used { total, user_ticks, system_ticks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(threads: &[(i32, u64)], user_ticks: u64, system_ticks: u64) -> CpuUsageSnapshot {
        CpuUsageSnapshot { threads: threads.iter().copied().collect(), user_ticks, system_ticks }
    }

    #[test]
    fn threads_are_compared_one_by_one() {
        let before = reading(&[(1, 100), (2, 900)], 3, 4);
        let after = reading(&[(1, 150), (3, 30)], 5, 4);
        let expected = Used { total: Duration::from_nanos(80), user_ticks: 2, system_ticks: 0 };
        assert_eq!(after.since(&before), expected);
    }

    #[test]
    fn ticks_are_used_where_scheduler_statistics_are_missing() {
        let used = reading(&[], 150, 70).since(&reading(&[], 50, 20));
        let ticks = u32::try_from(rustix::param::clock_ticks_per_second()).unwrap();
        assert_eq!(used.total, Duration::from_secs(150) / ticks);
    }

    #[test]
    fn own_cpu_time_is_measured() {
        let us = [ProcessStat::read(i32::try_from(std::process::id()).unwrap()).unwrap()];
        let before = CpuUsageSnapshot::take(&us);
        let mut sum = 0_u64;
        for number in 0..20_000_000_u64 {
            sum = std::hint::black_box(sum.wrapping_add(crate::pattern::mix(number)));
        }
        assert!(CpuUsageSnapshot::take(&us).since(&before).total > Duration::from_millis(5), "{sum}");
    }
}
