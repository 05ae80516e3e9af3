//! Monitor of this process's resources: memory, against the limit of the machine or its control group, and throttling
//! of its processor time by its control group.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::time::Duration;

use super::cgroup::GroupFile;
use crate::runtime::Pressure;

/// Interval of measurements.
const PERIOD: Duration = Duration::from_millis(250);

const LIMIT: GroupFile = GroupFile { controller: "memory", v1: "memory.limit_in_bytes", v2: "memory.max" };
const CPU_STAT: GroupFile = GroupFile { controller: "cpu", v1: "cpu.stat", v2: "cpu.stat" };

/// Updates `pressure` as long as the task runs; `percent_max` may change with a reload.
pub(crate) async fn watch(pressure: Arc<Pressure>, percent_max: Arc<AtomicU8>) {
    let mut interval = tokio::time::interval(PERIOD);
    let mut throttled = throttled_count(Path::new("/"));
    loop {
        interval.tick().await;
        let before = std::mem::replace(&mut throttled, throttled_count(Path::new("/")));
        pressure.throttled.store(throttled > before, Relaxed);
        // If either value cannot be read, nothing is shed.
        let (Some(used), Some(limit)) = (resident_bytes(), limit_bytes()) else { continue };
        let is_high = is_above(used, limit, percent_max.load(Relaxed));
        if is_high != pressure.memory.swap(is_high, Relaxed) {
            let (used_mib, limit_mib) = (used >> 20, limit >> 20);
            if is_high {
                tracing::warn!(
                    used_mib,
                    limit_mib,
                    "memory usage is above its limit; new requests are refused with 503"
                );
            } else {
                tracing::info!(used_mib, limit_mib, "memory usage is below its limit again");
            }
        }
    }
}

fn is_above(used: u64, limit: u64, percent_max: u8) -> bool {
    used > limit / 100 * u64::from(percent_max)
}

/// Returns the resident memory of this process.
fn resident_bytes() -> Option<u64> {
    let statm = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Returns the memory limit: that of the machine, or of a control group if it is lower.
pub(crate) fn limit_bytes() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| parse_meminfo(&text));
    [machine, group_limit_bytes(Path::new("/"))].into_iter().flatten().min()
}

/// Returns the lowest limit of this process's control group and those above it. The file systems are looked up below
/// `root`.
fn group_limit_bytes(root: &Path) -> Option<u64> {
    LIMIT.read_all(root).iter().filter_map(|limit| limit.trim().parse().ok()).min()
}

fn parse_meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
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
    fn this_machine_reports_its_resources() {
        let (used, limit) = (resident_bytes().unwrap(), limit_bytes().unwrap());
        assert!(used > 0 && used < limit, "{used} of {limit}");
    }

    #[test]
    fn meminfo_is_in_kib() {
        assert_eq!(parse_meminfo("MemTotal:       1024 kB\nMemFree: 3 kB\n"), Some(1024 * 1024));
        assert_eq!(parse_meminfo("nothing"), None);
    }

    const MIB: u64 = 1 << 20;

    #[test]
    fn the_smallest_memory_limit_of_the_cgroups_applies() {
        let root = StubRoot::with("memory", &[("proc/self/cgroup", "0::/system.slice/eddy.service\n")]);
        assert_eq!(group_limit_bytes(&root.0), None);
        root.write("sys/fs/cgroup/system.slice/eddy.service/memory.max", "max\n");
        assert_eq!(group_limit_bytes(&root.0), None);
        root.write("sys/fs/cgroup/system.slice/eddy.service/memory.max", "268435456\n");
        assert_eq!(group_limit_bytes(&root.0), Some(256 * MIB));
        root.write("sys/fs/cgroup/system.slice/memory.max", "134217728\n");
        assert_eq!(group_limit_bytes(&root.0), Some(128 * MIB));
    }

    #[test]
    fn requests_are_shed_before_the_limit_is_reached() {
        assert!(!is_above(217 * MIB, 256 * MIB, 85) && is_above(218 * MIB, 256 * MIB, 85));
        assert!(is_above(1, 0, 85));
    }

    #[test]
    fn throttling_of_all_cgroups_is_summed() {
        let root = StubRoot::with("throttle", &[("proc/self/cgroup", "0::/a/b\n")]);
        assert_eq!(throttled_count(&root.0), 0, "without a quota there is nothing to count");
        root.write("sys/fs/cgroup/a/b/cpu.stat", "usage_usec 4\nnr_periods 9\nnr_throttled 3\n");
        root.write("sys/fs/cgroup/a/cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_usec 12\n");
        assert_eq!(throttled_count(&root.0), 7);
    }
}
