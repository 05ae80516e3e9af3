//! Access of an exchange to its endpoint.

use std::io;
use std::task::{Context, Poll};

use eddy_http::{BodyReader, Version};
use eddy_ids::WorkerTime;
use eddy_io::{Buffer, BufferPool, Fill, Stream};
use eddy_upstream::Link;
use eddy_upstream::client::{RequestChannel, WholeRequest};

use crate::fault::Fault;
use crate::h2::AfterData;
use crate::message::{DuplexStream, Pump};
use crate::upstream::shared::LinkStream;

/// An exchange's channel to its endpoint.
///
/// The request is written with [`Self::poll_request`]. The response, heads as text and bodies, is read with
/// [`Self::poll_fill`] and ended with [`RequestChannel::end_body`].
#[derive(Debug)]
pub(crate) enum UpstreamChannel {
    /// HTTP/1 link.
    Link(Link),
    /// Stream of an HTTP/2 link.
    Stream(LinkStream),
}

impl UpstreamChannel {
    /// Returns the HTTP version of the channel.
    pub(crate) fn version(&self) -> Version {
        match self {
            Self::Link(_) => Version::Http11,
            Self::Stream(_) => Version::Http2,
        }
    }

    /// Writes the staged request, part of which may be in `source`; returns the number of bytes.
    ///
    /// # Errors
    /// When the endpoint accepts no more; it may have responded all the same.
    pub(crate) fn poll_request(
        &mut self,
        cx: &mut Context<'_>,
        upload: &mut Pump,
        source: &mut Buffer,
    ) -> Poll<io::Result<usize>> {
        match self {
            Self::Link(link) => upload.poll_write(cx, &mut link.stream, source),
            Self::Stream(stream) => upload.poll_frames(cx, &stream.framed, source),
        }
    }

    /// Reads more bytes behind those in `input`; takes a buffer from the pool if there is none yet.
    ///
    /// # Errors
    /// When the response breaks off: [`Self::broken`] returns the reason.
    pub(crate) fn poll_fill(
        &mut self,
        cx: &mut Context<'_>,
        input: &mut Buffer,
        pool: &BufferPool,
    ) -> Poll<io::Result<Fill>> {
        match self {
            Self::Link(link) => {
                // No buffer is held while there is nothing to read.
                if input.capacity() == 0 {
                    if link.stream.poll_readable(cx).is_pending() {
                        return Poll::Pending;
                    }
                    *input = pool.take_large();
                }
                link.stream.poll_fill(cx, input)
            }
            Self::Stream(stream) => stream.framed.poll_fill(cx, input, || pool.take_large()),
        }
    }

    /// Returns the stream if bodies are sent on it as they are, without framing by the connection.
    pub(crate) fn plain_stream(&self) -> Option<&Stream> {
        match self {
            Self::Link(link) => Some(&link.stream),
            Self::Stream(_) => None,
        }
    }

    /// Returns the endpoint's end of a tunnel.
    pub(crate) fn duplex(&mut self) -> &mut dyn DuplexStream {
        match self {
            Self::Link(link) => &mut link.stream,
            Self::Stream(stream) => &mut stream.framed,
        }
    }

    /// Whether the endpoint can be asked for a WebSocket.
    pub(crate) fn supports_tunnels(&self) -> bool {
        match self {
            Self::Link(_) => true,
            Self::Stream(stream) => stream.supports_tunnels(),
        }
    }

    /// Returns the fault of a channel that ended before the first byte of a response.
    pub(crate) fn broken(&self) -> Fault {
        match self {
            Self::Link(link) if link.is_reused() => Fault::LinkStale,
            Self::Link(_) => Fault::LinkClosed,
            Self::Stream(stream) => stream.broken(),
        }
    }

    /// Records that the exchange has waited too long: a shared link that has been silent since `since` gets no more
    /// requests.
    pub(crate) fn distrust(&self, since: WorkerTime) {
        if let Self::Stream(stream) = self {
            stream.distrust(since);
        }
    }
}

/// A channel also carries a whole request and its response.
impl RequestChannel for UpstreamChannel {
    fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        request: &WholeRequest<'_>,
        sent: usize,
    ) -> Poll<io::Result<usize>> {
        let rest = request.rest(sent);
        match self {
            Self::Link(link) => link.stream.poll_write(cx, rest),
            Self::Stream(stream) if sent == 0 => {
                Poll::Ready(stream.framed.send_head(rest, request.is_bodiless()))
            }
            Self::Stream(stream) => {
                let after =
                    if sent + rest.len() == request.bytes.len() { AfterData::End } else { AfterData::More };
                stream.framed.poll_send(cx, rest, &[], after)
            }
        }
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>, input: &mut Buffer) -> Poll<io::Result<Fill>> {
        self.duplex().poll_fill(cx, input)
    }

    fn http2_body(&self) -> Option<bool> {
        match self {
            Self::Link(_) => None,
            Self::Stream(stream) => Some(stream.has_body()),
        }
    }

    fn end_body(&self, body: &mut BodyReader) -> bool {
        match self {
            Self::Link(_) => body.end_of_stream(),
            Self::Stream(stream) => body.end_http2(&stream.framed.trailers()),
        }
    }
}
