//! Listening sockets and the limit of open files.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

/// Whether other sockets may listen at the same address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortSharing {
    /// Only this socket.
    Exclusive,
    /// Several sockets, each with its own queue (`SO_REUSEPORT`).
    ReusePort,
}

/// Creates a TCP socket listening at `address`: non-blocking, close-on-exec, `TCP_NODELAY` for accepted connections.
///
/// An IPv6 address accepts only IPv6 connections.
///
/// # Errors
/// Errors of `socket`, `bind` or `listen`; most often `AddrInUse`.
pub fn listen_tcp(address: SocketAddr, backlog: u32, share: PortSharing) -> io::Result<OwnedFd> {
    let socket =
        Socket::new(Domain::for_address(address), Type::STREAM.nonblocking().cloexec(), Some(Protocol::TCP))?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_reuse_address(true)?;
    if share == PortSharing::ReusePort {
        socket.set_reuse_port(true)?;
    }
    // On Linux accepted sockets inherit this option, which saves one system call per connection.
    socket.set_tcp_nodelay(true)?;
    socket.bind(&address.into())?;
    socket.listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
    Ok(socket.into())
}

/// Creates a UDP socket bound to `address`: non-blocking and close-on-exec.
///
/// An IPv6 address receives only IPv6 datagrams.
///
/// # Errors
/// Errors of `socket` or `bind`; most often `AddrInUse`.
pub fn listen_udp(address: SocketAddr, share: PortSharing) -> io::Result<OwnedFd> {
    let kind = Type::DGRAM.nonblocking().cloexec();
    let socket = Socket::new(Domain::for_address(address), kind, Some(Protocol::UDP))?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    // No `SO_REUSEADDR`: with it, any program could take datagrams away.
    if share == PortSharing::ReusePort {
        socket.set_reuse_port(true)?;
    }
    // The kernel lowers the size to `net.core.rmem_max`; a smaller buffer works as well.
    let _ = socket.set_recv_buffer_size(DATAGRAM_QUEUE_BYTES);
    socket.bind(&address.into())?;
    Ok(socket.into())
}

/// Creates a Unix socket listening at `path`: non-blocking and close-on-exec.
///
/// # Errors
/// Errors of `socket`, `bind` or `listen`; `AddrInUse` when the file exists.
pub fn listen_unix(path: &Path, backlog: u32) -> io::Result<OwnedFd> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM.nonblocking().cloexec(), None)?;
    socket.bind(&SockAddr::unix(path)?)?;
    socket.listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
    Ok(socket.into())
}

/// Returns another descriptor of the same socket or file, close-on-exec.
///
/// # Errors
/// Errors of `fcntl`, such as too many open files.
pub fn duplicate(fd: impl AsFd) -> io::Result<OwnedFd> {
    Ok(rustix::io::fcntl_dupfd_cloexec(fd, 3)?)
}

/// Raises the soft limit of open files to the hard limit and returns it.
pub fn descriptors_max() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if setrlimit(Resource::Nofile, raised).is_ok() { limit.maximum } else { limit.current }
        .unwrap_or(u64::MAX)
}

/// Maximum connections that wait to be accepted per socket; the kernel lowers it to `net.core.somaxconn`.
pub const BACKLOG: u32 = 4096;

/// Receive buffer of a UDP socket in bytes: the datagrams that arrive while a worker is busy for some milliseconds.
const DATAGRAM_QUEUE_BYTES: usize = 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tcp_port_sharing_is_optional() {
        let first = listen_tcp("127.0.0.1:0".parse().unwrap(), 8, PortSharing::ReusePort).unwrap();
        let address = Socket::from(first.try_clone().unwrap()).local_addr().unwrap().as_socket().unwrap();
        assert!(listen_tcp(address, 8, PortSharing::ReusePort).is_ok());
        assert_eq!(
            listen_tcp(address, 8, PortSharing::Exclusive).unwrap_err().kind(),
            io::ErrorKind::AddrInUse
        );
    }

    #[test]
    fn udp_port_sharing_is_optional() {
        let first = listen_udp("127.0.0.1:0".parse().unwrap(), PortSharing::ReusePort).unwrap();
        let address = Socket::from(first.try_clone().unwrap()).local_addr().unwrap().as_socket().unwrap();
        assert!(listen_udp(address, PortSharing::ReusePort).is_ok());
        assert_eq!(listen_udp(address, PortSharing::Exclusive).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        assert!(std::net::UdpSocket::bind(address).is_err());
    }

    #[test]
    fn the_limit_of_descriptors_is_raised() {
        let limit = descriptors_max();
        assert_eq!(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX), limit);
    }
}
