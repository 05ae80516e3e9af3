//! A stream of HTTP/2 as its exchange has it.

use std::cell::Cell;
use std::fmt;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};

use eddy_http::{ErrorCode, FramedHead, Gone, Http2, Reading};
use eddy_io::{Buffer, BufferPool, Fill};

use crate::session::http2::connection::Connection;

/// A stream of HTTP/2: a request, and room for its answer. Dropping it lets it go: where its answer is not whole, the
/// client is told so.
pub(crate) struct FramedStream {
    connection: Rc<Connection>,
    id: u32,
    /// What an answer that is not whole is ended with.
    code: Cell<ErrorCode>,
}

impl FramedStream {
    pub(super) fn new(connection: Rc<Connection>, id: u32) -> Self {
        // Until the exchange begins, the client may ask elsewhere.
        Self { connection, id, code: Cell::new(ErrorCode::RefusedStream) }
    }

    /// The head of the request, to be taken once.
    pub(crate) fn take_head(&self) -> FramedHead {
        self.code.set(ErrorCode::Internal);
        self.connection.act(|state| state.take_head(self.id)).unwrap_or_default()
    }

    /// Reads more of the body behind what `input` holds, into a buffer of the pool if there is none yet.
    ///
    /// # Errors
    /// When the client has taken its request back, or is gone.
    pub(crate) fn poll_fill(
        &self,
        cx: &Context<'_>,
        input: &mut Buffer,
        pool: &BufferPool,
    ) -> Poll<io::Result<Fill>> {
        if !self.connection.look(|state| state.is_readable(self.id)) {
            self.connection.wait(self.id, cx);
            return Poll::Pending;
        }
        if input.capacity() == 0 {
            *input = pool.take_small();
        }
        match self.act(|state| state.read(self.id, input.room()))? {
            Reading::Bytes(count) => {
                input.fill(count);
                Poll::Ready(Ok(Fill::Bytes(count)))
            }
            Reading::End => Poll::Ready(Ok(Fill::End)),
            Reading::Nothing => {
                self.connection.wait(self.id, cx);
                Poll::Pending
            }
        }
    }

    /// The trailers of a body that has ended, as the end of a chunked body; empty for none.
    pub(crate) fn trailers(&self) -> Vec<u8> {
        self.connection.look(|state| state.trailers(self.id).to_vec())
    }

    /// Waits until the client takes its request back, or is gone.
    pub(crate) fn poll_gone(&self, cx: &Context<'_>) -> Poll<()> {
        if self.connection.look(|state| state.is_gone(self.id)) {
            return Poll::Ready(());
        }
        self.connection.wait(self.id, cx);
        Poll::Pending
    }

    /// Sends the first head of `text`, interim or final, and tells its length; `ends` says that nothing follows.
    ///
    /// # Errors
    /// When the client is gone.
    pub(crate) fn send_head(&self, text: &[u8], ends: bool) -> io::Result<usize> {
        self.act(|state| state.send_head(self.id, text, ends))
    }

    /// Sends some of `first` followed by `second` and tells how many bytes in all, once the client takes any.
    ///
    /// # Errors
    /// When the client is gone.
    pub(crate) fn poll_send(
        &self,
        cx: &Context<'_>,
        first: &[u8],
        second: &[u8],
        ends: bool,
    ) -> Poll<io::Result<usize>> {
        match self.act(|state| state.send_data(self.id, first, second, ends)) {
            Ok(0) => {
                self.connection.wait(self.id, cx);
                Poll::Pending
            }
            sent => Poll::Ready(sent),
        }
    }

    /// Ends the answer, with trailers as they end a chunked body; empty for none.
    ///
    /// # Errors
    /// When the client is gone.
    pub(crate) fn send_end(&self, trailers: &[u8]) -> io::Result<()> {
        self.act(|state| state.send_end(self.id, trailers))
    }

    fn act<T>(&self, act: impl FnOnce(&mut Http2) -> Result<T, Gone>) -> io::Result<T> {
        self.connection.act(act).map_err(|Gone| io::ErrorKind::ConnectionReset.into())
    }
}

impl Drop for FramedStream {
    fn drop(&mut self) {
        self.connection.forget(self.id);
        self.connection.act(|state| state.finish(self.id, self.code.get()));
    }
}

impl fmt::Debug for FramedStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FramedStream").field("id", &self.id).finish_non_exhaustive()
    }
}
