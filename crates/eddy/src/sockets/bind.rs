//! Binds listening sockets and explains failures.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use eddy_io::{BACKLOG, PortSharing, listen_tcp, listen_udp, listen_unix};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use thiserror::Error;

use crate::control::{SocketPlace, SocketRole};

/// Why a listening socket cannot be bound.
#[derive(Debug, Error)]
pub(crate) enum SocketBindError {
    /// Another program listens at the port.
    #[error("cannot listen at {place}: another program listens there")]
    InUse {
        /// Requested address.
        place: SocketPlace,
    },
    /// The kernel refuses the port for another reason.
    #[error("cannot listen at {place}: {source}{}", hint(source))]
    Port {
        /// Requested address.
        place: SocketPlace,
        /// Error of the kernel.
        source: io::Error,
    },
    /// Another program accepts connections on the Unix socket.
    #[error("cannot listen at unix:{}: another program listens there; stop it or choose another path", path.display())]
    UnixInUse {
        /// Requested path.
        path: PathBuf,
    },
    /// The file at the path is not a socket.
    #[error("cannot listen at unix:{}: the file there is not a socket; remove it or choose another path", path.display())]
    NotASocket {
        /// Requested path.
        path: PathBuf,
    },
    /// The kernel refuses the path for another reason.
    #[error("cannot listen at unix:{}: {source}", path.display())]
    Unix {
        /// Requested path.
        path: PathBuf,
        /// Error of the kernel.
        source: io::Error,
    },
}

/// Identity of a bound Unix socket's file, checked before the file is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SocketFile {
    device: u64,
    inode: u64,
}

impl SocketFile {
    /// Returns the file that is at `path` now, if any.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        let metadata = path.symlink_metadata().ok()?;
        Some(Self { device: metadata.dev(), inode: metadata.ino() })
    }
}

/// Knowledge about a port before binding to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Port {
    /// Another program may listen there.
    Unknown,
    /// A socket of this program listens there already.
    Ours,
}

/// Transport protocol of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SocketProtocol {
    /// Connections.
    Tcp,
    /// Datagrams.
    Udp,
}

impl SocketProtocol {
    /// Returns the place of a socket that is bound to `address`.
    pub(super) fn place(self, address: SocketAddr) -> SocketPlace {
        match self {
            Self::Tcp => SocketPlace::Tcp(address),
            Self::Udp => SocketPlace::Udp(address),
        }
    }

    fn listen(self, address: SocketAddr, share: PortSharing) -> io::Result<OwnedFd> {
        match self {
            Self::Tcp => listen_tcp(address, BACKLOG, share),
            Self::Udp => listen_udp(address, share),
        }
    }
}

/// Binds `count` sockets at one address and returns the bound address, in case the kernel chose the port.
///
/// # Errors
/// [`SocketBindError::InUse`] and [`SocketBindError::Port`]; nothing stays bound then.
pub(super) fn bind_port(
    transport: SocketProtocol,
    role: SocketRole,
    address: SocketAddr,
    port: Port,
    count: usize,
) -> Result<(SocketAddr, Vec<OwnedFd>), SocketBindError> {
    let place = transport.place(address);
    let failed = |source: io::Error| {
        let place = place.clone();
        if source.kind() == io::ErrorKind::AddrInUse {
            SocketBindError::InUse { place }
        } else {
            SocketBindError::Port { place, source }
        }
    };
    // With SO_REUSEPORT a second program of the same user would share the port unnoticed, so the first bind is without
    // it.
    if port == Port::Unknown && address.port() != 0 && role == SocketRole::Listener {
        drop(transport.listen(address, PortSharing::Exclusive).map_err(failed)?);
    }
    let share = match role {
        SocketRole::Listener => PortSharing::ReusePort,
        SocketRole::Admin => PortSharing::Exclusive,
    };
    let mut bound = address;
    let mut sockets = Vec::with_capacity(count);
    for _ in 0..count {
        let socket = transport.listen(bound, share).map_err(failed)?;
        if bound.port() == 0 {
            bound = local_address(&socket).map_err(failed)?;
        }
        sockets.push(socket);
    }
    Ok((bound, sockets))
}

/// Binds the Unix socket at `path`. A stale socket file, which no process accepts connections on, is removed first.
///
/// # Errors
/// [`SocketBindError::UnixInUse`], [`SocketBindError::NotASocket`] and [`SocketBindError::Unix`].
pub(super) fn bind_unix(path: &Path) -> Result<(OwnedFd, Option<SocketFile>), SocketBindError> {
    let failed = |source| SocketBindError::Unix { path: path.to_owned(), source };
    let socket = match listen_unix(path, BACKLOG) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            remove_stale(path)?;
            listen_unix(path, BACKLOG).map_err(failed)?
        }
        other => other.map_err(failed)?,
    };
    Ok((socket, SocketFile::at(path)))
}

fn remove_stale(path: &Path) -> Result<(), SocketBindError> {
    let failed = |source| SocketBindError::Unix { path: path.to_owned(), source };
    if !path.symlink_metadata().map_err(failed)?.file_type().is_socket() {
        return Err(SocketBindError::NotASocket { path: path.to_owned() });
    }
    match try_connect(path) {
        Err(Errno::CONNREFUSED) => std::fs::remove_file(path).map_err(failed),
        _ => Err(SocketBindError::UnixInUse { path: path.to_owned() }),
    }
}

/// Connects without waiting: a full backlog means that a process listens there.
fn try_connect(path: &Path) -> rustix::io::Result<()> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)
}

fn local_address(socket: impl AsFd) -> io::Result<SocketAddr> {
    let address = rustix::net::getsockname(socket)?;
    SocketAddr::try_from(address).map_err(|_| io::Error::from(io::ErrorKind::AddrNotAvailable))
}

fn hint(source: &io::Error) -> &'static str {
    if source.kind() == io::ErrorKind::PermissionDenied {
        "; a port below 1024 needs root or the capability CAP_NET_BIND_SERVICE"
    } else if source.kind() == io::ErrorKind::AddrNotAvailable {
        "; no interface of this machine has that address"
    } else {
        ""
    }
}
