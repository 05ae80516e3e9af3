//! Memory of processes.

use std::fs;

use super::tree::ProcessStat;

/// Returns the resident bytes of the processes `members`, added up.
///
/// Shared pages are counted once per process, which cancels in a difference between two readings.
pub fn resident_bytes(members: &[ProcessStat]) -> u64 {
    members.iter().filter_map(|entry| resident_bytes_of(entry.id)).sum()
}

fn resident_bytes_of(id: i32) -> Option<u64> {
    // smaps_rollup walks the page tables and is exact; `VmRSS` may lag by some pages per CPU.
    let exact =
        fs::read_to_string(format!("/proc/{id}/smaps_rollup")).ok().and_then(|text| kilobytes(&text, "Rss:"));
    let kilobytes = exact.or_else(|| {
        fs::read_to_string(format!("/proc/{id}/status")).ok().and_then(|text| kilobytes(&text, "VmRSS:"))
    });
    kilobytes.map(|count| count * 1024)
}

fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kilobytes_are_read() {
        assert_eq!(kilobytes("Size: 4 kB\nRss:     1234 kB\n", "Rss:"), Some(1234));
        assert_eq!(kilobytes("", "Rss:"), None);
    }

    #[test]
    fn this_process_uses_memory() {
        let id = i32::try_from(std::process::id()).unwrap();
        assert!(resident_bytes(&[ProcessStat::read(id).unwrap()]) > 100_000);
        assert_eq!(resident_bytes_of(i32::MAX), None);
    }
}
