//! UDP sockets: bound sockets that receive from any client, and sockets connected to one endpoint.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::net::SendFlags;
use socket2::{Domain, MaybeUninitSlice, MsgHdr, MsgHdrMut, Protocol, SockAddr, SockRef, Socket, Type};
use tokio::io::Interest;
use tokio::net::UdpSocket;

/// Buffer size for any UDP datagram, in bytes: at most 65,507 over IPv4 and 65,527 over IPv6.
pub const DATAGRAM_BYTES_MAX: usize = 65_535;

/// Both ends of the datagrams of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flow {
    /// Client address.
    pub client: SocketAddr,
    /// Local address that the client sends to, if the socket is bound to several.
    pub local: Option<IpAddr>,
}

/// Bound UDP socket that receives from any client, registered with a worker's event loop.
#[derive(Debug)]
pub struct DatagramListener {
    socket: UdpSocket,
    bound: SocketAddr,
}

/// UDP socket connected to one endpoint, registered with a worker's event loop.
#[derive(Debug)]
pub struct DatagramLink(UdpSocket);

impl DatagramListener {
    /// Takes over a bound socket.
    ///
    /// A socket that is bound to the unspecified address reports the destination address of each datagram, so that the
    /// response can be sent from it: clients accept no response from another address.
    ///
    /// # Errors
    /// Errors of the kernel, or of the event loop when it cannot register the socket.
    pub fn new(socket: OwnedFd) -> io::Result<Self> {
        let socket = UdpSocket::from_std(socket.into())?;
        let bound = socket.local_addr()?;
        if bound.ip().is_unspecified() {
            enable_local_address(socket.as_fd(), bound.is_ipv4())?;
        }
        Ok(Self { socket, bound })
    }

    /// Returns the bound address.
    pub fn bound(&self) -> SocketAddr {
        self.bound
    }

    /// Returns the local address of a flow.
    pub fn local_of(&self, flow: &Flow) -> SocketAddr {
        SocketAddr::new(flow.local.unwrap_or_else(|| self.bound.ip()), self.bound.port())
    }

    /// Waits until there may be a datagram.
    ///
    /// # Errors
    /// When the event loop has ended.
    pub async fn readable(&self) -> io::Result<()> {
        self.socket.readable().await
    }

    /// Waits until there may be room to send.
    ///
    /// # Errors
    /// When the event loop has ended.
    pub async fn writable(&self) -> io::Result<()> {
        self.socket.writable().await
    }

    /// Receives a datagram into `room` and returns its length and flow. A datagram longer than `room` is truncated.
    ///
    /// # Errors
    /// `WouldBlock` when there is none, and other errors of the kernel.
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

    /// Sends a datagram to the client of a flow, from the address that the client sends to.
    ///
    /// # Errors
    /// `WouldBlock` when there is no room in the socket buffer, and other errors of the kernel.
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
                let message =
                    MsgHdr::new().with_addr(&client).with_buffers(&buffers).with_control(&control[..len]);
                SockRef::from(&self.socket).sendmsg(&message, 0).map(drop)
            }
        })
    }
}

impl DatagramLink {
    /// Creates a socket connected to `address`; this sends nothing.
    ///
    /// # Errors
    /// Errors of `socket` or `connect`, such as an unreachable address.
    ///
    /// # Cost
    /// Three system calls.
    pub fn connect(address: SocketAddr) -> io::Result<Self> {
        let kind = Type::DGRAM.nonblocking().cloexec();
        let socket = Socket::new(Domain::for_address(address), kind, Some(Protocol::UDP))?;
        socket.connect(&address.into())?;
        UdpSocket::from_std(socket.into()).map(Self)
    }

    /// Waits until there may be a datagram or an ICMP error of the endpoint.
    ///
    /// # Errors
    /// When the event loop has ended.
    pub async fn ready(&self) -> io::Result<()> {
        self.0.ready(Interest::READABLE.add(Interest::ERROR)).await.map(drop)
    }

