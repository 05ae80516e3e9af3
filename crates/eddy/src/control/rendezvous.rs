//! Discovery of other gateway processes: each one listens at an abstract Unix socket.
//!
//! The kernel removes such a socket with its process, and only processes of the same network namespace see it, as with
//! ports. Any user may bind such a name, so both sides ask the kernel for the other's user.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process;

use eddy_io::socket_peer;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustix::rand::{GetRandomFlags, getrandom};

use super::Channel;

/// Socket at which other gateway processes of the same user find this one.
#[derive(Debug)]
pub(crate) struct Rendezvous {
    socket: OwnedFd,
}

/// Connection to another gateway process of this user.
#[derive(Debug)]
pub(crate) struct GatewayPeer {
    /// Process ID.
    pub(crate) pid: i32,
    /// Connection.
    pub(crate) channel: Channel,
}

impl Rendezvous {
    /// Opens the socket of this process.
    ///
    /// # Errors
    /// Errors of sockets and random numbers.
    pub(crate) fn open() -> io::Result<Self> {
        // Process IDs are not unique across the containers of a network namespace.
        let mut unique = [0_u8; 8];
        getrandom(&mut unique, GetRandomFlags::empty())?;
        let name = format!("{NAME}{}-{:016x}", process::id(), u64::from_ne_bytes(unique));
        let socket = socket()?;
        rustix::net::bind(&socket, &SocketAddrUnix::new_abstract_name(name.as_bytes())?)?;
        rustix::net::listen(&socket, BACKLOG)?;
        Ok(Self { socket })
    }

    /// Accepts the next connection, if one waits. Connections of other users are closed.
    ///
    /// # Errors
    /// Errors of `accept`, such as too many open files.
    pub(crate) fn accept(&self) -> io::Result<Option<GatewayPeer>> {
        for _ in 0..BACKLOG {
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let socket = match rustix::net::accept_with(&self.socket, flags) {
                Ok(socket) => socket,
                Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => return Ok(None),
                Err(error) => return Err(error.into()),
            };
            if let Some(peer) = GatewayPeer::of_same_user(socket) {
                return Ok(Some(peer));
            }
        }
        Ok(None)
    }
}

impl AsFd for Rendezvous {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl GatewayPeer {
    fn of_same_user(socket: OwnedFd) -> Option<Self> {
        let peer = socket_peer(&socket).ok()?;
        let is_ours = peer.uid == rustix::process::geteuid().as_raw();
        // A process without a visible ID belongs to another container, where the same paths are different files.
        let is_other = peer.pid > 0 && u32::try_from(peer.pid) != Ok(process::id());
        (is_ours && is_other).then_some(Self { pid: peer.pid, channel: Channel::from_fd(socket) })
    }
}

/// Connects to the other gateway processes of this user, ordered by process ID.
///
/// # Cost
/// Reads the kernel's table of Unix sockets.
pub(crate) fn gateway_peers() -> Vec<GatewayPeer> {
    let table = fs::read("/proc/net/unix").unwrap_or_default();
    let mut found: Vec<GatewayPeer> = names(&String::from_utf8_lossy(&table))
        .take(PEERS_MAX)
        .filter_map(|name| connect(name).ok())
        .filter_map(GatewayPeer::of_same_user)
        .collect();
    // Two processes that start at once wait for the same ones in the same order.
    found.sort_by_key(|peer| peer.pid);
    found
}

fn connect(name: &str) -> io::Result<OwnedFd> {
    let socket = socket()?;
    rustix::net::connect(&socket, &SocketAddrUnix::new_abstract_name(name.as_bytes())?)?;
    Ok(socket)
}

fn socket() -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

/// Returns the names of gateway processes in the kernel's table of Unix sockets.
fn names(table: &str) -> impl Iterator<Item = &str> {
    table.lines().skip(1).filter_map(|line| {
        let mut columns = line.split_ascii_whitespace().skip(3);
        let (flags, name) = (columns.next()?, columns.nth(3)?);
        let name = name.strip_prefix('@')?;
        (flags == LISTENING && name.starts_with(NAME)).then_some(name)
    })
}

const NAME: &str = "eddy/gateway/";
/// Flags of a listening socket in the kernel's table.
const LISTENING: &str = "00010000";
/// Maximum waiting connections, and maximum connections of other users closed per call.
const BACKLOG: i32 = 16;
/// Maximum gateway processes that are contacted.
const PEERS_MAX: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_the_table() {
        let table = "Num       RefCount Protocol Flags    Type St Inode Path\n\
            0: 00000002 00000000 00010000 0005 01 10 @eddy/gateway/7-00ff\n\
            0: 00000003 00000000 00000000 0005 03 11 @eddy/gateway/7-00ff\n\
            0: 00000002 00000000 00010000 0001 01 12 /run/eddy/gateway/8\n\
            0: 00000002 00000000 00010000 0001 01 13 @other\n\
            0: 00000002 00000000 00010000 0001 01 14\n";
        assert_eq!(names(table).collect::<Vec<_>>(), ["eddy/gateway/7-00ff"]);
    }

    #[test]
    fn a_process_is_not_its_own_peer() {
        let rendezvous = Rendezvous::open().unwrap();
        let own = format!("{NAME}{}-", process::id());
        let table = fs::read_to_string("/proc/net/unix").unwrap();
        let name = names(&table).find(|name| name.starts_with(&own)).unwrap();
        let _connected = connect(name).unwrap();
        // The process of this user that connects is this one itself.
        assert!(rendezvous.accept().unwrap().is_none());
        let us = i32::try_from(process::id()).unwrap();
        assert!(gateway_peers().iter().all(|peer| peer.pid != us));
    }
}
