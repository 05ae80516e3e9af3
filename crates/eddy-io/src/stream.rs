//! Connected streams and listeners, TCP or Unix, registered with a worker's event loop.

use std::fmt;
use std::io::{self, IoSlice};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker, ready};

use rustix::event::{PollFd, PollFlags, Timespec};
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpListener, TcpSocket, UnixListener, UnixStream};

use crate::buffer::{Buffer, Fill};
use crate::transport::{Stream, TlsFacts};

/// Peer of an accepted stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerAddress {
    /// TCP peer.
    Tcp(SocketAddr),
    /// Process of this machine, through a Unix socket.
    Unix,
}

/// Listening socket registered with a worker's event loop.
#[derive(Debug)]
pub enum StreamListener {
    /// TCP listener.
    Tcp(TcpListener),
    /// Unix socket listener.
    Unix(UnixListener),
}

impl PeerAddress {
    /// Returns the peer's IP address; the loopback address for a Unix socket.
    pub fn ip(&self) -> IpAddr {
        self.ip_address().unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST))
    }

    /// Returns the peer's IP address; `None` for a Unix socket.
    pub fn ip_address(&self) -> Option<IpAddr> {
        match self {
            Self::Tcp(address) => Some(address.ip().to_canonical()),
            Self::Unix => None,
        }
    }
}

impl fmt::Display for PeerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => SocketAddr::new(address.ip().to_canonical(), address.port()).fmt(f),
            Self::Unix => f.write_str("unix"),
        }
    }
}

impl Stream {
    /// Connects to a TCP address, with `TCP_NODELAY`.
    ///
    /// # Errors
    /// Errors of `socket` or `connect`.
    pub async fn connect_tcp(address: SocketAddr) -> io::Result<Self> {
        let socket = if address.is_ipv6() { TcpSocket::new_v6() } else { TcpSocket::new_v4() }?;
        socket.set_nodelay(true)?;
        Ok(Self::Tcp(socket.connect(address).await?))
    }

    /// Connects to a Unix socket.
    ///
    /// # Errors
    /// Errors of `socket` or `connect`.
    pub async fn connect_unix(path: &Path) -> io::Result<Self> {
        Ok(Self::Unix(UnixStream::connect(path).await?))
    }

    /// Reads into the free space of `buffer`, which must have some.
    ///
    /// # Cost
    /// One `recv`, unless the socket is known to be empty. A short read shows that it now is, so no second call is
    /// needed to find out.
    pub fn poll_fill(&mut self, cx: &mut Context<'_>, buffer: &mut Buffer) -> Poll<io::Result<Fill>> {
        if let Self::Tls(stream) = self {
            return stream.poll_fill(cx, buffer);
        }
        let room = buffer.room();
        debug_assert!(!room.is_empty(), "no room would look like the end of the stream");
        match ready!(self.poll_read(cx, room))? {
            0 => Poll::Ready(Ok(Fill::End)),
            count => {
                buffer.fill(count);
                Poll::Ready(Ok(Fill::Bytes(count)))
            }
        }
    }

