//! A connection that carries one request only, over HTTP/1.1 or HTTP/2.

use std::io;
use std::task::{Context, Poll, ready};

use eddy_http::{BodyReadResult, BodyReader, Gone, Http2, Http2Limits, Version};
use eddy_ids::WorkerTime;
use eddy_io::{BUFFER_BYTES_LARGE, Buffer, Fill, Stream};

use super::conversation::{RequestChannel, WholeRequest};

/// A connection that carries one request only.
#[derive(Debug)]
pub struct DedicatedConnection<'s> {
    stream: &'s mut Stream,
    http2: Option<DedicatedHttp2>,
}

/// Protocol state of an HTTP/2 connection, and received bytes that are not a whole frame yet.
#[derive(Debug)]
struct DedicatedHttp2 {
    state: Http2,
    input: Buffer,
}

impl<'s> DedicatedConnection<'s> {
    /// Wraps a stream that was just connected and speaks this version.
    pub fn new(stream: &'s mut Stream, version: Version) -> Self {
        let scheme = if stream.is_plain() { "http" } else { "https" };
        let http2 = (version == Version::Http2).then(|| DedicatedHttp2 {
            state: Http2::client(scheme, Http2Limits::default(), WorkerTime::ZERO),
            input: Buffer::default(),
        });
        Self { stream, http2 }
    }
}

impl RequestChannel for DedicatedConnection<'_> {
    fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        request: &WholeRequest<'_>,
        sent: usize,
    ) -> Poll<io::Result<usize>> {
        let rest = request.rest(sent);
        let Some(http2) = &mut self.http2 else { return self.stream.poll_write(cx, rest) };
        if sent == 0 {
            let opened = http2.state.open(rest, request.is_bodiless()).map_err(gone)?;
            return Poll::Ready(Ok(opened.length));
        }
        loop {
            match http2.state.send_data(STREAM, rest, &[], true).map_err(gone)? {
                // The endpoint may widen its flow-control windows.
                0 if ready!(http2.poll_io(cx, self.stream))? != Fill::End => {}
                0 => return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
                count => return Poll::Ready(Ok(count)),
            }
        }
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>, input: &mut Buffer) -> Poll<io::Result<Fill>> {
        let Some(http2) = &mut self.http2 else { return self.stream.poll_fill(cx, input) };
        loop {
            match http2.state.read(STREAM, input.room()).map_err(gone)? {
                BodyReadResult::Bytes(count) => {
                    input.fill(count);
                    return Poll::Ready(Ok(Fill::Bytes(count)));
                }
                BodyReadResult::Nothing if ready!(http2.poll_io(cx, self.stream))? != Fill::End => {}
                BodyReadResult::Nothing | BodyReadResult::End => return Poll::Ready(Ok(Fill::End)),
            }
        }
    }

    fn http2_body(&self) -> Option<bool> {
        self.http2.as_ref().map(|http2| http2.state.has_body(STREAM))
    }

    fn end_body(&self, body: &mut BodyReader) -> bool {
        let Some(DedicatedHttp2 { state, .. }) = &self.http2 else { return body.end_of_stream() };
        // The connection may have ended before the stream.
        state.unread(STREAM).is_last && body.end_http2(state.trailers(STREAM))
    }
}

impl DedicatedHttp2 {
    /// Writes pending output as far as possible, and reads more.
    fn poll_io(&mut self, cx: &mut Context<'_>, stream: &mut Stream) -> Poll<io::Result<Fill>> {
        while !self.state.output().is_empty()
            && let Poll::Ready(written) = stream.poll_write(cx, self.state.output())
        {
            self.state.written(written?);
        }
        self.input.grow(BUFFER_BYTES_LARGE);
        let filled = ready!(stream.poll_fill(cx, &mut self.input))?;
        let taken = self.state.receive(self.input.held(), WorkerTime::ZERO);
        self.input.consume(taken.map_err(io::Error::other)?);
        Poll::Ready(Ok(filled))
    }
}

fn gone(Gone: Gone) -> io::Error {
    io::ErrorKind::ConnectionReset.into()
}

/// The first stream that a client opens (RFC 9113 §5.1.1).
const STREAM: u32 = 1;
