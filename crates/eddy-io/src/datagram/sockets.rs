//! Sockets for datagrams: one that takes them from everybody, and those that are connected to one endpoint.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::net::SendFlags;
use socket2::{Domain, MaybeUninitSlice, MsgHdr, MsgHdrMut, Protocol, SockAddr, SockRef, Socket, Type};
use tokio::io::Interest;
use tokio::net::UdpSocket;

/// Room that holds any datagram of UDP, bytes: one of IPv4 has 65,507 at most, one of IPv6 65,527.
pub const DATAGRAM_BYTES_MAX: usize = 65_535;

/// By what datagrams belong together: both ends of their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flow {
    /// The client.
    pub client: SocketAddr,
    /// The address of ours that the client writes to, where the socket has several.
    pub local: Option<IpAddr>,
}

/// A bound socket that takes datagrams from everybody, registered with the loop of a worker.
#[derive(Debug)]
pub struct DatagramListener {
    socket: UdpSocket,
    bound: SocketAddr,
}

/// A socket that is connected to one endpoint, registered with the loop of a worker.
#[derive(Debug)]
pub struct DatagramLink(UdpSocket);

impl DatagramListener {
    /// Takes over a bound socket.
    ///
    /// One that is bound to every address tells of each datagram to which of them it came, so that the answer can come from
    /// there: clients take no answer from another address.
    ///
    /// # Errors
    /// What the kernel says, or the loop where it can't register the socket.
    pub fn new(socket: OwnedFd) -> io::Result<Self> {
        let socket = UdpSocket::from_std(socket.into())?;
        let bound = socket.local_addr()?;
        if bound.ip().is_unspecified() {
            ask_for_local(socket.as_fd(), bound.is_ipv4())?;
        }
        Ok(Self { socket, bound })
    }

    /// Where it is bound.
    pub fn bound(&self) -> SocketAddr {
        self.bound
    }

    /// The address of ours in a flow.
    pub fn local_of(&self, flow: &Flow) -> SocketAddr {
        SocketAddr::new(flow.local.unwrap_or_else(|| self.bound.ip()), self.bound.port())
    }

    /// Waits until there may be a datagram.
    ///
    /// # Errors
    /// When the loop has ended.
    pub async fn readable(&self) -> io::Result<()> {
        self.socket.readable().await
    }

    /// Waits until there may be room for an answer.
    ///
    /// # Errors
    /// When the loop has ended.
    pub async fn writable(&self) -> io::Result<()> {
        self.socket.writable().await
    }

    /// Takes a datagram into `room`, and tells its length and whose it is. Of one that is longer than `room` the rest is lost.
    ///
    /// # Errors
    /// `WouldBlock` where there is none, and what else the kernel says.
    ///
    /// # Cost
    /// One system call.
    pub fn try_receive(&self, room: &mut [u8]) -> io::Result<(usize, Flow)> {
        if !self.bound.ip().is_unspecified() {
            let (count, client) = self.socket.try_recv_from(room)?;
            return Ok((count, Flow { client, local: None }));
        }
        self.socket.try_io(Interest::READABLE, || receive_with_local(&self.socket, room))
    }

    /// Sends a datagram to the client of a flow, from the address that it writes to.
    ///
    /// # Errors
    /// `WouldBlock` where there is no room for it now, and what else the kernel says.
    ///
    /// # Cost
    /// One system call.
    pub fn try_send(&self, bytes: &[u8], flow: &Flow) -> io::Result<()> {
        self.socket.try_io(Interest::WRITABLE, || match flow.local {
            None => SockRef::from(&self.socket).send_to(bytes, &flow.client.into()).map(drop),
            Some(local) => {
                let (control, len) = control_of(local);
                let client = SockAddr::from(flow.client);
                let buffers = [IoSlice::new(bytes)];
                let message = MsgHdr::new()
                    .with_addr(&client)
                    .with_buffers(&buffers)
                    .with_control(control.get(..len).unwrap_or_default());
                SockRef::from(&self.socket).sendmsg(&message, 0).map(drop)
            }
        })
    }
}

impl DatagramLink {
    /// A socket whose other end is `address`; nothing is sent for that.
    ///
    /// # Errors
    /// What the kernel says of `socket` or `connect`, such as that there is no way to that address.
    ///
    /// # Cost
    /// Three system calls.
    pub fn connect(address: SocketAddr) -> io::Result<Self> {
        let kind = Type::DGRAM.nonblocking().cloexec();
        let socket = Socket::new(Domain::for_address(address), kind, Some(Protocol::UDP))?;
        socket.connect(&address.into())?;
        UdpSocket::from_std(socket.into()).map(Self)
    }

    /// Waits until there may be a datagram, or word that the endpoint takes none.
    ///
    /// # Errors
    /// When the loop has ended.
    pub async fn ready(&self) -> io::Result<()> {
        self.0.ready(Interest::READABLE.add(Interest::ERROR)).await.map(drop)
    }

