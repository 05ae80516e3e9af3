//! The client's side of a session: its stream, what was read of it, and its deadline.

use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use eddy_http::Unread;
use eddy_io::{BUFFER_BYTES_SMALL, Buffer, BufferPool, Fill, Stream, Timer};

use crate::exchange::{BodyProbe, BodyReader, Pump};
use crate::session::client::DownstreamClient;
use crate::session::wire::Wire;
use crate::worker::{Ticket, Waited, Worker};

/// A client's connection.
///
/// An exchange reads a body by [`Self::poll_body`], writes the answer by [`Self::poll_answer`] and looks by
/// [`Self::poll_left`] whether the client is still there; the rest is the session's.
#[derive(Debug)]
pub(crate) struct Downstream {
    pub(crate) wire: Wire,
    pub(crate) client: Rc<DownstreamClient>,
    pub(crate) timer: Timer,
    /// What was read and not yet used; without capacity while nothing is held.
    pub(crate) input: Buffer,
    /// How long the request now at hand has waited for the worker.
    pub(crate) waited: Waited,
    /// Exchanges begun.
    pub(crate) requests: u64,
}

/// What ended a wait for the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// There is something to parse.
    Readable,
    /// The time is over, or the worker needs the room.
    Expired,
    /// The client has gone.
    Gone,
}

impl Downstream {
    /// A connection, of which nothing was read.
    pub(crate) fn new(wire: Wire, client: Rc<DownstreamClient>, timer: Timer) -> Self {
        Self { wire, client, timer, input: Buffer::default(), waited: Waited::InTime, requests: 0 }
    }

