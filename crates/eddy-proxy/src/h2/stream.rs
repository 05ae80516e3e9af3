//! An HTTP/2 stream, as an exchange uses it.

use std::cell::Cell;
use std::fmt;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use eddy_http::{BodyReadResult, ErrorCode, Gone, H2Head, Http2, Unread};
use eddy_io::{Buffer, Fill};

use crate::h2::shared::H2Connection;

/// An HTTP/2 stream: a received request and its response, or a request to send and its response. Dropping it ends the
/// stream; an incomplete message is reset.
pub(crate) struct H2Stream {
    shared: Rc<H2Connection>,
    /// 0 for a request that was not sent yet.
    id: Cell<u32>,
    /// Error code that ends an incomplete message.
    code: Cell<ErrorCode>,
}

/// Continuation of a message after a piece of its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterData {
    /// More data, or the end on its own.
    More,
    /// Nothing: the data ends the message.
    End,
}

impl H2Stream {
    /// Creates the stream of a received request.
    pub(crate) fn new(shared: Rc<H2Connection>, id: u32) -> Self {
        // Until the exchange begins, the client may safely send the request elsewhere.
        Self { shared, id: Cell::new(id), code: Cell::new(ErrorCode::RefusedStream) }
    }

    /// Creates a stream that is opened by the head of a request.
    pub(crate) fn unopened(shared: Rc<H2Connection>) -> Self {
        Self { shared, id: Cell::new(0), code: Cell::new(ErrorCode::Cancel) }
    }

    /// Returns the stream ID; 0 for a request that was not sent yet.
    pub(crate) fn id(&self) -> u32 {
        self.id.get()
    }

    /// Takes the request head; it can be taken once.
    pub(crate) fn take_head(&self) -> H2Head {
        self.code.set(ErrorCode::Internal);
        self.shared.act(|state| state.take_head(self.id())).unwrap_or_default()
    }

    /// Reads more bytes behind those in `input`, into a buffer from `take` if there is none yet: the body of a request,
    /// the heads and the body of a response.
    ///
    /// # Errors
    /// When the client has cancelled its request, eddy's request was lost, or the peer is gone.
    pub(crate) fn poll_fill(
        &self,
        cx: &Context<'_>,
        input: &mut Buffer,
        take: impl FnOnce() -> Buffer,
    ) -> Poll<io::Result<Fill>> {
        ready!(self.poll_readable(cx));
        if input.capacity() == 0 {
            *input = take();
        }
        self.poll_read(cx, input)
    }

    /// Waits until there is something to read, or the peer is gone.
    pub(crate) fn poll_readable(&self, cx: &Context<'_>) -> Poll<()> {
        if self.shared.look(|state| state.is_readable(self.id())) {
            return Poll::Ready(());
        }
        self.shared.wait(self.id(), cx);
        Poll::Pending
    }

    /// As [`Self::poll_fill`], into the free space of `input`.
    pub(crate) fn poll_read(&self, cx: &Context<'_>, input: &mut Buffer) -> Poll<io::Result<Fill>> {
        match self.act(|state| state.read(self.id(), input.room()))? {
            BodyReadResult::Bytes(count) => {
                input.fill(count);
                Poll::Ready(Ok(Fill::Bytes(count)))
            }
            BodyReadResult::End => Poll::Ready(Ok(Fill::End)),
            BodyReadResult::Nothing => {
                self.shared.wait(self.id(), cx);
                Poll::Pending
            }
        }
    }

    /// Returns the part of a body that has arrived and was not read.
    pub(crate) fn unread(&self) -> Unread {
        self.shared.look(|state| state.unread(self.id()))
    }

    /// Returns the trailers of a body that has ended, in the form that ends a chunked body; empty for none.
    pub(crate) fn trailers(&self) -> Vec<u8> {
        self.shared.look(|state| state.trailers(self.id()).to_vec())
    }

    /// Waits until the client cancels its request, or is gone.
    pub(crate) fn poll_cancelled(&self, cx: &Context<'_>) -> Poll<()> {
        if self.shared.look(|state| state.is_gone(self.id())) {
            return Poll::Ready(());
        }
        self.shared.wait(self.id(), cx);
        Poll::Pending
    }

    /// Sends the first head in `text`, of a request or of an interim or final response, and returns its length. `ends`
    /// tells that nothing follows.
    ///
    /// # Errors
    /// When the peer is gone; for a request also when its connection allows no further stream.
    pub(crate) fn send_head(&self, text: &[u8], ends: bool) -> io::Result<usize> {
        if self.id() != 0 {
            return self.act(|state| state.send_head(self.id(), text, ends));
        }
        let opened = self.act(|state| state.open(text, ends))?;
        self.id.set(opened.stream);
        Ok(opened.length)
    }

    /// Sends some of `first` followed by `second`, once the peer accepts any; returns the total number of bytes.
    /// `after` tells what follows all of it.
    ///
    /// # Errors
    /// When the peer is gone, or accepts no more.
    pub(crate) fn poll_send(
        &self,
        cx: &Context<'_>,
        first: &[u8],
        second: &[u8],
        after: AfterData,
    ) -> Poll<io::Result<usize>> {
        match self.act(|state| state.send_data(self.id(), first, second, after == AfterData::End)) {
            Ok(0) => {
                self.shared.wait(self.id(), cx);
                Poll::Pending
            }
            sent => Poll::Ready(sent),
        }
    }

    /// Ends the message, with trailers in the form that ends a chunked body; empty for none.
    ///
    /// # Errors
    /// When the peer is gone, or accepts no more.
    pub(crate) fn send_end(&self, trailers: &[u8]) -> io::Result<()> {
        self.act(|state| state.send_end(self.id(), trailers))
    }

    /// Sets the error code for an incomplete message.
    pub(crate) fn end_with(&self, code: ErrorCode) {
        self.code.set(code);
    }

    fn act<T>(&self, act: impl FnOnce(&mut Http2) -> Result<T, Gone>) -> io::Result<T> {
        self.shared.act(act).map_err(|Gone| io::ErrorKind::ConnectionReset.into())
    }
}

impl Drop for H2Stream {
    fn drop(&mut self) {
        self.shared.forget(self.id());
        self.shared.act(|state| state.finish(self.id(), self.code.get()));
    }
}

impl fmt::Debug for H2Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("H2Stream").field("id", &self.id).finish_non_exhaustive()
    }
}
