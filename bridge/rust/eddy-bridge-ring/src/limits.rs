//! Resource limits of a link.

use std::thread::available_parallelism;
use std::time::Duration;

use crate::fault::LinkError;

/// Resource limits of a link. Each side has its own; what a side sends must respect the other side's limits as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkLimits {
    /// Bytes of each of the two rings: a power of two from 4 KiB to 64 MiB. The connecting side chooses the size; the
    /// other one accepts sizes up to its own value. A message longer than a quarter of a ring is sent in pieces.
    pub ring_bytes: usize,
    /// Maximum bytes of a message from the other side, at most 1 GiB.
    pub message_bytes_max: usize,
    /// Maximum pending calls, in each direction.
    pub calls_max: usize,
    /// Maximum bytes of the other side's unanswered calls; a single call may always have
    /// [`message_bytes_max`](Self::message_bytes_max).
    pub calls_bytes_max: usize,
    /// Time that a thread polls the ring before it sleeps. A wake costs microseconds and often a system call on both
    /// sides; polling occupies a core. On a machine with one core no thread polls.
    pub spin: Duration,
    /// Time that the other side may leave a full ring unread before the link ends.
    pub stall: Duration,
    /// Timeout of the handshake.
    pub handshake: Duration,
}

impl Default for LinkLimits {
    fn default() -> Self {
        Self {
            ring_bytes: 256 * 1024,
            message_bytes_max: 16 * 1024 * 1024,
            calls_max: 1024,
            calls_bytes_max: 64 * 1024 * 1024,
            spin: Duration::from_micros(20),
            stall: Duration::from_secs(5),
            handshake: Duration::from_secs(5),
        }
    }
}

impl LinkLimits {
    /// Returns these limits if they are valid.
    pub(crate) fn check(mut self) -> Result<Self, LinkError> {
        if !is_ring_size(self.ring_bytes) {
            return Err(LinkError::RingBytes(self.ring_bytes));
        }
        if self.message_bytes_max > MESSAGE_BYTES_MAX {
            return Err(LinkError::MessageBytes(self.message_bytes_max));
        }
        if self.calls_max == 0 || self.calls_max > CALLS_MAX {
            return Err(LinkError::Calls(self.calls_max));
        }
        if available_parallelism().is_ok_and(|cores| cores.get() == 1) {
            self.spin = Duration::ZERO;
        }
        Ok(self)
    }
}

/// Whether a ring can have this size.
pub(crate) fn is_ring_size(bytes: usize) -> bool {
    bytes.is_power_of_two() && (RING_BYTES_MIN..=RING_BYTES_MAX).contains(&bytes)
}

const RING_BYTES_MIN: usize = 4 * 1024;
const RING_BYTES_MAX: usize = 64 * 1024 * 1024;
/// More than should be sent in one piece, and small enough that sums of lengths cannot overflow.
const MESSAGE_BYTES_MAX: usize = 1024 * 1024 * 1024;
const CALLS_MAX: usize = 1024 * 1024;
