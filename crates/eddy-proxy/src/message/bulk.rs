//! Zero-copy transfer (splice) of the rest of a body that needs no inspection.

use std::rc::Rc;
use std::task::{Context, Poll};

use eddy_io::{PipePool, Splice, SpliceFault, Spliced, Stream};

use crate::message::pump::Pump;

/// Remaining body bytes from which a pipe pays off; below that, copying costs no more.
const BULK_BYTES: u64 = 128 * 1024;

/// State of one direction of an exchange whose body is spliced from stream to stream.
#[derive(Debug, Default)]
pub(crate) struct Bulk {
    splice: Splice,
    /// Once begun, splicing goes on to the end of the body.
    is_begun: bool,
}

/// Result of one splice step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moved {
    /// Splicing does not apply; the bytes have to be copied.
    Nothing,
    /// Number of bytes written.
    Bytes(usize),
    /// The source ended before the body did.
    SourceEnded,
    /// The source has no data at present.
    AwaitsSource,
    /// The sink accepts no data at present.
    AwaitsSink,
}

impl Bulk {
    /// Moves part of the rest of a body of known length. Bytes that were read before must have been written.
    pub(crate) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        pump: &mut Pump,
        source: &Stream,
        sink: &Stream,
        pipes: &Rc<PipePool>,
    ) -> Result<Moved, SpliceFault> {
        let mut left = pump.spliceable_bytes();
        if !self.splice.holds_bytes() {
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
            Poll::Ready(Ok(Spliced::End)) => Moved::SourceEnded,
            Poll::Ready(Ok(Spliced::NoPipe | Spliced::Done)) => Moved::Nothing,
            Poll::Ready(Err(fault)) => return Err(fault),
            Poll::Pending if self.splice.holds_bytes() => Moved::AwaitsSink,
            Poll::Pending => Moved::AwaitsSource,
        })
    }
}
