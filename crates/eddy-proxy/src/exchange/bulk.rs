//! The rest of a body that nobody looks at, moved inside of the kernel.

use std::rc::Rc;
use std::task::{Context, Poll};

use eddy_io::{PipePool, Splice, SpliceFault, Spliced, Stream};

use crate::exchange::pump::Pump;

/// Bytes that a body must still have for a pipe to be worth its while: below that copying costs as little.
const BULK_BYTES: u64 = 128 * 1024;

/// One direction of an exchange while its body goes from stream to stream.
#[derive(Debug, Default)]
pub(crate) struct Bulk {
    splice: Splice,
    /// Once begun it goes on to the body's end.
    is_begun: bool,
}

/// What a step of it brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moved {
    /// There is nothing to be moved so: the bytes have to be copied.
    Nothing,
    /// So many bytes were written.
    Bytes(usize),
    /// The source has ended before the body.
    Cut,
    /// The source has nothing now.
    AwaitsSource,
    /// The sink takes nothing now.
    AwaitsSink,
}

impl Bulk {
    /// Whether bytes of the body have been read and not been written.
    pub(crate) fn holds_bytes(&self) -> bool {
        self.splice.holds_bytes()
    }

    /// Moves some of what is left of a body of known length. Nothing that was read before may be waiting to be written.
    ///
    /// # Errors
    /// Which side broke.
    pub(crate) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        pump: &mut Pump,
        source: &Stream,
        sink: &Stream,
        pipes: &Rc<PipePool>,
    ) -> Result<Moved, SpliceFault> {
        let mut left = pump.bulk_left();
        if !self.holds_bytes() {
            let is_worth_it = left >= BULK_BYTES || (self.is_begun && left > 0);
            if !is_worth_it || !source.is_plain() || !sink.is_plain() {
                return Ok(Moved::Nothing);
            }
        }
        let before = left;
        let step = self.splice.poll(cx, source, sink, pipes, &mut left);
        if left < before {
            self.is_begun = true;
            pump.note_passed(before - left);
        }
        Ok(match step {
            Poll::Ready(Ok(Spliced::Bytes(count))) => {
                pump.written_bytes += count as u64;
                Moved::Bytes(count)
            }
            Poll::Ready(Ok(Spliced::End)) => Moved::Cut,
            Poll::Ready(Ok(Spliced::NoPipe | Spliced::Done)) => Moved::Nothing,
            Poll::Ready(Err(fault)) => return Err(fault),
            Poll::Pending if self.holds_bytes() => Moved::AwaitsSink,
            Poll::Pending => Moved::AwaitsSource,
        })
    }
}
