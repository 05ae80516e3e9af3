//! Client side of a session: its stream, the bytes read from it, and its deadline.

use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use eddy_http::{BodyProbe, BodyReader, Unread};
use eddy_ids::Millis;
use eddy_io::{BUFFER_BYTES_SMALL, Buffer, BufferPool, Fill, Stream, Timer};

use crate::downstream::client::DownstreamClient;
use crate::downstream::wire::Wire;
use crate::message::Pump;
use crate::runtime::{Ticket, Waited, WorkerServices};

/// A client's connection.
///
/// An exchange reads a body with [`Self::poll_body`], writes the response with [`Self::poll_write_response`] and detects a
/// disconnect with [`Self::poll_client_close`]; the other methods are the session's.
#[derive(Debug)]
pub(crate) struct Downstream {
    pub(crate) wire: Wire,
    pub(crate) client: Rc<DownstreamClient>,
    pub(crate) timer: Timer,
    /// Bytes read and not yet used; without capacity while empty.
    pub(crate) input: Buffer,
    /// Time that the current request has waited for the worker.
    pub(crate) waited: Waited,
    /// Number of exchanges begun.
    pub(crate) requests: u64,
}

/// Result of a wait for the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// There are bytes to parse.
    Readable,
    /// The timeout has expired, or the worker needs the capacity.
    Expired,
    /// The client has disconnected.
    Gone,
}

impl Downstream {
    /// Creates the state of a connection from which nothing was read yet.
    pub(crate) fn new(wire: Wire, client: Rc<DownstreamClient>, timer: Timer) -> Self {
        Self { wire, client, timer, input: Buffer::default(), waited: Waited::WithinDeadline, requests: 0 }
    }

    /// Reads more of a request body; returns the number of bytes.
    ///
    /// # Errors
    /// When the client disconnects before the body has ended.
    pub(crate) fn poll_body(
        &mut self,
        cx: &mut Context<'_>,
        pool: &BufferPool,
        body: &mut BodyReader,
    ) -> Poll<io::Result<usize>> {
        debug_assert!(!body.is_done(), "there is nothing to be read");
        match ready!(self.poll_fill(cx, pool))? {
            Fill::Bytes(count) => Poll::Ready(Ok(count)),
            Fill::End => Poll::Ready(match &self.wire {
                Wire::Connection(_) => Err(io::ErrorKind::UnexpectedEof.into()),
                Wire::Http2(stream) if body.end_http2(&stream.trailers()) => Ok(0),
                Wire::Http2(_) => Err(io::ErrorKind::InvalidData.into()),
            }),
        }
    }

    /// Returns the part of the body that has arrived and is not used yet.
    pub(crate) fn unread_body(&self) -> Unread {
        let held = self.input.len();
        match &self.wire {
            Wire::Connection(_) => Unread { bytes: held, is_last: false },
            Wire::Http2(stream) => {
                let Unread { bytes, is_last } = stream.unread();
                Unread { bytes: held + bytes, is_last }
            }
        }
    }

    /// Whether part of the body, or its end, has arrived.
    pub(crate) fn has_body_begun(&self) -> bool {
        let unread = self.unread_body();
        unread.bytes > 0 || unread.is_last
    }

    /// Whether the whole body has arrived; `probe` searches for its end.
    pub(crate) fn has_whole_body(&self, probe: &mut BodyProbe) -> bool {
        match &self.wire {
            Wire::Connection(_) => probe.finds_end(self.input.held()),
            Wire::Http2(stream) => stream.unread().is_last,
        }
    }

    /// Whether the client has cancelled its request; otherwise wakes the task when it does. For HTTP/1 a cancellation
    /// is not detected while the body is not read.
    pub(crate) fn is_request_cancelled(&self, cx: &Context<'_>) -> bool {
        matches!(&self.wire, Wire::Http2(stream) if stream.poll_cancelled(cx).is_ready())
    }

    /// Writes the staged response, part of which may be in `source`; returns the number of bytes.
    ///
    /// # Errors
    /// When the client has disconnected.
    pub(crate) fn poll_write_response(
        &mut self,
        cx: &mut Context<'_>,
        answer: &mut Pump,
        source: &mut Buffer,
    ) -> Poll<io::Result<usize>> {
        match &mut self.wire {
            Wire::Connection(stream) => answer.poll_write(cx, stream, source),
            Wire::Http2(stream) => answer.poll_frames(cx, stream, source),
        }
    }

