//! Description of the machine that the figures were measured on.

use std::fs;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Facts about the machine and its state when the run began.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MachineInfo {
    /// Seconds since 1970 when the run began.
    pub unix_seconds: u64,
    /// Kernel release.
    pub kernel: String,
    /// Architecture.
    pub architecture: String,
    /// CPU model name.
    pub cpu: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Load average of the last minute; shows other work on the machine.
    pub load_average: f64,
    /// Maximum number of open files of a process.
    pub files_max: u64,
}

impl MachineInfo {
    /// Reads the facts of this machine.
    pub fn look() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            unix_seconds: since.as_secs(),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            architecture: std::env::consts::ARCH.to_owned(),
            cpu: cpu_name(&read("/proc/cpuinfo")).unwrap_or_else(|| "unknown".to_owned()),
            cores: thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: memory_bytes(&read("/proc/meminfo")).unwrap_or_default(),
            load_average: load_average(),
            files_max: files_max(),
        }
    }
}

/// Returns the load average of the last minute.
pub fn load_average() -> f64 {
    let text = read("/proc/loadavg");
    text.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or_default()
}

/// Returns the CPU time that all processes of this machine have used so far, including the time stolen by its host.
///
/// # Units
/// Ticks of 10 ms as a rule, so good for shares of a window.
pub fn busy() -> Duration {
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    Duration::from_secs_f64(busy_ticks(&read("/proc/stat")) as f64 / per_second as f64)
}

fn busy_ticks(text: &str) -> u64 {
    let Some(line) = text.lines().find_map(|line| line.strip_prefix("cpu ")) else { return 0 };
    let ticks: Vec<u64> = line.split_whitespace().map_while(|count| count.parse().ok()).collect();
    // user, nice, system, idle, iowait, irq, softirq, steal; guest time is included in the first two.
    ticks
        .iter()
        .take(8)
        .enumerate()
        .filter(|(index, _)| !matches!(index, 3 | 4))
        .map(|(_, count)| count)
        .sum()
}

/// Raises the limit of open files to the maximum and returns it; programs started later inherit it.
pub fn raise_files_max() -> u64 {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // If the limit cannot be raised, the current limit applies.
    let _ = setrlimit(Resource::Nofile, limit);
    files_max()
}

fn files_max() -> u64 {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX)
}

fn cpu_name(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix("model name"))?;
    Some(line.trim_start_matches(['\t', ' ', ':']).to_owned())
}

fn memory_bytes(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read() {
        assert_eq!(cpu_name("model\t\t: 2\nmodel name\t: Some CPU @ 3 GHz\n").unwrap(), "Some CPU @ 3 GHz");
        assert_eq!(memory_bytes("MemTotal:       24684068 kB\n"), Some(24_684_068 * 1024));
    }

    #[test]
    fn idle_time_is_not_cpu_time() {
        assert_eq!(busy_ticks("cpu  10 2 30 4000 500 6 7 8 9 1\ncpu0 1 1 1 1\n"), 10 + 2 + 30 + 6 + 7 + 8);
        assert_eq!(busy_ticks(""), 0);
        assert!(busy() > Duration::ZERO);
    }

    #[test]
    fn this_machine_reports_cores_and_file_limits() {
        let machine = MachineInfo::look();
        assert!(machine.cores > 0 && machine.files_max > 0 && !machine.kernel.is_empty());
    }
}
