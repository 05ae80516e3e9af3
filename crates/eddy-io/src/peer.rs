//! The process at the other end of a Unix socket.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// The process that connected a Unix socket, or that listens at the socket it is connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketPeer {
    /// Process ID; 0 for a process that this one cannot see, such as one in another container.
    pub pid: i32,
    /// Effective user ID at that time.
    pub uid: u32,
}

/// Returns the process at the other end of a Unix socket, as the kernel saw it when the two were connected.
///
/// # Errors
/// Errors of `getsockopt`, such as for a descriptor that is not a socket.
pub fn socket_peer(socket: impl AsFd) -> io::Result<SocketPeer> {
    let mut peer = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let size = size_of::<libc::ucred>();
    let mut length = libc::socklen_t::try_from(size).expect("a few bytes");
    // SAFETY: the descriptor is open during the call; the kernel writes at most `length` bytes to `peer`, which has
    // that size and is valid for any bytes.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut length,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    if usize::try_from(length) != Ok(size) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(SocketPeer { pid: peer.pid, uid: peer.uid })
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn the_process_of_the_peer_is_reported() {
        let (one, other) = UnixStream::pair().unwrap();
        let peer = socket_peer(&one).unwrap();
        assert_eq!(u32::try_from(peer.pid), Ok(std::process::id()));
        assert_eq!(peer, socket_peer(&other).unwrap());
        assert_eq!(peer.uid, rustix::process::geteuid().as_raw());
    }

    #[test]
    fn a_file_has_no_peer() {
        assert!(socket_peer(File::open("/dev/null").unwrap()).is_err());
    }
}