    /// Returns the stream if bodies are sent on it as they are, without framing by the connection.
    pub(crate) fn plain_stream(&self) -> Option<&Stream> {
        match &self.wire {
            Wire::Connection(stream) => Some(stream).filter(|stream| stream.is_plain()),
            Wire::Http2(_) => None,
        }
    }

    /// Waits until a client that has sent its whole request closes its side. Bytes beyond the request are kept.
    ///
    /// # Errors
    /// When the connection is broken.
    pub(crate) fn poll_client_close(
        &mut self,
        cx: &mut Context<'_>,
        pool: &BufferPool,
    ) -> Poll<io::Result<()>> {
        if let Wire::Http2(stream) = &self.wire {
            ready!(stream.poll_cancelled(cx));
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        if !self.input.is_empty() {
            return Poll::Pending;
        }
        match self.poll_fill(cx, pool) {
            // A pipelined request waits its turn.
            Poll::Ready(Ok(Fill::Bytes(_))) => Poll::Pending,
            Poll::Ready(Ok(Fill::End)) => {
                self.release(pool);
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => {
                self.release(pool);
                Poll::Pending
            }
        }
    }

    /// Waits, without a buffer, until the client has sent bytes or `timeout` has passed. The bytes are then in the
    /// buffer.
    ///
    /// A new stream counts as readable until a first read has shown that it is not, so readiness alone says nothing.
    pub(crate) async fn idle(&mut self, timeout: Millis, worker: &WorkerServices) -> Wake {
        if !self.input.is_empty() && !worker.admission.is_queueing() {
            return Wake::Readable;
        }
        self.timer.arm(timeout);
        self.timer.set_idle(true);
        let mut ticket = None;
        // A client that closes an idle connection has not given up a request.
        let mut came_to_ask = false;
        let wake = poll_fn(|cx| {
            self.timer.register(cx);
            if ticket.is_some() || (worker.admission.is_queueing() && self.may_have_input(cx)) {
                came_to_ask |= ticket.is_none() && !self.wire.is_ended();
                self.waited = ready!(self.poll_admission(cx, &mut ticket, worker));
                self.timer.arm(timeout);
                if self.wire.is_ended() {
                    if came_to_ask {
                        worker.admission.count_hung_up();
                    }
                    // A client that was served in time may have closed only its sending side, and wait for the
                    // response.
                    if self.waited == Waited::TooLong {
                        worker.admission.admit_substitute();
                        return Poll::Ready(Wake::Gone);
                    }
                }
            }
            self.poll_more_input(cx, &worker.buffers)
        });
        let wake = wake.await;
        self.timer.set_idle(false);
        wake
    }

    /// Waits in the admission queue, if requests are queued; returns whether the turn came in time. Nothing is read.
    pub(crate) async fn wait_for_admission(&mut self, worker: &WorkerServices) -> bool {
        if !worker.admission.is_queueing() {
            return true;
        }
        let mut ticket = None;
        let waited = poll_fn(|cx| self.poll_admission(cx, &mut ticket, worker)).await;
        self.timer.set_idle(false);
        waited == Waited::WithinDeadline
    }

    fn may_have_input(&self, cx: &mut Context<'_>) -> bool {
        !self.input.is_empty() || self.wire.poll_readable(cx).is_ready()
    }

    /// Waits in the admission queue until the received bytes may be read.
    ///
    /// The client is not late during this wait: no deadline runs, and the connection is not closed to make room.
    fn poll_admission(
        &self,
        cx: &Context<'_>,
        ticket: &mut Option<Ticket>,
        worker: &WorkerServices,
    ) -> Poll<Waited> {
        if ticket.is_none() {
            self.timer.disarm();
        }
        let turn = worker.admission.poll_admission(ticket, cx);
        self.timer.set_idle(turn.is_ready());
        turn
    }

    fn poll_more_input(&mut self, cx: &mut Context<'_>, pool: &BufferPool) -> Poll<Wake> {
        if !self.input.is_empty() {
            return Poll::Ready(Wake::Readable);
        }
        match self.poll_fill(cx, pool) {
            Poll::Ready(Ok(Fill::Bytes(_))) => Poll::Ready(Wake::Readable),
            Poll::Ready(Ok(Fill::End) | Err(_)) => Poll::Ready(Wake::Gone),
            Poll::Pending => {
                self.release(pool);
                if self.timer.is_expired() { Poll::Ready(Wake::Expired) } else { Poll::Pending }
            }
        }
    }

    /// Reads until `decide` has an answer for the bytes read, which stay in the buffer.
    ///
    /// # Errors
    /// [`Wake::Expired`] when `timeout` has passed, [`Wake::Gone`] when the client has disconnected.
    pub(crate) async fn look<T>(
        &mut self,
        timeout: Millis,
        pool: &BufferPool,
        decide: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<T, Wake> {
        self.timer.arm(timeout);
        poll_fn(|cx| {
            self.timer.register(cx);
            loop {
                if let Some(answer) = decide(self.input.held()) {
                    return Poll::Ready(Ok(answer));
                }
                if self.timer.is_expired() {
                    return Poll::Ready(Err(Wake::Expired));
                }
                if self.input.capacity() > 0 && self.input.len() == self.input.capacity() {
                    self.enlarge(pool);
                }
                match ready!(self.poll_fill(cx, pool)) {
                    Ok(Fill::Bytes(_)) => {}
                    Ok(Fill::End) | Err(_) => return Poll::Ready(Err(Wake::Gone)),
                }
            }
        })
        .await
    }

    /// Reads more bytes behind those in the buffer; takes a buffer from the pool if there is none yet.
    pub(crate) fn poll_fill(&mut self, cx: &mut Context<'_>, pool: &BufferPool) -> Poll<io::Result<Fill>> {
        let stream = match &mut self.wire {
            Wire::Connection(stream) => stream,
            Wire::Http2(stream) => return stream.poll_fill(cx, &mut self.input, || pool.take_small()),
        };
        if self.input.capacity() == 0 {
            ready!(stream.poll_readable(cx))?;
            self.input = pool.take_small();
        }
        stream.poll_fill(cx, &mut self.input)
    }

    /// Returns the buffer to the pool when it is empty.
    pub(crate) fn release(&mut self, pool: &BufferPool) {
        pool.release_empty(&mut self.input);
    }

    /// Moves the buffered bytes into a large buffer, unless they are in one already.
    pub(crate) fn enlarge(&mut self, pool: &BufferPool) {
        if self.input.capacity() <= BUFFER_BYTES_SMALL {
            let mut large = pool.take_large();
            large.append(self.input.held());
            pool.put(std::mem::replace(&mut self.input, large));
        }
    }

    /// Closes the connection to a client that may still be sending (lingering close): shuts down eddy's side and reads
    /// on for a while. Otherwise the kernel would discard the response with a reset, and an HTTP/2 client would discard
    /// it on the reset of its stream.
    ///
    /// # Spec
    /// RFC 9112 §9.6, RFC 9113 §8.1.
    pub(crate) async fn linger(&mut self, pool: &BufferPool) {
        if self.wire.shutdown_write().is_err() {
            return;
        }
        self.timer.arm(LINGER);
        let mut left = LINGER_BYTES_MAX;
        self.input.clear();
        poll_fn(|cx| {
            self.timer.register(cx);
            loop {
                if self.timer.is_expired() {
                    return Poll::Ready(());
                }
                match ready!(self.poll_fill(cx, pool)) {
                    Ok(Fill::Bytes(count)) if count < left => {
                        left -= count;
                        self.input.clear();
                    }
                    Ok(_) | Err(_) => return Poll::Ready(()),
                }
            }
        })
        .await;
        self.release(pool);
    }
}

/// Time that a client may go on sending after eddy has closed its side.
const LINGER: Millis = Millis::new(1_000);
/// Bytes that it may send: a few gRPC messages that were too large, which clients send completely before they read the
/// response.
const LINGER_BYTES_MAX: usize = 1024 * 1024;
