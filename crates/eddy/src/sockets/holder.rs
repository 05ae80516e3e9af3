//! Finds the process that listens at an address, from what `/proc` shows.

use std::fs;
use std::net::SocketAddr;

/// A process that listens at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    /// Its process id.
    pub(crate) pid: u32,
    /// Its command line, cut short.
    pub(crate) command: String,
    parent: Option<u32>,
}

impl Holder {
    /// Whether it is a gateway process that its parent no longer looks after.
    pub(crate) fn is_orphaned_gateway(&self) -> bool {
        let mut words = self.command.split(' ');
        let is_eddy = words.next().is_some_and(|program| program.rsplit('/').next() == Some("eddy"));
        is_eddy && words.next() == Some("gateway") && self.parent == Some(1)
    }
}

/// The process that listens at the port of `address`, if this process may see it.
///
/// # Cost
/// Reads the descriptor table of every process; for error messages alone.
pub(super) fn find_holder(address: SocketAddr) -> Option<Holder> {
    let mut inodes = Vec::new();
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        if let Ok(text) = fs::read_to_string(table) {
            inodes.extend(listening_inodes(&text, address.port()));
        }
    }
    let links: Vec<String> = inodes.iter().map(|inode| format!("socket:[{inode}]")).collect();
    let pid = fs::read_dir("/proc")
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .find(|pid| has_descriptor(*pid, &links))?;
    Some(Holder { pid, command: command(pid), parent: parent(pid) })
}

/// The inodes of the sockets that listen at `port` according to a table such as `/proc/net/tcp`.
fn listening_inodes(table: &str, port: u16) -> Vec<u64> {
    const STATE_LISTEN: &str = "0A";
    let local_port = format!(":{port:04X}");
    table
        .lines()
        .skip(1)
        .filter_map(|line| {
            let columns: Vec<&str> = line.split_whitespace().collect();
            let (local, state, inode) = (columns.get(1)?, columns.get(3)?, columns.get(9)?);
            (local.ends_with(&local_port) && *state == STATE_LISTEN).then(|| inode.parse().ok())?
        })
        .collect()
}

fn has_descriptor(pid: u32, links: &[String]) -> bool {
    let Ok(descriptors) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    descriptors.flatten().any(|descriptor| {
        fs::read_link(descriptor.path())
            .is_ok_and(|target| links.iter().any(|link| target.as_os_str() == link.as_str()))
    })
}

fn command(pid: u32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let text: String = String::from_utf8_lossy(&line)
        .trim_end_matches('\0')
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(COMMAND_CHARS_MAX)
        .collect();
    if text.is_empty() {
        return fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim_end().to_owned();
    }
    text
}

fn parent(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

const COMMAND_CHARS_MAX: usize = 120;

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_table_of_sockets_is_read() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0\n\
            1: 0100007F:1F90 0100007F:9999 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 100 0 0 10 0\n\
            2: short\n";
        assert_eq!(listening_inodes(table, 8080), [4711]);
        assert!(listening_inodes(table, 8081).is_empty());
    }

    #[test]
    fn this_process_is_found_by_its_port() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let holder = find_holder(listener.local_addr().unwrap()).unwrap();
        assert_eq!(holder.pid, std::process::id());
        assert!(!holder.command.is_empty());
        assert!(!holder.is_orphaned_gateway());
    }
}
