//! Shared parts of the link tests.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::memory::Memory;
use crate::ring::{Consumer, LinkRole, Producer, memory_bytes, split};
use crate::{CallHandler, Incoming, LinkLimits, ProcessLink, accept_stream, connect_stream};

/// Longer than any successful operation takes.
pub(super) const SOON: Duration = Duration::from_secs(20);

/// Returns limits with small rings, which fill up sooner.
pub(super) fn small() -> LinkLimits {
    LinkLimits { ring_bytes: 4096, message_bytes_max: 1 << 20, calls_max: 16, ..LinkLimits::default() }
}

/// Returns two ends of a link in one process.
pub(super) fn linked(
    limits: LinkLimits,
    ours: impl CallHandler,
    theirs: impl CallHandler,
) -> (ProcessLink, ProcessLink) {
    let (left, right) = UnixStream::pair().unwrap();
    let other = thread::spawn(move || accept_stream(right, limits, theirs).unwrap());
    let link = connect_stream(left, limits, ours).unwrap();
    (link, other.join().unwrap())
}

/// Answers with the argument bytes.
pub(super) fn echo(call: Incoming) {
    let bytes = call.bytes().to_vec();
    call.answer(bytes);
}

/// Returns the two ends of one ring, and the memory for a peer that writes anything there.
pub(super) fn ring(ring_bytes: usize) -> (Producer, Consumer, Memory) {
    let (memory, fd) = Memory::create(memory_bytes(ring_bytes)).unwrap();
    let (producer, _) = split(Arc::new(memory), ring_bytes, LinkRole::Connector);
    let (_, consumer) = split(Arc::new(adopted(&fd, ring_bytes)), ring_bytes, LinkRole::Acceptor);
    (producer, consumer, adopted(&fd, ring_bytes))
}

fn adopted(fd: &OwnedFd, ring_bytes: usize) -> Memory {
    Memory::adopt(fd, memory_bytes(ring_bytes)).unwrap()
}

/// Deterministic pseudo-random numbers.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.roll() % limit as u64).unwrap()
    }
}
