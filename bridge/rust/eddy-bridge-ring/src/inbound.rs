//! What comes from the other side: whoever has the lock reads, one at a time.

use crate::assembler::{Assembler, LinkMessage};
use crate::fault::Misconduct;
use crate::ring::Consumer;
use crate::socket::Bell;

/// The way from the other side.
#[derive(Debug)]
pub(crate) struct Inbound {
    pub(crate) consumer: Consumer,
    pub(crate) assembler: Assembler,
    pub(crate) bell: Bell,
}

/// Who reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReaderRole {
    /// The link's own thread, which takes calls too.
    Link,
    /// A thread that waits for an answer. It must not run a handler, which could want what the thread has locked.
    Caller,
}

/// What a look into the ring gave.
#[derive(Debug)]
pub(crate) enum InboundPoll {
    Message(LinkMessage),
    /// What is next is for the link's own thread.
    ForLink,
    Nothing,
}

impl Inbound {
    /// The next message that has wholly come.
    pub(crate) fn next(&mut self, reader: ReaderRole) -> Result<InboundPoll, Misconduct> {
        while let Some(frame) = self.consumer.peek()? {
            if reader == ReaderRole::Caller && self.assembler.is_for_reader(&frame) {
                return Ok(InboundPoll::ForLink);
            }
            let bytes = self.assembler.accept(&frame)?;
            self.consumer.take(&frame, bytes);
            if self.consumer.takes_writer_sleep() {
                self.bell.ring();
            }
            if let Some(message) = self.assembler.take_whole() {
                return Ok(InboundPoll::Message(message));
            }
        }
        Ok(InboundPoll::Nothing)
    }
}
