//! What a link may use at most.

use std::thread::available_parallelism;
use std::time::Duration;

use crate::fault::LinkError;

/// What a link may use at most. Each side has its own; what one side sends is held to the other's as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkLimits {
    /// Bytes of each of the two rings: a power of two from 4 KiB to 64 MiB. The side that connects says how many;
    /// the other accepts up to its own figure. A message that is longer than a quarter of a ring goes in pieces.
    pub ring_bytes: usize,
    /// Bytes of one message that are accepted from the other side, at most 1 GiB.
    pub message_bytes_max: usize,
    /// Calls that may be unanswered at a time, in each direction.
    pub calls_max: usize,
    /// Bytes of the other side's calls that may be unanswered at a time; a single call may always have
    /// [`message_bytes_max`](Self::message_bytes_max).
    pub calls_bytes_max: usize,
    /// How long a thread watches the ring before it sleeps. A wake costs microseconds and often a system call on
    /// both sides; watching costs a core. On a machine with one core nobody watches.
    pub spin: Duration,
    /// How long the other side may leave a full ring untouched before the link ends.
    pub stall: Duration,
    /// How long the two sides may take to agree on a link.
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
    /// These limits, if they can be kept.
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

/// Whether a ring can have so many bytes.
pub(crate) fn is_ring_size(bytes: usize) -> bool {
    bytes.is_power_of_two() && (RING_BYTES_MIN..=RING_BYTES_MAX).contains(&bytes)
}

const RING_BYTES_MIN: usize = 4 * 1024;
const RING_BYTES_MAX: usize = 64 * 1024 * 1024;
/// More than anybody should send in one piece of memory, and it keeps sums of lengths far from overflow.
const MESSAGE_BYTES_MAX: usize = 1024 * 1024 * 1024;
const CALLS_MAX: usize = 1024 * 1024;