    /// Takes a datagram into `room` and tells its length.
    ///
    /// # Errors
    /// `WouldBlock` where there is none, `ConnectionRefused` where the endpoint takes none.
    ///
    /// # Cost
    /// One system call, unless it is known that there is nothing; two for the word that the endpoint takes nothing.
    pub fn try_receive(&self, room: &mut [u8]) -> io::Result<usize> {
        let mut receive = || {
            let (count, _) = rustix::net::recv(&self.0, &mut *room, rustix::net::RecvFlags::empty())?;
            Ok(count)
        };
        // The loop knows of both apart, and forgets only what it is asked for.
        match self.0.try_io(Interest::READABLE, &mut receive) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.0.try_io(Interest::ERROR, &mut receive)
            }
            received => received,
        }
    }

    /// Sends a datagram.
    ///
    /// # Errors
    /// `WouldBlock` where there is no room for it now, `ConnectionRefused` where the endpoint did not take one before.
    ///
    /// # Cost
    /// One system call.
    pub fn try_send(&self, bytes: &[u8]) -> io::Result<()> {
        // Not by way of the loop: it has not yet looked whether a socket of just now takes anything.
        rustix::net::send(&self.0, bytes, SendFlags::DONTWAIT)?;
        Ok(())
    }
}

/// Has the kernel tell of each datagram to which address it came.
fn ask_for_local(socket: BorrowedFd<'_>, is_ipv4: bool) -> io::Result<()> {
    let (level, option) = if is_ipv4 {
        (libc::IPPROTO_IP, libc::IP_PKTINFO)
    } else {
        (libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO)
    };
    let on: libc::c_int = 1;
    let len = libc::socklen_t::try_from(size_of_val(&on)).map_err(io::Error::other)?;
    // SAFETY: the descriptor is open while it is borrowed, and `on` lives through the call and is as long as said.
    let answer = unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const on).cast(), len) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Takes a datagram with what the kernel says of it.
fn receive_with_local(socket: &UdpSocket, room: &mut [u8]) -> io::Result<(usize, Flow)> {
    // The longest address there can be: that of IPv4 is shorter.
    let mut client = SockAddr::from(SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)));
    let mut control = [MaybeUninit::new(0_u8); CONTROL_BYTES];
    let count = {
        let mut buffers = [MaybeUninitSlice::new(as_uninit(room))];
        let mut message =
            MsgHdrMut::new().with_addr(&mut client).with_buffers(&mut buffers).with_control(&mut control);
        SockRef::from(socket).recvmsg(&mut message, 0)?
    };
    // SAFETY: each byte was set above, and the kernel only ever sets bytes.
    let control = control.map(|byte| unsafe { byte.assume_init() });
    let client = client.as_socket().ok_or(io::ErrorKind::InvalidData)?;
    Ok((count, Flow { client, local: local_in(&control) }))
}

/// The same bytes, as the system call wants them that only ever writes to them.
fn as_uninit(room: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: both have one layout, and the only user writes bytes into it, never anything that is not set.
    unsafe { &mut *(std::ptr::from_mut(room) as *mut [MaybeUninit<u8>]) }
}

/// The address that the first message of the kernel's names as the one a datagram came to.
///
/// # Spec
/// ip(7), `IP_PKTINFO`; RFC 3542 §6.1.
pub(super) fn local_in(control: &[u8]) -> Option<IpAddr> {
    let number =
        |at: usize| -> Option<i32> { control.get(at..at + 4)?.try_into().map(i32::from_ne_bytes).ok() };
    let len = size_of::<usize>();
    let data = control.get(HEADER_BYTES..)?;
    match (number(len)?, number(len + 4)?) {
        (libc::IPPROTO_IP, libc::IP_PKTINFO) => {
            let octets: [u8; 4] = data.get(4..8)?.try_into().ok()?;
            Some(Ipv4Addr::from(octets).into())
        }
        (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
            let octets: [u8; 16] = data.get(..16)?.try_into().ok()?;
            Some(Ipv6Addr::from(octets).into())
        }
        _ => None,
    }
}

/// A message that has the kernel send from this address, and its length.
pub(super) fn control_of(local: IpAddr) -> ([u8; CONTROL_BYTES], usize) {
    let (level, kind, data_len) = match local {
        IpAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_PKTINFO, 12),
        IpAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, 20),
    };
    let len = HEADER_BYTES + data_len;
    let mut control = [0; CONTROL_BYTES];
    let mut end = 0;
    let mut put = |bytes: &[u8]| {
        if let Some(room) = control.get_mut(end..end + bytes.len()) {
            room.copy_from_slice(bytes);
        }
        end += bytes.len();
    };
    put(&len.to_ne_bytes());
    put(&level.to_ne_bytes());
    put(&kind.to_ne_bytes());
    // What is left zero: from any interface, and to no other destination.
    match local {
        IpAddr::V4(local) => {
            put(&[0; 4]);
            put(&local.octets());
        }
        IpAddr::V6(local) => put(&local.octets()),
    }
    (control, len.next_multiple_of(size_of::<usize>()))
}

/// What stands before the data of a message of the kernel's: its length, level and kind.
const HEADER_BYTES: usize = size_of::<libc::cmsghdr>();
/// Room for one such message.
pub(super) const CONTROL_BYTES: usize = 64;
