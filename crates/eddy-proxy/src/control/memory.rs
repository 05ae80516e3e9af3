//! Watches this process's memory against that of the machine or its control group.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::time::Duration;

use crate::worker::Pressure;

/// How often memory is looked at.
const PERIOD: Duration = Duration::from_millis(250);

/// Tells `pressure` for as long as the task runs; `percent_max` may change with a reload.
pub(crate) async fn watch(pressure: Arc<Pressure>, percent_max: Arc<AtomicU8>) {
    let mut interval = tokio::time::interval(PERIOD);
    loop {
        interval.tick().await;
        // Where neither can be read there is nothing to go by, and nothing is shed.
        let (Some(used), Some(limit)) = (resident_bytes(), limit_bytes()) else { continue };
        let is_high = used > limit / 100 * u64::from(percent_max.load(Relaxed));
        if is_high != pressure.memory.swap(is_high, Relaxed) {
            let (used_mib, limit_mib) = (used >> 20, limit >> 20);
            if is_high {
                tracing::warn!(
                    used_mib,
                    limit_mib,
                    "memory is above its limit; new requests are answered 503"
                );
            } else {
                tracing::info!(used_mib, limit_mib, "memory is below its limit again");
            }
        }
    }
}

/// Resident memory of this process.
fn resident_bytes() -> Option<u64> {
    let statm = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// What there is: the machine's memory, or less where a control group says so.
pub(crate) fn limit_bytes() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| parse_meminfo(&text));
    [machine, group_limit_bytes()].into_iter().flatten().min()
}

fn group_limit_bytes() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = |line: &str| match line.splitn(3, ':').collect::<Vec<_>>().as_slice() {
        ["0", "", path] => Some(format!("/sys/fs/cgroup{path}/memory.max")),
        [_, controllers, path] if controllers.split(',').any(|name| name == "memory") => {
            Some(format!("/sys/fs/cgroup/memory{path}/memory.limit_in_bytes"))
        }
        _ => None,
    };
    // In a container the group is mounted at the root, whatever its path is called.
    let roots =
        ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"].map(str::to_owned);
    let files = groups.lines().filter_map(own).chain(roots);
    files.filter_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok()).min()
}

fn parse_meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_says_what_it_has() {
        let (used, limit) = (resident_bytes().unwrap(), limit_bytes().unwrap());
        assert!(used > 0 && used < limit, "{used} of {limit}");
    }

    #[test]
    fn meminfo_is_in_kib() {
        assert_eq!(parse_meminfo("MemTotal:       1024 kB\nMemFree: 3 kB\n"), Some(1024 * 1024));
        assert_eq!(parse_meminfo("nothing"), None);
    }
}