    /// Reads more of a request's body, and tells how many bytes.
    ///
    /// # Errors
    /// When the client is gone before the body has ended.
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
                Wire::Framed(stream) => body.end_framed(&stream.trailers()).map(|()| 0),
            }),
        }
    }

    /// The part of the body that has come and was not used.
    pub(crate) fn unread_body(&self) -> Unread {
        let held = self.input.len();
        match &self.wire {
            Wire::Connection(_) => Unread { bytes: held, is_last: false },
            Wire::Framed(stream) => {
                let Unread { bytes, is_last } = stream.unread();
                Unread { bytes: held + bytes, is_last }
            }
        }
    }

    /// Whether some of the body has come, or its end.
    pub(crate) fn has_body_begun(&self) -> bool {
        let unread = self.unread_body();
        unread.bytes > 0 || unread.is_last
    }

    /// Whether all of the body has come that `probe` looks for the end of.
    pub(crate) fn has_whole_body(&self, probe: &mut BodyProbe) -> bool {
        match &self.wire {
            Wire::Connection(_) => probe.finds_end(self.input.held()),
            Wire::Framed(stream) => stream.unread().is_last,
        }
    }

    /// Whether the client has taken its request back, or will wake the task if it does; of HTTP/1 that is not known while its body
    /// is not read.
    pub(crate) fn is_taken_back(&self, cx: &Context<'_>) -> bool {
        matches!(&self.wire, Wire::Framed(stream) if stream.poll_gone(cx).is_ready())
    }

    /// Writes what is staged of an answer, which may stand in `source` in part, and tells how many bytes.
    ///
    /// # Errors
    /// When the client is gone.
    pub(crate) fn poll_answer(
        &mut self,
        cx: &mut Context<'_>,
        answer: &mut Pump,
        source: &mut Buffer,
    ) -> Poll<io::Result<usize>> {
        match &mut self.wire {
            Wire::Connection(stream) => answer.poll_write(cx, stream, source),
            Wire::Framed(stream) => answer.poll_frames(cx, stream, source),
        }
    }

    /// The stream where bodies stand on it as they are, without a framing of the connection's own.
    pub(crate) fn plain_stream(&self) -> Option<&Stream> {
        match &self.wire {
            Wire::Connection(stream) => Some(stream).filter(|stream| stream.is_plain()),
            Wire::Framed(_) => None,
        }
    }

    /// Waits until a client that has said all of its request ends its side. What it says beyond the request is held.
    ///
    /// # Errors
    /// When it is gone.
    pub(crate) fn poll_left(&mut self, cx: &mut Context<'_>, pool: &BufferPool) -> Poll<io::Result<()>> {
        if let Wire::Framed(stream) = &self.wire {
            ready!(stream.poll_gone(cx));
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        if !self.input.is_empty() {
            return Poll::Pending;
        }
        match self.poll_fill(cx, pool) {
            // The next request, sent without waiting for this answer: it waits its turn.
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

    /// Waits, without a buffer, until the client has said something or `timeout_ms` have passed; what it said is
    /// held then.
    ///
    /// A new stream counts as readable until a first read has shown that it is not, so readiness alone tells nothing.
    pub(crate) async fn idle(&mut self, timeout_ms: u64, worker: &Worker) -> Wake {
        if !self.input.is_empty() && !worker.admission.is_queueing() {
            return Wake::Readable;
        }
        self.timer.arm(timeout_ms);
        self.timer.set_idle(true);
        let mut ticket = None;
        // One that closes an idle connection has not given up on anything.
        let mut came_to_ask = false;
        let wake = poll_fn(|cx| {
            self.timer.register(cx);
            if ticket.is_some() || (worker.admission.is_queueing() && self.may_have_said(cx)) {
                came_to_ask |= ticket.is_none() && !self.wire.is_ended();
                self.waited = ready!(self.poll_turn(cx, &mut ticket, worker));
                self.timer.arm(timeout_ms);
                if self.wire.is_ended() {
                    if came_to_ask {
                        worker.admission.count_hung_up();
                    }
                    // One that was in time may have closed its side alone, and wait for the answer.
                    if self.waited == Waited::TooLong {
                        worker.admission.admit_substitute();
                        return Poll::Ready(Wake::Gone);
                    }
                }
            }
            self.poll_said(cx, &worker.buffers)
        });
        let wake = wake.await;
        self.timer.set_idle(false);
        wake
    }

    /// Waits for the worker's call, while requests line up; whether it came in time. Nothing is read.
    pub(crate) async fn take_turn(&mut self, worker: &Worker) -> bool {
        if !worker.admission.is_queueing() {
            return true;
        }
        let mut ticket = None;
        let waited = poll_fn(|cx| self.poll_turn(cx, &mut ticket, worker)).await;
        self.timer.set_idle(false);
        waited == Waited::InTime
    }

    fn may_have_said(&self, cx: &mut Context<'_>) -> bool {
        !self.input.is_empty() || self.wire.poll_readable(cx).is_ready()
    }

    /// Waits for the worker's call to read what has come.
    ///
    /// It is not the client who is late now: no deadline runs, and nobody closes the connection to make room.
    fn poll_turn(&self, cx: &Context<'_>, ticket: &mut Option<Ticket>, worker: &Worker) -> Poll<Waited> {
        if ticket.is_none() {
            self.timer.disarm();
        }
        let turn = worker.admission.poll_turn(ticket, cx);
        self.timer.set_idle(turn.is_ready());
        turn
    }

    fn poll_said(&mut self, cx: &mut Context<'_>, pool: &BufferPool) -> Poll<Wake> {
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

    /// Reads more behind what is held, into a buffer of the pool if there is none yet.
    pub(crate) fn poll_fill(&mut self, cx: &mut Context<'_>, pool: &BufferPool) -> Poll<io::Result<Fill>> {
        let stream = match &mut self.wire {
            Wire::Connection(stream) => stream,
            Wire::Framed(stream) => return stream.poll_fill(cx, &mut self.input, || pool.take_small()),
        };
        if self.input.capacity() == 0 {
            ready!(stream.poll_readable(cx))?;
            self.input = pool.take_small();
        }
        stream.poll_fill(cx, &mut self.input)
    }

    /// Gives the buffer back to the pool when nothing is held.
    pub(crate) fn release(&mut self, pool: &BufferPool) {
        if self.input.is_empty() && self.input.capacity() > 0 {
            pool.put(std::mem::take(&mut self.input));
        }
    }

    /// Moves what is held into a large buffer, if it is not in one yet.
    pub(crate) fn enlarge(&mut self, pool: &BufferPool) {
        if self.input.capacity() <= BUFFER_BYTES_SMALL {
            let mut large = pool.take_large();
            large.append(self.input.held());
            pool.put(std::mem::replace(&mut self.input, large));
        }
    }

    /// Says goodbye to a client that may still be sending: ends our side and reads on for a while, so that
    /// the kernel does not throw the answer away with a reset, nor a client of HTTP/2 for the reset of its stream.
    ///
    /// # Spec
    /// RFC 9112 §9.6, RFC 9113 §8.1.
    pub(crate) async fn linger(&mut self, pool: &BufferPool) {
        if self.wire.shutdown_write().is_err() {
            return;
        }
        self.timer.arm(LINGER_MS);
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

/// How long a client that was told the end may go on sending, milliseconds.
const LINGER_MS: u64 = 1_000;
/// How much it may send: a few messages of gRPC that were too large, which their clients send whole before they look.
const LINGER_BYTES_MAX: usize = 1024 * 1024;