    /// Reads into `room` and returns the number of bytes, 0 at the end. `Unsupported` for a TLS stream.
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>, room: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut room = ReadBuf::new(room);
        let read = match self {
            Self::Tcp(stream) => Pin::new(stream).poll_read(cx, &mut room),
            Self::Unix(stream) => Pin::new(stream).poll_read(cx, &mut room),
            Self::Tls(_) => Poll::Ready(Err(io::ErrorKind::Unsupported.into())),
        };
        read.map_ok(|()| room.filled().len())
    }

    /// Writes part of `bytes` and returns the number of bytes written.
    pub fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Tcp(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Unix(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Tls(stream) => stream.poll_write_two(cx, bytes, &[]),
        }
    }

    /// Writes part of `first` followed by `second` in one call and returns the total number of bytes written.
    pub fn poll_write_two(
        &mut self,
        cx: &mut Context<'_>,
        first: &[u8],
        second: &[u8],
    ) -> Poll<io::Result<usize>> {
        if second.is_empty() {
            return self.poll_write(cx, first);
        }
        if first.is_empty() {
            return self.poll_write(cx, second);
        }
        match self {
            Self::Tls(stream) => stream.poll_write_two(cx, first, second),
            Self::Tcp(_) | Self::Unix(_) => {
                self.poll_write_slices(cx, &[IoSlice::new(first), IoSlice::new(second)])
            }
        }
    }

    /// Writes part of `slices`, in order, and returns the total number of bytes written. `Unsupported` for a TLS
    /// stream.
    pub(crate) fn poll_write_slices(
        &mut self,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self {
            Self::Tcp(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Self::Unix(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Self::Tls(_) => Poll::Ready(Err(io::ErrorKind::Unsupported.into())),
        }
    }

    /// Whether the kernel can move the stream's bytes by itself: no TLS above the socket.
    pub fn is_plain(&self) -> bool {
        match self {
            Self::Tcp(_) | Self::Unix(_) => true,
            Self::Tls(_) => false,
        }
    }

    /// Does `work` on a socket that is known to be ready, and clears its readiness when the kernel returns
    /// `WouldBlock`.
    ///
    /// # Errors
    /// Those of `work`; `WouldBlock` when the socket is not known to be ready.
    pub(crate) fn try_io<T>(
        &self,
        interest: Interest,
        work: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        match self {
            Self::Tcp(stream) => stream.try_io(interest, work),
            Self::Unix(stream) => stream.try_io(interest, work),
            Self::Tls(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Waits until the stream may be writable.
    pub(crate) fn poll_writable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(stream) => stream.poll_write_ready(cx),
            Self::Unix(stream) => stream.poll_write_ready(cx),
            Self::Tls(stream) => stream.under().poll_writable(cx),
        }
    }

    /// Waits until there may be something to read, without a buffer to read it into.
    pub fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(stream) => stream.poll_read_ready(cx),
            Self::Unix(stream) => stream.poll_read_ready(cx),
            Self::Tls(stream) if stream.has_more() => Poll::Ready(Ok(())),
            Self::Tls(stream) => stream.under().poll_readable(cx),
        }
    }

    /// Waits for bytes and copies them into `room` without consuming them: the next read returns them again. 0 at the
    /// end. Not for TLS streams.
    pub fn poll_peek(&self, cx: &mut Context<'_>, room: &mut [u8]) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.poll_readable(cx))?;
            let peeked = self.try_io(Interest::READABLE, || {
                let (count, _) = rustix::net::recv(self.as_fd(), &mut *room, rustix::net::RecvFlags::PEEK)?;
                Ok(count)
            });
            match peeked {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                peeked => return Poll::Ready(peeked),
            }
        }
    }

    /// Consumes bytes that were peeked at, or fewer.
    ///
    /// # Errors
    /// Errors of `recv`.
    pub fn take_peeked(&self, room: &mut [u8]) -> io::Result<usize> {
        let (count, _) = rustix::net::recv(self.as_fd(), room, rustix::net::RecvFlags::empty())?;
        Ok(count)
    }

    /// Returns the local address; `None` for a Unix socket.
    pub fn local_address(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(stream) => stream.local_addr().ok(),
            Self::Unix(_) => None,
            Self::Tls(stream) => stream.under().local_address(),
        }
    }

    /// Waits until data arrives or the peer closes. TLS messages without application data are processed and do not
    /// count.
    ///
    /// # Cost
    /// No system call, unless something has arrived on a TLS stream.
    pub fn poll_input_or_close(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self {
            Self::Tls(stream) => stream.poll_input_or_close(cx),
            Self::Tcp(_) | Self::Unix(_) => self.poll_readable(cx).map(|_| ()),
        }
    }

    /// Whether no data has arrived and the peer has not closed, as far as the event loop knows; see
    /// [`Self::poll_input_or_close`].
    ///
    /// # Cost
    /// As [`Self::poll_input_or_close`].
    pub fn is_quiet(&mut self) -> bool {
        self.poll_input_or_close(&mut Context::from_waker(Waker::noop())).is_pending()
    }

    /// Asks the kernel whether there is something to read, so that [`Self::is_quiet`] knows it.
    ///
    /// # Cost
    /// One system call, none if the event loop knows already that there is nothing.
    pub(crate) fn settle(&self) {
        // The event loop records the result, whatever it is.
        let _ = self.try_io(Interest::READABLE, || {
            let mut byte = [0];
            Ok(rustix::net::recv(self.as_fd(), &mut byte, rustix::net::RecvFlags::PEEK)?)
        });
    }

    /// Whether the peer has closed its side, as far as the event loop knows; unread bytes may precede the end.
    ///
    /// # Cost
    /// No system call.
    pub fn is_ended(&self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        let ready = match self {
            Self::Tcp(stream) => pin!(stream.ready(Interest::READABLE)).poll(&mut cx),
            Self::Unix(stream) => pin!(stream.ready(Interest::READABLE)).poll(&mut cx),
            Self::Tls(stream) => return stream.under().is_ended(),
        };
        matches!(ready, Poll::Ready(Ok(ready)) if ready.is_read_closed())
    }

    /// Whether no data has arrived and the peer has not closed, according to the kernel; as [`Self::is_quiet`].
    ///
    /// # Cost
    /// One system call.
    pub fn is_quiet_now(&mut self) -> bool {
        if let Self::Tls(stream) = self {
            return stream.is_quiet_now();
        }
        let mut byte = [std::mem::MaybeUninit::uninit()];
        let peeked = SockRef::from(&*self).peek(&mut byte);
        matches!(peeked, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Shuts down the write side, so that the peer sees the end of the stream.
    ///
    /// # Errors
    /// `NotConnected` when the peer has already reset the connection.
    pub fn shutdown_write(&mut self) -> io::Result<()> {
        self.send_tls_close();
        SockRef::from(&*self).shutdown(std::net::Shutdown::Write)
    }

    /// Sends `close_notify` on a TLS stream, if the socket accepts it at once; no effect otherwise. To be called before
    /// a stream that has been served is closed.
    pub fn send_tls_close(&mut self) {
        if let Self::Tls(stream) = self {
            stream.send_tls_close();
        }
    }

    /// Returns the parameters negotiated in the TLS handshake; `None` without TLS.
    pub fn tls_facts(&self) -> Option<TlsFacts> {
        match self {
            Self::Tls(stream) => Some(stream.facts()),
            Self::Tcp(_) | Self::Unix(_) => None,
        }
    }

    /// Makes the next close a reset, so that the peer cannot mistake a truncated body for a complete one.
    ///
    /// # Errors
    /// Errors of `setsockopt`.
    pub fn reset_on_close(&self) -> io::Result<()> {
        SockRef::from(self).set_linger(Some(std::time::Duration::ZERO))
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
            Self::Tls(stream) => stream.under().as_fd(),
        }
    }
}

