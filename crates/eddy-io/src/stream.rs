//! Connected streams and listeners, TCP or Unix, as the loop of a worker uses them.

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
use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixListener, UnixStream};

use crate::buffer::{Buffer, Fill};
use crate::tls::{TlsFacts, TlsStream};

/// A connected stream of bytes.
#[derive(Debug)]
pub enum Stream {
    /// Over TCP.
    Tcp(TcpStream),
    /// Over a Unix socket.
    Unix(UnixStream),
    /// Inside of TLS.
    Tls(Box<TlsStream>),
}

/// Who is at the other end of an accepted stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerAddress {
    /// A TCP peer.
    Tcp(SocketAddr),
    /// A process of this machine, through a Unix socket.
    Unix,
}

/// A listening socket registered with the loop of a worker.
#[derive(Debug)]
pub enum StreamListener {
    /// TCP.
    Tcp(TcpListener),
    /// Unix.
    Unix(UnixListener),
}

impl PeerAddress {
    /// The peer's address; that of the loopback for a Unix socket.
    pub fn ip(&self) -> IpAddr {
        match self {
            Self::Tcp(address) => address.ip().to_canonical(),
            Self::Unix => IpAddr::V4(Ipv4Addr::LOCALHOST),
        }
    }
}

impl PeerAddress {
    /// The peer's address; `None` for a Unix socket.
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
    /// Connects to a TCP address, `TCP_NODELAY` set.
    ///
    /// # Errors
    /// What the kernel says of `socket` or `connect`.
    pub async fn connect_tcp(address: SocketAddr) -> io::Result<Self> {
        let socket = if address.is_ipv6() { TcpSocket::new_v6() } else { TcpSocket::new_v4() }?;
        socket.set_nodelay(true)?;
        Ok(Self::Tcp(socket.connect(address).await?))
    }

    /// Connects to a Unix socket.
    ///
    /// # Errors
    /// What the kernel says of `socket` or `connect`.
    pub async fn connect_unix(path: &Path) -> io::Result<Self> {
        Ok(Self::Unix(UnixStream::connect(path).await?))
    }

    /// Reads what there is room for in `buffer`, which must have some.
    ///
    /// # Cost
    /// One `recv`, unless the socket is known to be empty. A short read tells that it now is, so there is no
    /// second call to find out.
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

