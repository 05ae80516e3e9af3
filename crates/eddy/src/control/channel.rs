//! One end of the socket between parent and child: carries whole messages with descriptors.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::MemfdFlags;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Maximum descriptors per message; the kernel's own limit is 253.
pub(crate) const DESCRIPTORS_PER_MESSAGE: usize = 64;

/// Maximum size of a message, in bytes.
pub(super) const MESSAGE_BYTES_MAX: usize = 64 * 1024;

/// Maximum size of a memory file that is read, in bytes.
const MEMORY_FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// One end of a control socket. Sending and receiving never block; poll the descriptor to wait.
#[derive(Debug)]
pub(crate) struct Channel {
    socket: OwnedFd,
}

/// Result of reading from the socket.
#[derive(Debug)]
pub(crate) enum Received<M> {
    /// Message with its descriptors.
    Message(M, Vec<OwnedFd>),
    /// Message that this version does not know; its descriptors were closed.
    Unknown(String),
    /// No message is waiting.
    Nothing,
    /// The other end is closed and everything it sent was read.
    Closed,
}

impl Channel {
    /// Creates both ends; the second is meant to become another process's standard input.
    ///
    /// # Errors
    /// Errors of `socketpair`.
    pub(crate) fn pair() -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        Ok((Self { socket: ours }, theirs))
    }

    /// Takes over the end at standard input and puts `/dev/null` there.
    ///
    /// # Errors
    /// When standard input is not a seqpacket socket, or the kernel refuses a descriptor.
    pub(crate) fn from_stdin() -> io::Result<Self> {
        let socket = eddy_io::duplicate(io::stdin())?;
        if rustix::net::sockopt::socket_type(&socket)? != SocketType::SEQPACKET {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "standard input is not a control socket",
            ));
        }
        rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
        Ok(Self { socket })
    }

    /// Wraps an end received from elsewhere.
    pub(crate) fn from_fd(socket: OwnedFd) -> Self {
        Self { socket }
    }

    /// Sends one message with descriptors, of which the receiver gets copies.
    ///
    /// # Errors
    /// `WouldBlock` when the other side does not read, `BrokenPipe` when it is gone, `InvalidInput` when the message is
    /// too long.
    pub(crate) fn send<M: Serialize>(&self, message: &M, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let text = serde_json::to_vec(message)?;
        if text.len() > MESSAGE_BYTES_MAX || descriptors.len() > DESCRIPTORS_PER_MESSAGE {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a control message is too long"));
        }
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_PER_MESSAGE))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() {
            let fits = control.push(SendAncillaryMessage::ScmRights(descriptors));
            debug_assert!(fits, "the space is made for this many descriptors");
        }
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        retry(|| rustix::net::sendmsg(&self.socket, &[IoSlice::new(&text)], &mut control, flags))?;
        Ok(())
    }

    /// Reads the next message, if one is waiting.
    ///
    /// # Errors
    /// Errors of `recvmsg`; `InvalidData` when a message or its descriptors were truncated, as happens when this
    /// process has reached its limit of open files.
    pub(crate) fn receive<M: DeserializeOwned>(&self) -> io::Result<Received<M>> {
        let mut text = vec![0; MESSAGE_BYTES_MAX];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_PER_MESSAGE))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let taken = match retry(|| {
            rustix::net::recvmsg(&self.socket, &mut [IoSliceMut::new(&mut text)], &mut control, flags)
        }) {
            Ok(taken) => taken,
            Err(rustix::io::Errno::AGAIN) => return Ok(Received::Nothing),
            Err(rustix::io::Errno::CONNRESET) => return Ok(Received::Closed),
            Err(error) => return Err(error.into()),
        };
        if taken.bytes == 0 {
            return Ok(Received::Closed);
        }
        if taken.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a control message was cut short"));
        }
        let descriptors = control
            .drain()
            .filter_map(|message| {
                if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                    Some(descriptors)
                } else {
                    None
                }
            })
            .flatten()
            .collect();
        let text = text.get(..taken.bytes).unwrap_or_default();
        Ok(match serde_json::from_slice(text) {
            Ok(message) => Received::Message(message, descriptors),
            Err(_) => Received::Unknown(String::from_utf8_lossy(text).into_owned()),
        })
    }

    /// Waits until there is something to receive, or for less time; returns false once the deadline is reached.
    pub(crate) fn wait(&self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        let Some(timeout) = Timespec::try_from(left).ok().filter(|_| !left.is_zero()) else { return false };
        // A failed wait only makes the next check early.
        let _ = poll(&mut [PollFd::new(self, PollFlags::IN)], Some(&timeout));
        true
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Writes `bytes` to a new memory file, to pass more than a message can hold.
///
/// # Errors
/// Errors of `memfd_create` or `write`.
pub(crate) fn memory_file(name: &str, bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = File::from(rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    Ok(file.into())
}

/// Reads the contents of a [`memory_file`]. Other processes may read it at the same time.
///
/// # Errors
/// Errors of `read`; `InvalidData` when the file is larger than any that eddy writes.
pub(crate) fn read_memory_file(file: &OwnedFd) -> io::Result<Vec<u8>> {
    let file = File::from(eddy_io::duplicate(file)?);
    let length = file.metadata()?.len();
    if length > MEMORY_FILE_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the memory file is too long"));
    }
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
    // Descriptors of one file share their position, so the file is read by offset.
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

fn retry<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> rustix::io::Result<T> {
    loop {
        match call() {
            Err(rustix::io::Errno::INTR) => {}
            other => return other,
        }
    }
}
