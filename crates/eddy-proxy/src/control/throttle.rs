//! Monitor of processor throttling by this process's control group.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::cgroup::GroupFile;
use crate::runtime::Pressure;

/// Interval of measurements.
const PERIOD: Duration = Duration::from_millis(250);

const CPU_STAT: GroupFile = GroupFile { controller: "cpu", v1: "cpu.stat", v2: "cpu.stat" };

/// Updates `pressure` as long as the task runs.
pub(crate) async fn watch_throttling(pressure: Arc<Pressure>) {
    let mut interval = tokio::time::interval(PERIOD);
    let mut before = throttled_count(Path::new("/"));
    loop {
        interval.tick().await;
        let now = throttled_count(Path::new("/"));
        pressure.throttled.store(now > before, Relaxed);
        before = now;
    }
}

/// Returns how often this process's control group and those above it were throttled; 0 without a quota.
fn throttled_count(root: &Path) -> u64 {
    CPU_STAT.read_all(root).iter().filter_map(|stat| parse_stat(stat)).sum()
}

/// Parses the throttling count.
///
/// # Source
/// `nr_throttled` of `cpu.stat` (Linux, `Documentation/scheduler/sched-bwc.rst`).
fn parse_stat(stat: &str) -> Option<u64> {
    stat.lines().find_map(|line| line.strip_prefix("nr_throttled "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::cgroup::StubRoot;
    use super::*;

    #[test]
    fn each_group_counts() {
        let root = StubRoot::with("throttle", &[("proc/self/cgroup", "0::/a/b\n")]);
        assert_eq!(throttled_count(&root.0), 0, "without a quota there is nothing to count");
        root.write("sys/fs/cgroup/a/b/cpu.stat", "usage_usec 4\nnr_periods 9\nnr_throttled 3\n");
        root.write("sys/fs/cgroup/a/cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_usec 12\n");
        assert_eq!(throttled_count(&root.0), 7);
    }
}
