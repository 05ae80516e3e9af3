//! Receiving side of a link; only the thread that holds its lock reads.

use crate::assembler::{Assembler, LinkMessage};
use crate::fault::Misconduct;
use crate::ring::Consumer;
use crate::socket::PeerWaker;

/// Incoming ring with its message assembler.
#[derive(Debug)]
pub(crate) struct Inbound {
    pub(crate) consumer: Consumer,
    pub(crate) assembler: Assembler,
    pub(crate) bell: PeerWaker,
}

/// The thread that reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReaderRole {
    /// The link's own thread, which also handles calls.
    Link,
    /// A thread that waits for an answer. It must not run a handler, which could need a lock that the thread holds.
    Caller,
}

/// Result of polling the ring.
#[derive(Debug)]
pub(crate) enum InboundPoll {
    Message(LinkMessage),
    /// The next frame is for the link's own thread.
    ForLink,
    Nothing,
}

impl Inbound {
    /// Returns the next complete message.
    pub(crate) fn next(&mut self, reader: ReaderRole) -> Result<InboundPoll, Misconduct> {
        while let Some(frame) = self.consumer.peek()? {
            if reader == ReaderRole::Caller && self.assembler.is_for_reader(&frame) {
                return Ok(InboundPoll::ForLink);
            }
            let bytes = self.assembler.accept(&frame)?;
            self.consumer.take(&frame, bytes);
            if self.consumer.must_wake_writer() {
                self.bell.ring();
            }
            if let Some(message) = self.assembler.take_whole() {
                return Ok(InboundPoll::Message(message));
            }
        }
        Ok(InboundPoll::Nothing)
    }
}
