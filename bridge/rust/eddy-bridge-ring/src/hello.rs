//! Handshake of the two sides over the socket, before the ring is used.
//!
//! The connecting side sends its limits and passes the shared memory; the other one answers with its own limits, or
//! rejects. Each message has 40 bytes: eight letters, the version, a status, bytes of a ring, bytes of a message,
//! maximum concurrent calls.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::cmsg_space;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

use crate::fault::LinkError;
use crate::limits::{LinkLimits, is_ring_size};
use crate::memory::Memory;
use crate::ring::memory_bytes;

/// Limits accepted by the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Agreed {
    pub(crate) ring_bytes: usize,
    /// Maximum bytes of a message that the other side accepts.
    pub(crate) message_bytes_max: usize,
    /// Maximum concurrent calls that the other side accepts.
    pub(crate) calls_max: usize,
}

/// Offers a link, and waits for the answer of the other side.
pub(crate) fn offer(socket: &UnixStream, limits: &LinkLimits) -> Result<(Memory, Agreed), LinkError> {
    let clock = HandshakeTimer::start(limits.handshake);
    let (memory, fd) = Memory::create(memory_bytes(limits.ring_bytes)).map_err(LinkError::Memory)?;
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fds = [fd.as_fd()];
    control.push(SendAncillaryMessage::ScmRights(&fds));
    clock.apply(socket)?;
    let words = hello(ACCEPTED, limits);
    let sent = sendmsg(socket, &[IoSlice::new(&words)], &mut control, SendFlags::NOSIGNAL);
    let sent = sent.map_err(|error| clock.explain(error.into()))?;
    clock.write(socket, words.get(sent..).unwrap_or_default())?;
    let mut answer = [0; HELLO_BYTES];
    clock.read(socket, &mut answer)?;
    let said = HelloReply::parse(&answer)?;
    match said.status {
        ACCEPTED if said.agreed.ring_bytes == limits.ring_bytes => Ok((memory, said.agreed)),
        ACCEPTED => Err(LinkError::Hello("the ring size differs from the offer")),
        refused => Err(LinkError::Refused(reason(refused))),
    }
}

/// Waits for an offer, and accepts or rejects it.
pub(crate) fn take(socket: &UnixStream, limits: &LinkLimits) -> Result<(Memory, Agreed), LinkError> {
    let clock = HandshakeTimer::start(limits.handshake);
    let (words, fd) = receive(socket, &clock)?;
    let result = check(&words, fd, limits);
    let status = match &result {
        Ok(_) => ACCEPTED,
        Err(LinkError::Memory(_)) => MEMORY_REFUSED,
        Err(_) => HELLO_REFUSED,
    };
    let ring_bytes = result.as_ref().map_or(limits.ring_bytes, |(_, agreed)| agreed.ring_bytes);
    let answered = clock.write(socket, &hello(status, &LinkLimits { ring_bytes, ..*limits }));
    let linked = result?;
    answered?;
    Ok(linked)
}

fn check(
    words: &[u8; HELLO_BYTES],
    fd: Option<OwnedFd>,
    limits: &LinkLimits,
) -> Result<(Memory, Agreed), LinkError> {
    let said = HelloReply::parse(words)?;
    let ring_bytes = said.agreed.ring_bytes;
    if !is_ring_size(ring_bytes) || ring_bytes > limits.ring_bytes {
        return Err(LinkError::Hello("the offered ring size is not allowed here"));
    }
    let fd = fd.ok_or(LinkError::Hello("no shared memory was passed"))?;
    let memory = Memory::adopt(&fd, memory_bytes(ring_bytes)).map_err(LinkError::Memory)?;
    Ok((memory, said.agreed))
}

/// Receives the first words of the other side and the file descriptor passed with them.
fn receive(
    socket: &UnixStream,
    clock: &HandshakeTimer,
) -> Result<([u8; HELLO_BYTES], Option<OwnedFd>), LinkError> {
    let mut words = [0; HELLO_BYTES];
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    clock.apply(socket)?;
    let received = recvmsg(socket, &mut [IoSliceMut::new(&mut words)], &mut control, RecvFlags::CMSG_CLOEXEC);
    let received = received.map_err(|error| clock.explain(error.into()))?;
    let fd = control.drain().find_map(|message| {
        if let RecvAncillaryMessage::ScmRights(mut fds) = message { fds.next() } else { None }
    });
    if received.bytes == 0 {
        return Err(LinkError::Gone);
    }
    clock.read(socket, words.get_mut(received.bytes..).unwrap_or_default())?;
    Ok((words, fd))
}