impl AsFd for StreamListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(listener) => listener.as_fd(),
            Self::Unix(listener) => listener.as_fd(),
        }
    }
}

impl StreamListener {
    /// Registers a listening TCP socket with the current worker's event loop.
    ///
    /// # Errors
    /// Errors of `epoll_ctl`.
    pub fn tcp(socket: OwnedFd) -> io::Result<Self> {
        Ok(Self::Tcp(TcpListener::from_std(socket.into())?))
    }

    /// Registers a listening Unix socket with the current worker's event loop.
    ///
    /// # Errors
    /// Errors of `epoll_ctl`.
    pub fn unix(socket: OwnedFd) -> io::Result<Self> {
        Ok(Self::Unix(UnixListener::from_std(socket.into())?))
    }

    /// Sets the backlog: connections that may wait to be accepted. When it is full, the kernel does not answer new
    /// ones.
    ///
    /// # Errors
    /// Errors of `listen`.
    pub fn set_backlog(&self, backlog: u32) -> io::Result<()> {
        let backlog = i32::try_from(backlog).unwrap_or(i32::MAX);
        Ok(rustix::net::listen(self.as_fd(), backlog)?)
    }

    /// Whether a connection waits to be accepted.
    ///
    /// # Cost
    /// One non-blocking system call.
    pub fn is_awaited(&self) -> bool {
        let mut watched = [PollFd::from_borrowed_fd(self.as_fd(), PollFlags::IN)];
        rustix::event::poll(&mut watched, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }

    /// Accepts the next connection.
    ///
    /// # Errors
    /// Errors of `accept`; `EMFILE` and the like pass when descriptors become free.
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(Stream, PeerAddress)>> {
        match self {
            Self::Tcp(listener) => listener
                .poll_accept(cx)
                .map_ok(|(stream, address)| (Stream::Tcp(stream), PeerAddress::Tcp(address))),
            Self::Unix(listener) => {
                listener.poll_accept(cx).map_ok(|(stream, _)| (Stream::Unix(stream), PeerAddress::Unix))
            }
        }
    }
}
