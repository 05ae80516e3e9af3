//! Stream below an HTTP/2 connection, as the connection's task uses it.

use std::io;
use std::task::{Context, Poll, ready};

use eddy_http::Http2Fault;
use eddy_ids::WorkerTime;
use eddy_io::{BUFFER_BYTES_LARGE, Buffer, BufferPool, Fill, Stream};

use crate::h2::shared::H2Connection;

/// Stream below an HTTP/2 connection, and the bytes read from it.
pub(crate) struct H2Transport {
    pub(crate) stream: Stream,
    /// Bytes read that are not a whole frame yet; without capacity while empty.
    pub(crate) input: Buffer,
}

impl H2Transport {
    /// Passes the bytes read to the protocol.
    pub(crate) fn receive(
        &mut self,
        connection: &H2Connection,
        now: WorkerTime,
        pool: &BufferPool,
    ) -> Result<(), Http2Fault> {
        let received = connection.update(|state| state.receive(self.input.held(), now));
        match received {
            Ok(count) => self.input.consume(count),
            Err(_) => self.input.clear(),
        }
        pool.release_empty(&mut self.input);
        received.map(drop)
    }

    /// Reads more bytes, once the stream is readable.
    pub(crate) fn poll_fill(&mut self, cx: &mut Context<'_>, pool: &BufferPool) -> Poll<io::Result<Fill>> {
        if self.input.capacity() == 0 {
            self.input = pool.take_large();
        } else {
            // The rest of a frame may exceed the free space of a small buffer.
            self.input.grow(BUFFER_BYTES_LARGE);
        }
        let filled = self.stream.poll_fill(cx, &mut self.input);
        pool.release_empty(&mut self.input);
        filled
    }

    /// Writes all output, and calls `on_write` whenever the peer accepts some; ready once everything is written.
    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        connection: &H2Connection,
        mut on_write: impl FnMut(),
    ) -> Poll<io::Result<()>> {
        while connection.look(|state| !state.output().is_empty()) {
            let written = ready!(connection.look(|state| self.stream.poll_write(cx, state.output())))?;
            connection.update(|state| state.written(written));
            on_write();
        }
        Poll::Ready(Ok(()))
    }
}