    /// Reads into `room` and tells how many bytes, 0 at the end; of a stream inside of TLS, what it has below.
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>, room: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut room = ReadBuf::new(room);
        let read = match self {
            Self::Tcp(stream) => Pin::new(stream).poll_read(cx, &mut room),
            Self::Unix(stream) => Pin::new(stream).poll_read(cx, &mut room),
            Self::Tls(_) => Poll::Ready(Err(io::ErrorKind::Unsupported.into())),
        };
        read.map_ok(|()| room.filled().len())
    }

    /// Writes some of `bytes` and tells how many.
    pub fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Tcp(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Unix(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Tls(stream) => stream.poll_write_two(cx, bytes, &[]),
        }
    }

    /// Writes some of `first` followed by `second` in one call and tells how many bytes in all.
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

    /// Writes some of `slices`, in their order, and tells how many bytes in all; not to a stream inside of TLS.
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

    /// Whether bytes can go in and out of it inside of the kernel: nothing above the socket makes or reads them.
    pub fn is_plain(&self) -> bool {
        match self {
            Self::Tcp(_) | Self::Unix(_) => true,
            Self::Tls(_) => false,
        }
    }

    /// Does `work` with a socket of which it is known that it is ready, or forgets that it is where the kernel says otherwise.
    ///
    /// # Errors
    /// Those of `work`; `WouldBlock` where the socket is not known to be ready.
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

    /// Waits until something may be written.
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

    /// Waits for bytes and copies what there are into `room` without taking them: the next read gives them once more. 0 at
    /// the end. Not of a stream inside of TLS.
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

    /// Takes bytes that have been peeked at, or fewer.
    ///
    /// # Errors
    /// What the kernel says of `recv`.
    pub fn take_peeked(&self, room: &mut [u8]) -> io::Result<usize> {
        let (count, _) = rustix::net::recv(self.as_fd(), room, rustix::net::RecvFlags::empty())?;
        Ok(count)
    }

    /// The address at our end; `None` of a Unix socket.
    pub fn local_address(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(stream) => stream.local_addr().ok(),
            Self::Unix(_) => None,
            Self::Tls(stream) => stream.under().local_address(),
        }
    }

    /// Waits until something arrives or the peer closes. What the protocol of a stream inside of TLS says by itself is taken in
    /// and does not count.
    ///
    /// # Cost
    /// No system call, unless something has arrived inside of TLS.
    pub fn poll_disturbed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self {
            Self::Tls(stream) => stream.poll_disturbed(cx),
            Self::Tcp(_) | Self::Unix(_) => self.poll_readable(cx).map(|_| ()),
        }
    }

    /// Whether nothing has arrived and the peer has not closed, as far as the loop has been told; see [`Self::poll_disturbed`].
    ///
    /// # Cost
    /// As there.
    pub fn is_quiet(&mut self) -> bool {
        self.poll_disturbed(&mut Context::from_waker(Waker::noop())).is_pending()
    }

    /// Asks the kernel whether there is something to read, so that [`Self::is_quiet`] knows it.
    ///
    /// # Cost
    /// One system call, unless it is known already that there is nothing.
    pub(crate) fn settle(&self) {
        // Whatever it says, the loop takes note of it.
        let _ = self.try_io(Interest::READABLE, || {
            let mut byte = [0];
            Ok(rustix::net::recv(self.as_fd(), &mut byte, rustix::net::RecvFlags::PEEK)?)
        });
    }

    /// Whether the peer has ended its side, as far as the loop has been told; there may be bytes before the end.
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

    /// As [`Self::is_quiet`], asking the kernel.
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

    /// Tells the peer that nothing more will be written.
    ///
    /// # Errors
    /// `NotConnected` when the peer has already reset the connection.
    pub fn shutdown_write(&mut self) -> io::Result<()> {
        self.say_end();
        SockRef::from(&*self).shutdown(std::net::Shutdown::Write)
    }

    /// Tells the peer that nothing more will be written where the stream has a way of its own to say so, as TLS has, and
    /// takes it at once. To be called before a stream that has been served is closed.
    pub fn say_end(&mut self) {
        if let Self::Tls(stream) = self {
            stream.say_end();
        }
    }

    /// What was agreed upon in the handshake; `None` without TLS.
    pub fn tls_facts(&self) -> Option<TlsFacts> {
        match self {
            Self::Tls(stream) => Some(stream.facts()),
            Self::Tcp(_) | Self::Unix(_) => None,
        }
    }

    /// Makes the close that follows a reset, so that the peer cannot mistake a cut body for a whole one.
    ///
    /// # Errors
    /// What the kernel says of `setsockopt`.
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
    /// Registers a listening TCP socket with the loop of the current worker.
    ///
    /// # Errors
    /// What the kernel says of `epoll_ctl`.
    pub fn tcp(socket: OwnedFd) -> io::Result<Self> {
        Ok(Self::Tcp(TcpListener::from_std(socket.into())?))
    }

    /// Registers a listening Unix socket with the loop of the current worker.
    ///
    /// # Errors
    /// What the kernel says of `epoll_ctl`.
    pub fn unix(socket: OwnedFd) -> io::Result<Self> {
        Ok(Self::Unix(UnixListener::from_std(socket.into())?))
    }

    /// Sets how many connections may wait to be accepted; while so many do, the kernel answers no new ones.
    ///
    /// # Errors
    /// What the kernel says of `listen`.
    pub fn set_backlog(&self, backlog: u32) -> io::Result<()> {
        let backlog = i32::try_from(backlog).unwrap_or(i32::MAX);
        Ok(rustix::net::listen(self.as_fd(), backlog)?)
    }

    /// Whether a connection waits to be accepted.
    ///
    /// # Cost
    /// A system call that does not wait.
    pub fn is_awaited(&self) -> bool {
        let mut watched = [PollFd::from_borrowed_fd(self.as_fd(), PollFlags::IN)];
        rustix::event::poll(&mut watched, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }

    /// Accepts the next connection.
    ///
    /// # Errors
    /// Those of `accept`; `EMFILE` and the like pass when descriptors become free.
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