    /// Receives a datagram into `room` and returns its length.
    ///
    /// # Errors
    /// `WouldBlock` when there is none, `ConnectionRefused` when the endpoint's port is closed.
    ///
    /// # Cost
    /// One system call, none if the event loop knows that nothing is ready; two for `ConnectionRefused`.
    pub fn try_receive(&self, room: &mut [u8]) -> io::Result<usize> {
        let mut receive = || {
            let (count, _) = rustix::net::recv(&self.0, &mut *room, rustix::net::RecvFlags::empty())?;
            Ok(count)
        };
        // The event loop tracks readable and error readiness separately, and clears only the one asked for.
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
    /// `WouldBlock` when there is no room in the socket buffer, `ConnectionRefused` when the endpoint refused an
    /// earlier datagram.
    ///
    /// # Cost
    /// One system call.
    pub fn try_send(&self, bytes: &[u8]) -> io::Result<()> {
        // Bypasses the event loop, which does not know yet whether a new socket is writable.
        rustix::net::send(&self.0, bytes, SendFlags::DONTWAIT)?;
        Ok(())
    }
}

/// Makes the kernel report the destination address of each datagram.
fn enable_local_address(socket: BorrowedFd<'_>, is_ipv4: bool) -> io::Result<()> {
    let (level, option) = if is_ipv4 {
        (libc::IPPROTO_IP, libc::IP_PKTINFO)
    } else {
        (libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO)
    };
    let on: libc::c_int = 1;
    let len = libc::socklen_t::try_from(size_of_val(&on)).map_err(io::Error::other)?;
    // SAFETY: the descriptor is open while it is borrowed; `on` lives through the call and has the length given.
    let answer = unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const on).cast(), len) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Receives a datagram with its destination address.
fn receive_with_local(socket: &UdpSocket, room: &mut [u8]) -> io::Result<(usize, Flow)> {
    // An IPv6 address is the longest possible one.
    let mut client = SockAddr::from(SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)));
    let mut control = [MaybeUninit::new(0_u8); CONTROL_BYTES];
    let count = {
        let mut buffers = [MaybeUninitSlice::new(as_uninit(room))];
        let mut message =
            MsgHdrMut::new().with_addr(&mut client).with_buffers(&mut buffers).with_control(&mut control);
        SockRef::from(socket).recvmsg(&mut message, 0)?
    };
    // SAFETY: each byte was set above, and the kernel only writes initialised bytes.
    let control = control.map(|byte| unsafe { byte.assume_init() });
    let client = client.as_socket().ok_or(io::ErrorKind::InvalidData)?;
    Ok((count, Flow { client, local: local_in(&control) }))
}

/// Views the bytes as possibly uninitialised, as the receiving system call wants them; it only writes to them.
fn as_uninit(room: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: both have one layout, and the only user writes initialised bytes into it, never uninitialised ones.
    unsafe { &mut *(std::ptr::from_mut(room) as *mut [MaybeUninit<u8>]) }
}

/// Returns the destination address in the first control message.
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

/// Returns a control message that sets the source address, and its length.
pub(super) fn control_of(local: IpAddr) -> ([u8; CONTROL_BYTES], usize) {
    let (level, kind, data_len) = match local {
        IpAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_PKTINFO, 12),
        IpAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, 20),
    };
    let len = HEADER_BYTES + data_len;
    let mut control = [0; CONTROL_BYTES];
    let mut end = 0;
    let mut put = |bytes: &[u8]| {
        control[end..end + bytes.len()].copy_from_slice(bytes);
        end += bytes.len();
    };
    put(&len.to_ne_bytes());
    put(&level.to_ne_bytes());
    put(&kind.to_ne_bytes());
    // The rest stays zero: any interface, and no other destination.
    match local {
        IpAddr::V4(local) => {
            put(&[0; 4]);
            put(&local.octets());
        }
        IpAddr::V6(local) => put(&local.octets()),
    }
    (control, len.next_multiple_of(size_of::<usize>()))
}

/// Size of a control message header: length, level and type.
const HEADER_BYTES: usize = size_of::<libc::cmsghdr>();
/// Buffer size for one control message.
pub(super) const CONTROL_BYTES: usize = 64;
