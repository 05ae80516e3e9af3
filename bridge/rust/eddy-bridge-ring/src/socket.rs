//! The socket beside the rings: establishes links and wakes the other process.

use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, fchmod};
use rustix::net::{
    AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType, bind, listen, send, socket_with,
};

use crate::fault::LinkError;
use crate::handler::CallHandler;
use crate::hello;
use crate::limits::LinkLimits;
use crate::link::ProcessLink;
use crate::ring::LinkRole;

/// A listener to which other processes connect for a link.
#[derive(Debug)]
pub struct LinkListener {
    listener: UnixListener,
    limits: LinkLimits,
    path: PathBuf,
}

impl LinkListener {
    /// Listens at a path that must not exist yet. Only processes of the same user can connect.
    ///
    /// # Errors
    /// `Path` if the path can't be used, and the errors of invalid limits.
    pub fn bind(path: impl AsRef<Path>, limits: LinkLimits) -> Result<Self, LinkError> {
        let path = path.as_ref().to_owned();
        let limits = limits.check()?;
        let listener =
            bind_private(&path).map_err(|source| LinkError::Path { path: path.clone(), source })?;
        Ok(Self { listener, limits, path })
    }

    /// Accepts the next process and establishes a link. Its handshake takes at most [`LinkLimits::handshake`].
    ///
    /// # Errors
    /// `Path` if the listener is broken; any other error means that this one process did not get a link.
    pub fn accept(&self, handler: impl CallHandler) -> Result<ProcessLink, LinkError> {
        let broken = |source| LinkError::Path { path: self.path.clone(), source };
        let (stream, _) = self.listener.accept().map_err(broken)?;
        accept_stream(stream, self.limits, handler)
    }
}

/// Connects to a process that listens at a path.
///
/// # Errors
/// `Path` if no process listens there, and those of [`connect_stream`].
pub fn connect(
    path: impl AsRef<Path>,
    limits: LinkLimits,
    handler: impl CallHandler,
) -> Result<ProcessLink, LinkError> {
    connect_shared(path.as_ref(), limits, Arc::new(handler))
}

/// Establishes a link over a socket whose other end calls [`accept_stream`], such as one inherited by a child
/// process.
///
/// # Errors
/// Every [`LinkError`] except `Path`.
pub fn connect_stream(
    stream: UnixStream,
    limits: LinkLimits,
    handler: impl CallHandler,
) -> Result<ProcessLink, LinkError> {
    join(stream, limits, Arc::new(handler), LinkRole::Connector)
}

/// Establishes a link over a socket whose other end calls [`connect_stream`].
///
/// # Errors
/// Every [`LinkError`] except `Path`.
pub fn accept_stream(
    stream: UnixStream,
    limits: LinkLimits,
    handler: impl CallHandler,
) -> Result<ProcessLink, LinkError> {
    join(stream, limits, Arc::new(handler), LinkRole::Acceptor)
}

pub(crate) fn connect_shared(
    path: &Path,
    limits: LinkLimits,
    handler: Arc<dyn CallHandler>,
) -> Result<ProcessLink, LinkError> {
    let broken = |source| LinkError::Path { path: path.to_owned(), source };
    let stream = UnixStream::connect(path).map_err(broken)?;
    join(stream, limits, handler, LinkRole::Connector)
}

fn join(
    stream: UnixStream,
    limits: LinkLimits,
    handler: Arc<dyn CallHandler>,
    side: LinkRole,
) -> Result<ProcessLink, LinkError> {
    let limits = limits.check()?;
    let (memory, agreed) = match side {
        LinkRole::Connector => hello::offer(&stream, &limits)?,
        LinkRole::Acceptor => hello::take(&stream, &limits)?,
    };
    stream.set_read_timeout(None).map_err(LinkError::Socket)?;
    stream.set_write_timeout(None).map_err(LinkError::Socket)?;
    ProcessLink::start(stream, memory, side, &limits, &agreed, handler)
}

/// Wakes the other process if it sleeps.
///
/// It is a socket and not an `eventfd`: an `eventfd` would be one open file of both processes, and the other one
/// could set its flags and count so that this side blocks.
#[derive(Clone, Debug)]
pub(crate) struct PeerWaker(Arc<UnixStream>);

impl PeerWaker {
    pub(crate) fn new(socket: Arc<UnixStream>) -> Self {
        Self(socket)
    }

    /// Wakes the other process. If the socket is full, there are enough unread wakes; if the process is gone, the
    /// link's thread notices it.
    pub(crate) fn ring(&self) {
        let _ = send(&*self.0, &[1], SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
    }
}

/// Binds a listening socket that only its own user can connect to, from its first moment on.
fn bind_private(path: &Path) -> io::Result<UnixListener> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    // The mode of the socket becomes that of the file it is bound to.
    fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    bind(&socket, &SocketAddrUnix::new(path)?)?;
    listen(&socket, BACKLOG)?;
    Ok(socket.into())
}

const BACKLOG: i32 = 128;
