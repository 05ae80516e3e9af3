//! Finds the process that listens at an address, using `/proc`.

use std::fs;
use std::time::{Duration, Instant};

use crate::control::SocketPlace;

/// Returns a message for people about an address in use: the process that listens there, and what to do.
///
/// # Cost
/// Reads the descriptor tables of other processes, for ten seconds at most. Not for use in the parent, which must stay
/// responsive.
pub(crate) fn explain_address_in_use(place: &SocketPlace) -> String {
    let (tables, option, port) = match place {
        SocketPlace::Tcp(address) => (TCP_TABLES, 't', address.port()),
        SocketPlace::Udp(address) => (UDP_TABLES, 'u', address.port()),
        // A process that listens at a Unix socket cannot be found by a port.
        SocketPlace::Unix(_) => return format!("cannot listen at {place}: another program listens there"),
    };
    let Some(holder) = find_holder(tables, port) else {
        return format!(
            "cannot listen at {place}: another program listens there; run `ss -l{option}np 'sport = :{port}'` \
             as root to find it; stop it or choose another address"
        );
    };
    let ListeningProcess { pid, command, .. } = &holder;
    let way_out = if holder.is_orphaned_gateway() {
        format!("it is an eddy gateway whose parent is gone; `kill -TERM {pid}` drains it")
    } else {
        "stop it or choose another address".to_owned()
    };
    format!("cannot listen at {place}: process {pid} (`{command}`) listens there; {way_out}")
}

/// Process that listens at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ListeningProcess {
    pid: u32,
    command: String,
    parent: Option<u32>,
}

impl ListeningProcess {
    /// Whether it is a gateway process whose parent is gone.
    fn is_orphaned_gateway(&self) -> bool {
        let mut words = self.command.split(' ');
        let is_eddy = words.next().is_some_and(|program| program.rsplit('/').next() == Some("eddy"));
        is_eddy && words.next() == Some("gateway") && self.parent == Some(1)
    }
}

/// Files with the kernel's sockets of one kind, and the state of a listening socket in them.
#[derive(Clone, Copy)]
struct ProcNetTables {
    files: [&'static str; 2],
    listening: &'static str,
}

impl ProcNetTables {
    /// Returns the inodes of the sockets that listen at `port`. One may be missing: the kernel writes a table in
    /// pieces, and sockets opened or closed meanwhile shift the others.
    fn listening_at(self, port: u16) -> Vec<u64> {
        let texts = self.files.into_iter().filter_map(|file| fs::read_to_string(file).ok());
        texts.flat_map(|text| listening_inodes(&text, self.listening, port)).collect()
    }
}

const TCP_TABLES: ProcNetTables =
    ProcNetTables { files: ["/proc/net/tcp", "/proc/net/tcp6"], listening: "0A" };
/// An unconnected UDP socket has the state "closed".
const UDP_TABLES: ProcNetTables =
    ProcNetTables { files: ["/proc/net/udp", "/proc/net/udp6"], listening: "07" };

/// Returns the process that listens at `port`, if this process may see it and finds it in time.
fn find_holder(tables: ProcNetTables, port: u16) -> Option<ListeningProcess> {
    let deadline = Instant::now() + SEARCH_TIME_MAX;
    let inodes = (0..TABLE_READS_MAX).map(|_| tables.listening_at(port)).find(|inodes| !inodes.is_empty())?;
    let links: Vec<String> = inodes.iter().map(|inode| format!("socket:[{inode}]")).collect();
    let pid = fs::read_dir("/proc")
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .take_while(|_| Instant::now() < deadline)
        .find(|pid| has_descriptor(*pid, &links))?;
    Some(ListeningProcess { pid, command: command(pid), parent: parent(pid) })
}

/// Parses the inodes of the sockets that listen at `port` from a table such as `/proc/net/tcp`.
fn listening_inodes(table: &str, listening: &str, port: u16) -> Vec<u64> {
    let local_port = format!(":{port:04X}");
    table
        .lines()
        .skip(1)
        .filter_map(|line| {
            let columns: Vec<&str> = line.split_whitespace().collect();
            let (local, state, inode) = (columns.get(1)?, columns.get(3)?, columns.get(9)?);
            (local.ends_with(&local_port) && *state == listening).then(|| inode.parse().ok())?
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

/// Maximum reads of a table until the socket is found in it.
const TABLE_READS_MAX: u32 = 8;
const SEARCH_TIME_MAX: Duration = Duration::from_secs(10);
const COMMAND_CHARS_MAX: usize = 120;

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, UdpSocket};

    use super::*;

    #[test]
    fn the_table_of_sockets_is_read() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0\n\
            1: 0100007F:1F90 0100007F:9999 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 100 0 0 10 0\n\
            2: short\n";
        assert_eq!(listening_inodes(table, "0A", 8080), [4711]);
        assert!(listening_inodes(table, "0A", 8081).is_empty());
    }

    #[test]
    fn this_process_is_found_by_its_port() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
        for place in [
            SocketPlace::Tcp(listener.local_addr().unwrap()),
            SocketPlace::Udp(datagrams.local_addr().unwrap()),
        ] {
            let text = explain_address_in_use(&place);
            assert!(text.contains(&format!("process {} (`", std::process::id())), "{text}");
            assert!(!text.contains("parent is gone"), "{text}");
        }
    }
}
