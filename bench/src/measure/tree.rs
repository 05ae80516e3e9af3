//! The process tree, read from /proc.

use std::fs;

/// A process, from `/proc/ID/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessStat {
    /// Process id.
    pub id: i32,
    /// Id of the parent process.
    pub parent: i32,
    /// Id of the process group.
    pub group: i32,
    /// Whether it has ended and only waits to be reaped.
    pub is_dead: bool,
    /// Ticks in user mode, including threads that ended.
    pub user_ticks: u64,
    /// Ticks in the kernel, including threads that ended.
    pub system_ticks: u64,
    /// Start time in ticks since boot; together with the id it identifies the process uniquely.
    pub started: u64,
}

impl ProcessStat {
    /// Reads the process `id`.
    pub fn read(id: i32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
    }

    /// Whether this very process still runs.
    pub fn is_running(&self) -> bool {
        Self::read(self.id).is_some_and(|now| now.started == self.started && !now.is_dead)
    }

    fn parse(text: &str) -> Option<Self> {
        let id = text.split(' ').next()?.parse().ok()?;
        // The name in brackets may contain anything, even brackets and spaces; the fields after the last bracket are
        // regular.
        let (_, rest) = text.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        Some(Self {
            id,
            is_dead: matches!(*fields.first()?, "Z" | "X"),
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            user_ticks: fields.get(11)?.parse().ok()?,
            system_ticks: fields.get(12)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
        })
    }
}

/// Returns the process `root`, its descendants and the members of its process group.
pub fn members(root: i32) -> Vec<ProcessStat> {
    select(&all(), root)
}

fn all() -> Vec<ProcessStat> {
    let Ok(folder) = fs::read_dir("/proc") else { return Vec::new() };
    let names = folder.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| name.parse().ok()).filter_map(ProcessStat::read).collect()
}

fn select(entries: &[ProcessStat], root: i32) -> Vec<ProcessStat> {
    let mut found: Vec<ProcessStat> =
        entries.iter().filter(|entry| entry.id == root || entry.group == root).copied().collect();
    let mut next = 0;
    while let Some(&ProcessStat { id: parent, .. }) = found.get(next) {
        next += 1;
        for entry in entries.iter().filter(|entry| entry.parent == parent) {
            if !found.contains(entry) {
                found.push(*entry);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: i32, parent: i32, group: i32) -> ProcessStat {
        ProcessStat { id, parent, group, is_dead: false, user_ticks: 0, system_ticks: 0, started: 0 }
    }

    #[test]
    fn a_line_is_read() {
        let line = "42 (a) b (c) S 7 40 40 0 -1 4194304 141 0 1 0 13 5 0 0 20 0 1 0 80487";
        let expected = ProcessStat { started: 80_487, user_ticks: 13, system_ticks: 5, ..entry(42, 7, 40) };
        assert_eq!(ProcessStat::parse(line), Some(expected));
        assert_eq!(ProcessStat::parse("42 (a"), None);
    }

    #[test]
    fn children_and_orphans_belong_to_the_process_group() {
        let entries = [entry(5, 1, 5), entry(6, 5, 5), entry(7, 6, 7), entry(8, 1, 5), entry(9, 1, 9)];
        let ids: Vec<i32> = select(&entries, 5).iter().map(|entry| entry.id).collect();
        assert_eq!(ids, [5, 6, 8, 7]);
    }

    #[test]
    fn this_process_is_in_its_own_group() {
        let id = i32::try_from(std::process::id()).unwrap();
        let found = members(id);
        assert!(found.iter().any(|entry| entry.id == id && entry.is_running()));
    }
}
