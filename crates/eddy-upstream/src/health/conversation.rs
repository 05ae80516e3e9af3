//! One request and its response on a connection of its own, over HTTP/1.1 or HTTP/2.

use std::io;
use std::task::{Context, Poll, ready};

use eddy_http::{BodyReadResult, Gone, Http2, Http2Limits};
use eddy_io::{BUFFER_BYTES_LARGE, Buffer, Fill, Stream};
use eddy_model::LinkProtocol;

/// A request and its response on a connection of its own.
pub(super) struct Conversation<'s> {
    stream: &'s mut Stream,
    framed: Option<H2Conversation>,
    /// Bytes of the request written so far.
    sent: usize,
}

/// HTTP/2 state of the connection.
struct H2Conversation {
    state: Http2,
    /// Stream ID of the request; 0 before it is sent.
    id: u32,
    input: Buffer,
}

impl<'s> Conversation<'s> {
    /// Wraps a new connection, after its TLS handshake if it `is_secure`.
    ///
    /// # Errors
    /// A description, if the endpoint speaks another protocol than configured.
    pub(super) fn new(
        stream: &'s mut Stream,
        protocol: LinkProtocol,
        is_secure: bool,
    ) -> Result<Self, String> {
        let has_agreed = || stream.tls_facts().is_some_and(|facts| facts.protocol.as_deref() == Some(b"h2"));
        let is_framed = match protocol {
            LinkProtocol::Http1 => false,
            LinkProtocol::Http2 if is_secure && !has_agreed() => {
                return Err("the endpoint does not support HTTP/2".to_owned());
            }
            LinkProtocol::Http2 => true,
            LinkProtocol::Auto => has_agreed(),
        };
        let framed = is_framed.then(|| H2Conversation {
            state: Http2::client(if is_secure { "https" } else { "http" }, Http2Limits::default(), 0),
            id: 0,
            input: Buffer::default(),
        });
        Ok(Self { stream, framed, sent: 0 })
    }

    /// Whether the connection uses HTTP/2.
    pub(super) fn is_framed(&self) -> bool {
        self.framed.is_some()
    }

    /// Returns the trailers of a complete response, in the form of the end of a chunked body; empty for none.
    pub(super) fn trailers(&self) -> &[u8] {
        self.framed.as_ref().map_or(&[], |framed| framed.state.trailers(framed.id))
    }

    /// Sends a request head and a small body; the body is sent over HTTP/2 only.
    pub(super) fn poll_ask(
        &mut self,
        cx: &mut Context<'_>,
        request: &[u8],
        body: &[u8],
    ) -> Poll<io::Result<()>> {
        if let Some(framed) = &mut self.framed {
            if framed.id == 0 {
                framed.id = framed.state.open(request, body.is_empty()).map_err(|Gone| gone())?.stream;
                if !body.is_empty() {
                    // The flow-control windows of a new connection are wider than that.
                    framed.state.send_data(framed.id, body, &[], true).map_err(|Gone| gone())?;
                }
            }
            return framed.poll_write(cx, self.stream);
        }
        while let Some(rest) = request.get(self.sent..).filter(|rest| !rest.is_empty()) {
            self.sent += ready!(self.stream.poll_write(cx, rest))?;
        }
        Poll::Ready(Ok(()))
    }

    /// Reads more of the response, its head as HTTP/1 text.
    pub(super) fn poll_fill(&mut self, cx: &mut Context<'_>, buffer: &mut Buffer) -> Poll<io::Result<Fill>> {
        let Some(framed) = &mut self.framed else { return self.stream.poll_fill(cx, buffer) };
        loop {
            match framed.state.read(framed.id, buffer.room()).map_err(|Gone| gone())? {
                BodyReadResult::Bytes(count) => {
                    buffer.fill(count);
                    return Poll::Ready(Ok(Fill::Bytes(count)));
                }
                BodyReadResult::End => return Poll::Ready(Ok(Fill::End)),
                BodyReadResult::Nothing => {}
            }
            // The response can be read even if pending output is not yet written.
            if let Poll::Ready(Err(error)) = framed.poll_write(cx, self.stream) {
                return Poll::Ready(Err(error));
            }
            framed.input.grow(BUFFER_BYTES_LARGE);
            match ready!(self.stream.poll_fill(cx, &mut framed.input))? {
                Fill::End => return Poll::Ready(Ok(Fill::End)),
                Fill::Bytes(_) => {}
            }
            let taken = framed.state.receive(framed.input.held(), 0);
            framed.input.consume(taken.map_err(io::Error::other)?);
        }
    }
}

impl H2Conversation {
    fn poll_write(&mut self, cx: &mut Context<'_>, stream: &mut Stream) -> Poll<io::Result<()>> {
        while !self.state.output().is_empty() {
            let written = ready!(stream.poll_write(cx, self.state.output()))?;
            self.state.written(written);
        }
        Poll::Ready(Ok(()))
    }
}

fn gone() -> io::Error {
    io::ErrorKind::ConnectionReset.into()
}
