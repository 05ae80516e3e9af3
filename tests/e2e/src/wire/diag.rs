//! Queries the kernel for the bytes that a socket's owner has not read yet.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use crate::wait::elapse;
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};

/// A netlink socket for queries about TCP sockets of this machine.
///
/// # Cost
/// Two system calls per query.
#[derive(Debug)]
pub struct SocketDiag {
    socket: OwnedFd,
}

impl SocketDiag {
    /// Opens the netlink socket; `None` where the system does not allow it.
    pub fn open() -> Option<Self> {
        let flags = SocketFlags::CLOEXEC;
        let protocol = Some(netlink::SOCK_DIAG);
        let socket =
            rustix::net::socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, protocol).ok()?;
        let diag = Self { socket };
        // A query about a nonexistent socket shows whether queries are answered at all.
        let nobody = SocketAddr::from(([127, 0, 0, 1], 0));
        diag.unread(nobody, nobody).map(|_| diag)
    }

    /// Returns the number of unread bytes at the socket bound to `local` and connected to `remote`.
    ///
    /// `None` when the kernel does not answer; 0 for a socket that no longer exists.
    pub fn unread(&self, local: SocketAddr, remote: SocketAddr) -> Option<u32> {
        let request = question(local, remote)?;
        rustix::net::send(&self.socket, &request, SendFlags::empty()).ok()?;
        let mut answer = [0u8; 512];
        let length = loop {
            match rustix::net::recv(&self.socket, &mut answer, RecvFlags::empty()) {
                Ok((length, _)) => break length,
                Err(Errno::INTR) => {}
                Err(_) => return None,
            }
        };
        parse_unread(answer.get(..length)?)
    }

    /// Waits until the owner of that socket has read everything, or stopped reading.
    ///
    /// Gives up after 20 ms: a peer that has sent its last response reads no more.
    pub async fn until_read(&self, local: SocketAddr, remote: SocketAddr) {
        let since = Instant::now();
        let mut turns = 0u32;
        while self.unread(local, remote).unwrap_or(0) > 0 && since.elapsed() < PATIENCE {
            turns += 1;
            if turns < 8 {
                tokio::task::yield_now().await;
            } else {
                elapse(Duration::from_micros(200), "the peer reads within less than a look interval").await;
            }
        }
    }
}

fn question(local: SocketAddr, remote: SocketAddr) -> Option<[u8; REQUEST_LEN]> {
    let (IpAddr::V4(local_ip), IpAddr::V4(remote_ip)) = (local.ip(), remote.ip()) else {
        return None;
    };
    let mut request = [0u8; REQUEST_LEN];
    // nlmsghdr: length, type SOCK_DIAG_BY_FAMILY, flags NLM_F_REQUEST.
    request[0..4].copy_from_slice(&72u32.to_ne_bytes());
    request[4..6].copy_from_slice(&20u16.to_ne_bytes());
    request[6..8].copy_from_slice(&1u16.to_ne_bytes());
    // inet_diag_req_v2: family, protocol, all states, then the socket's identity without a cookie.
    request[16] = 2;
    request[17] = 6;
    request[20..24].fill(0xff);
    request[24..26].copy_from_slice(&local.port().to_be_bytes());
    request[26..28].copy_from_slice(&remote.port().to_be_bytes());
    request[28..32].copy_from_slice(&local_ip.octets());
    request[44..48].copy_from_slice(&remote_ip.octets());
    request[64..72].fill(0xff);
    Some(request)
}

fn parse_unread(answer: &[u8]) -> Option<u32> {
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    if kind == NLMSG_ERROR {
        let error = i32::from_ne_bytes(answer.get(16..20)?.try_into().ok()?);
        return (error == -Errno::NOENT.raw_os_error()).then_some(0);
    }
    // The receive queue follows nlmsghdr (16), four bytes, the identity (48) and the timer (4).
    Some(u32::from_ne_bytes(answer.get(72..76)?.try_into().ok()?))
}

const REQUEST_LEN: usize = 72;
const NLMSG_ERROR: u16 = 2;
const PATIENCE: Duration = Duration::from_millis(20);
