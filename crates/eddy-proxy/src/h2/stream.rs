//! A stream of HTTP/2 as its exchange has it.

use std::cell::Cell;
use std::fmt;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use eddy_http::{BodyReadResult, ErrorCode, Gone, H2Head, Http2, Unread};
use eddy_io::{Buffer, Fill};

use crate::h2::shared::H2Connection;

/// A stream of HTTP/2: a request that has come and room for its answer, or room for a request and what comes of it. Dropping it
/// lets it go: where a message is not whole, the peer is told so.
pub(crate) struct H2Stream {
    shared: Rc<H2Connection>,
    /// 0 for a request that was not sent yet.
    id: Cell<u32>,
    /// What a message that is not whole is ended with.
    code: Cell<ErrorCode>,
}

impl H2Stream {
    /// A stream that a request has come on.
    pub(crate) fn new(shared: Rc<H2Connection>, id: u32) -> Self {
        // Until the exchange begins, the client may ask elsewhere.
        Self { shared, id: Cell::new(id), code: Cell::new(ErrorCode::RefusedStream) }
    }

    /// A stream that begins with the head of a request that is sent.
    pub(crate) fn unopened(shared: Rc<H2Connection>) -> Self {
        Self { shared, id: Cell::new(0), code: Cell::new(ErrorCode::Cancel) }
    }

    /// Its number; 0 for a request that was not sent yet.
    pub(crate) fn id(&self) -> u32 {
        self.id.get()
    }

    /// The head of the request, to be taken once.
    pub(crate) fn take_head(&self) -> H2Head {
        self.code.set(ErrorCode::Internal);
        self.shared.act(|state| state.take_head(self.id())).unwrap_or_default()
    }

    /// Reads more of what comes behind what `input` holds, into a buffer that `take` gives if there is none yet: of a request its
    /// body, of an answer its heads and its body.
    ///
    /// # Errors
    /// When the client has taken its request back, ours was lost, or the peer is gone.
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

    /// As [`Self::poll_fill`], into the room that `input` has.
    ///
    /// # Errors
    /// As there.
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

    /// The part of a body that has come and was not read.
    pub(crate) fn unread(&self) -> Unread {
        self.shared.look(|state| state.unread(self.id()))
    }

    /// The trailers of a body that has ended, as the end of a chunked body; empty for none.
    pub(crate) fn trailers(&self) -> Vec<u8> {
        self.shared.look(|state| state.trailers(self.id()).to_vec())
    }

    /// Waits until the client takes its request back, or is gone.
    pub(crate) fn poll_gone(&self, cx: &Context<'_>) -> Poll<()> {
        if self.shared.look(|state| state.is_gone(self.id())) {
            return Poll::Ready(());
        }
        self.shared.wait(self.id(), cx);
        Poll::Pending
    }

    /// Sends the first head of `text`, of a request or of an answer, interim or final, and tells its length; `ends` says that
    /// nothing follows.
    ///
    /// # Errors
    /// When the peer is gone; for a request also when its connection has no room for it any more.
    pub(crate) fn send_head(&self, text: &[u8], ends: bool) -> io::Result<usize> {
        if self.id() != 0 {
            return self.act(|state| state.send_head(self.id(), text, ends));
        }
        let opened = self.act(|state| state.open(text, ends))?;
        self.id.set(opened.stream);
        Ok(opened.length)
    }

    /// Sends some of `first` followed by `second` and tells how many bytes in all, once the peer takes any.
    ///
    /// # Errors
    /// When the peer is gone, or takes no more.
    pub(crate) fn poll_send(
        &self,
        cx: &Context<'_>,
        first: &[u8],
        second: &[u8],
        ends: bool,
    ) -> Poll<io::Result<usize>> {
        match self.act(|state| state.send_data(self.id(), first, second, ends)) {
            Ok(0) => {
                self.shared.wait(self.id(), cx);
                Poll::Pending
            }
            sent => Poll::Ready(sent),
        }
    }

    /// Ends the message, with trailers as they end a chunked body; empty for none.
    ///
    /// # Errors
    /// When the peer is gone, or takes no more.
    pub(crate) fn send_end(&self, trailers: &[u8]) -> io::Result<()> {
        self.act(|state| state.send_end(self.id(), trailers))
    }

    /// Has a message that is not whole end with this code.
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
