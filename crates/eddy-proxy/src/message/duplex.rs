//! End of a relay: a connection, or a stream of one.

use std::io;
use std::task::{Context, Poll};

use eddy_http::ErrorCode;
use eddy_io::{Buffer, Fill, Stream};

use crate::h2::{AfterData, H2Stream};

/// One of the two ends of a relay.
pub(crate) trait DuplexStream {
    /// Returns the stream if its bytes can be spliced in the kernel.
    fn plain(&self) -> Option<&Stream>;

    /// Waits until there may be something to read, without a buffer to read it into.
    fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Reads into the free space of `buffer`, which must have some.
    fn poll_fill(&mut self, cx: &mut Context<'_>, buffer: &mut Buffer) -> Poll<io::Result<Fill>>;

    /// Writes some of `bytes` and returns how many.
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;

    /// Signals to the peer that nothing more will be written.
    ///
    /// # Errors
    /// When the peer is gone.
    fn end(&mut self) -> io::Result<()>;

    /// Makes the following close an abortive one, which the peer cannot mistake for a regular end; errors are ignored.
    fn cut(&self);
}

impl DuplexStream for Stream {
    fn plain(&self) -> Option<&Stream> {
        self.is_plain().then_some(self)
    }

    fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Self::poll_readable(self, cx)
    }

    fn poll_fill(&mut self, cx: &mut Context<'_>, buffer: &mut Buffer) -> Poll<io::Result<Fill>> {
        Self::poll_fill(self, cx, buffer)
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Self::poll_write(self, cx, bytes)
    }

    fn end(&mut self) -> io::Result<()> {
        self.shutdown_write()
    }

    fn cut(&self) {
        // A peer that is already gone needs no signal.
        let _ = self.reset_on_close();
    }
}

impl DuplexStream for H2Stream {
    fn plain(&self) -> Option<&Stream> {
        None
    }

    fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Self::poll_readable(self, cx).map(Ok)
    }

    fn poll_fill(&mut self, cx: &mut Context<'_>, buffer: &mut Buffer) -> Poll<io::Result<Fill>> {
        self.poll_read(cx, buffer)
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_send(cx, bytes, &[], AfterData::More)
    }

    fn end(&mut self) -> io::Result<()> {
        self.send_end(&[])
    }

    fn cut(&self) {
        self.end_with(ErrorCode::Connect);
    }
}