/// Handshake message of a side.
#[derive(Debug)]
struct HelloReply {
    status: u32,
    agreed: Agreed,
}

impl HelloReply {
    fn parse(words: &[u8; HELLO_BYTES]) -> Result<Self, LinkError> {
        let (words, _) = words.as_chunks::<8>();
        let [magic, version_and_status, numbers @ ..] = words else {
            return Err(LinkError::Hello("handshake message too short"));
        };
        if magic != MAGIC {
            return Err(LinkError::Hello("not an eddy ring handshake"));
        }
        let [v0, v1, v2, v3, s0, s1, s2, s3] = *version_and_status;
        if u32::from_ne_bytes([v0, v1, v2, v3]) != VERSION {
            return Err(LinkError::Hello("another protocol version: build both sides from the same release"));
        }
        let number = |index: usize| {
            let word = numbers.get(index).copied().unwrap_or_default();
            usize::try_from(u64::from_ne_bytes(word)).unwrap_or(usize::MAX)
        };
        let agreed = Agreed { ring_bytes: number(0), message_bytes_max: number(1), calls_max: number(2) };
        Ok(Self { status: u32::from_ne_bytes([s0, s1, s2, s3]), agreed })
    }
}

fn hello(status: u32, limits: &LinkLimits) -> [u8; HELLO_BYTES] {
    let mut words = [0; HELLO_BYTES];
    let numbers = [limits.ring_bytes, limits.message_bytes_max, limits.calls_max].map(|number| number as u64);
    let said = [u64::from_ne_bytes(*MAGIC), join(VERSION, status), numbers[0], numbers[1], numbers[2]];
    let (places, _) = words.as_chunks_mut::<8>();
    for (place, word) in places.iter_mut().zip(said) {
        *place = word.to_ne_bytes();
    }
    words
}

fn join(first: u32, second: u32) -> u64 {
    let ([a, b, c, d], [e, f, g, h]) = (first.to_ne_bytes(), second.to_ne_bytes());
    u64::from_ne_bytes([a, b, c, d, e, f, g, h])
}

fn reason(status: u32) -> &'static str {
    match status {
        HELLO_REFUSED => "the offer was rejected, for example the ring size",
        MEMORY_REFUSED => "the shared memory can't be used",
        _ => "no reason given",
    }
}

/// Remaining time of the handshake.
struct HandshakeTimer {
    limit: Duration,
    deadline: Instant,
}

impl HandshakeTimer {
    fn start(limit: Duration) -> Self {
        Self { limit, deadline: Instant::now() + limit }
    }

    /// Sets the timeout of the socket's next operation to the remaining time.
    fn apply(&self, socket: &UnixStream) -> Result<(), LinkError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(LinkError::Late(self.limit));
        }
        socket.set_read_timeout(Some(left)).map_err(LinkError::Socket)?;
        socket.set_write_timeout(Some(left)).map_err(LinkError::Socket)
    }

    fn read(&self, mut socket: &UnixStream, mut bytes: &mut [u8]) -> Result<(), LinkError> {
        while !bytes.is_empty() {
            self.apply(socket)?;
            let count = socket.read(bytes).map_err(|error| self.explain(error))?;
            if count == 0 {
                return Err(LinkError::Gone);
            }
            bytes = bytes.get_mut(count..).unwrap_or_default();
        }
        Ok(())
    }

    fn write(&self, mut socket: &UnixStream, bytes: &[u8]) -> Result<(), LinkError> {
        self.apply(socket)?;
        socket.write_all(bytes).map_err(|error| self.explain(error))
    }

    fn explain(&self, error: io::Error) -> LinkError {
        let kind = error.kind();
        if matches!(kind, io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) {
            LinkError::Late(self.limit)
        } else if matches!(kind, io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) {
            LinkError::Gone
        } else {
            LinkError::Socket(error)
        }
    }
}

const HELLO_BYTES: usize = 40;
const MAGIC: &[u8; 8] = b"eddyring";
/// Protocol version. It changes with everything that the other side must know.
const VERSION: u32 = 1;

const ACCEPTED: u32 = 0;
const HELLO_REFUSED: u32 = 1;
const MEMORY_REFUSED: u32 = 2;
