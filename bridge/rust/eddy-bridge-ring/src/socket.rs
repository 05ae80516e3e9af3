//! The socket beside the rings: how links come about, and how a process is woken.

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

/// A place where other processes can ask for a link.
#[derive(Debug)]
pub struct LinkListener {
    listener: UnixListener,
    limits: LinkLimits,
    path: PathBuf,
}

impl LinkListener {
    /// Listens at a path, at which nothing may lie yet. Only processes of the same user can connect.
    ///
    /// # Errors
    /// `Path` when the path can't be used, and those of limits that can't be kept.
    pub fn bind(path: impl AsRef<Path>, limits: LinkLimits) -> Result<Self, LinkError> {
        let path = path.as_ref().to_owned();
        let limits = limits.check()?;
        let listener =
            bind_private(&path).map_err(|source| LinkError::Path { path: path.clone(), source })?;
        Ok(Self { listener, limits, path })
    }

    /// Waits for the next process and makes a link with it. It is asked no more than [`Limits::handshake`] long.
    ///
    /// # Errors
    /// `Path` when the listener is broken; any other means that this one process did not get a link.
    pub fn accept(&self, handler: impl CallHandler) -> Result<ProcessLink, LinkError> {
        let broken = |source| LinkError::Path { path: self.path.clone(), source };
        let (stream, _) = self.listener.accept().map_err(broken)?;
        accept_stream(stream, self.limits, handler)
    }
}

/// Connects to a process that listens at a path.
///
/// # Errors
/// `Path` when nobody listens there, and those of [`connect_stream`].
pub fn connect(
    path: impl AsRef<Path>,
    limits: LinkLimits,
    handler: impl CallHandler,
) -> Result<ProcessLink, LinkError> {
    connect_shared(path.as_ref(), limits, Arc::new(handler))
}

/// Makes a link over a socket whose other end [`accept_stream`] has, such as one that a child process inherited.
///
/// # Errors
/// Everything that [`LinkError`] names but `Path`.
pub fn connect_stream(
    stream: UnixStream,
    limits: LinkLimits,
    handler: impl CallHandler,
) -> Result<ProcessLink, LinkError> {
    join(stream, limits, Arc::new(handler), LinkRole::Connector)
}

/// Makes a link over a socket whose other end [`connect_stream`] has.
///
/// # Errors
/// Everything that [`LinkError`] names but `Path`.
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

/// Wakes the other process where it sleeps.
///
/// A socket and not an `eventfd`: that would be one open file of both processes, whose flags and count the other one could
/// set so that this side blocks.
#[derive(Clone, Debug)]
pub(crate) struct Bell(Arc<UnixStream>);

impl Bell {
    pub(crate) fn new(socket: Arc<UnixStream>) -> Self {
        Self(socket)
    }

    /// Wakes the other process. Where there is no room for that, it has wakes enough that it didn't take yet; where it is
    /// gone, the link's thread finds out.
    pub(crate) fn ring(&self) {
        let _ = send(&*self.0, &[1], SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
    }
}

/// A listening socket that only its own user can connect to, from its first moment on.
fn bind_private(path: &Path) -> io::Result<UnixListener> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    // The mode of the socket becomes that of the file it is bound to.
    fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    bind(&socket, &SocketAddrUnix::new(path)?)?;
    listen(&socket, BACKLOG)?;
    Ok(socket.into())
}

const BACKLOG: i32 = 128;
