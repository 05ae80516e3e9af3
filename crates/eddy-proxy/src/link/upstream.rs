//! An endpoint as an exchange reaches it.

use std::io;
use std::task::{Context, Poll};

use eddy_http::{ErrorCode, Version};
use eddy_io::{Buffer, BufferPool, Fill, Stream};
use eddy_upstream::Link;

use crate::exchange::{BodyReader, Pump};
use crate::fault::Fault;
use crate::link::shared::LinkStream;
use crate::session::DuplexStream;

/// What an exchange has its endpoint by.
///
/// The request is written by [`Self::poll_request`]; what comes back, heads as text and bodies, is read by [`Self::poll_fill`] and
/// ends by [`Self::end_body`].
#[derive(Debug)]
pub(crate) enum UpstreamChannel {
    /// A link of HTTP/1.
    Link(Link),
    /// A stream of a link of HTTP/2.
    Stream(LinkStream),
}

impl UpstreamChannel {
    /// What is spoken.
    pub(crate) fn version(&self) -> Version {
        match self {
            Self::Link(_) => Version::Http11,
            Self::Stream(_) => Version::Http2,
        }
    }

    /// Writes what is staged of a request, which may stand in `source` in part, and tells how many bytes.
    ///
    /// # Errors
    /// When the endpoint takes no more; it may have answered all the same.
    pub(crate) fn poll_request(
        &mut self,
        cx: &mut Context<'_>,
        upload: &mut Pump,
        source: &mut Buffer,
    ) -> Poll<io::Result<usize>> {
        match self {
            Self::Link(link) => upload.poll_write(cx, &mut link.stream, source),
            Self::Stream(stream) => upload.poll_frames(cx, stream.framed(), source),
        }
    }

    /// Reads more behind what `input` holds, into a buffer of the pool if there is none yet.
    ///
    /// # Errors
    /// When the answer breaks off: [`Self::broken`] tells why.
    pub(crate) fn poll_fill(
        &mut self,
        cx: &mut Context<'_>,
        input: &mut Buffer,
        pool: &BufferPool,
    ) -> Poll<io::Result<Fill>> {
        match self {
            Self::Link(link) => {
                // No buffer is held while there is nothing to put into it.
                if input.capacity() == 0 {
                    if link.stream.poll_readable(cx).is_pending() {
                        return Poll::Pending;
                    }
                    *input = pool.take_large();
                }
                link.stream.poll_fill(cx, input)
            }
            Self::Stream(stream) => stream.framed().poll_fill(cx, input, || pool.take_large()),
        }
    }

    /// Takes note that nothing more comes; whether the body may end so.
    pub(crate) fn end_body(&self, body: &mut BodyReader) -> bool {
        match self {
            Self::Link(_) => body.end_of_stream(),
            Self::Stream(stream) => body.end_framed(&stream.framed().trailers()).is_ok(),
        }
    }

    /// Whether anything followed the final head of an answer that has come in frames; `None` for one that has not.
    pub(crate) fn framed_body(&self) -> Option<bool> {
        match self {
            Self::Link(_) => None,
            Self::Stream(stream) => Some(stream.has_body()),
        }
    }

    /// The stream where bodies stand on it as they are, without a framing of the connection's own.
    pub(crate) fn plain_stream(&self) -> Option<&Stream> {
        match self {
            Self::Link(link) => Some(&link.stream),
            Self::Stream(_) => None,
        }
    }

    /// Whether the endpoint can be asked for a WebSocket.
    pub(crate) fn takes_tunnels(&self) -> bool {
        match self {
            Self::Link(_) => true,
            Self::Stream(stream) => stream.takes_tunnels(),
        }
    }

    /// What it means that it ended before the first byte of an answer.
    pub(crate) fn broken(&self) -> Fault {
        match self {
            Self::Link(link) if link.is_reused() => Fault::LinkStale,
            Self::Link(_) => Fault::LinkClosed,
            Self::Stream(stream) => stream.broken(),
        }
    }

    /// Takes note that the exchange has waited for too long: a link that nothing has come by since `since_ms` gets no more
    /// requests.
    pub(crate) fn distrust(&self, since_ms: u64) {
        if let Self::Stream(stream) = self {
            stream.distrust(since_ms);
        }
    }
}

/// An endpoint at the end of a tunnel.
impl DuplexStream for UpstreamChannel {
    fn plain(&self) -> Option<&Stream> {
        self.plain_stream().and_then(DuplexStream::plain)
    }

    fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Link(link) => link.stream.poll_readable(cx),
            Self::Stream(stream) => stream.framed().poll_readable(cx).map(Ok),
        }
    }

    fn poll_fill(&mut self, cx: &mut Context<'_>, buffer: &mut Buffer) -> Poll<io::Result<Fill>> {
        match self {
            Self::Link(link) => link.stream.poll_fill(cx, buffer),
            Self::Stream(stream) => stream.framed().poll_read(cx, buffer),
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Link(link) => link.stream.poll_write(cx, bytes),
            Self::Stream(stream) => stream.framed().poll_send(cx, bytes, &[], false),
        }
    }

    fn end(&mut self) -> io::Result<()> {
        match self {
            Self::Link(link) => link.stream.end(),
            Self::Stream(stream) => stream.framed().send_end(&[]),
        }
    }

    fn cut(&self) {
        match self {
            Self::Link(link) => link.stream.cut(),
            Self::Stream(stream) => stream.framed().end_with(ErrorCode::Connect),
        }
    }
}
