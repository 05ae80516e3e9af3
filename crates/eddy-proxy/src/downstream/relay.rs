//! Relay of bytes between two streams in both directions until both have ended.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use eddy_ids::{Millis, WorkerTime};
use eddy_io::{
    BUFFER_BYTES_SMALL, Buffer, BufferPool, Fill, PipePool, Splice, SpliceFault, Spliced, Stream, Timer,
};

use crate::message::DuplexStream;
use crate::runtime::WorkerServices;
use crate::stats::WorkerCounter;

/// Bytes in one direction from which a relay splices in the kernel: the stream has proved to be bulk transfer.
const BULK_BYTES: u64 = 256 * 1024;
/// Bytes in one direction from which a relay reads into a large buffer.
const LARGE_BYTES: u64 = 4 * BUFFER_BYTES_SMALL as u64;
/// Maximum number of bytes moved per turn, so that other tasks get theirs.
const TURN_BYTES_MAX: u64 = 1024 * 1024;

/// End of a relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RelayEnd {
    /// Both sides have ended, and all bytes were passed on.
    Complete,
    /// The client broke off.
    ClientGone,
    /// The endpoint broke off.
    UpstreamGone,
    /// Nothing was transferred for too long.
    Idle,
    /// The deadline has passed.
    DeadlinePassed,
}

/// Deadlines of a relay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RelayDeadlines<'t> {
    pub(crate) timer: &'t Timer,
    /// Idle timeout; zero for none.
    pub(crate) idle_timeout: Millis,
    /// Absolute deadline on the worker's clock.
    pub(crate) deadline: WorkerTime,
}

/// One direction of a relay.
#[derive(Debug, Default)]
pub(crate) struct HalfRelay {
    /// Bytes read and not yet written; without capacity while empty.
    pub(crate) buffer: Buffer,
    splice: Splice,
    /// Bytes written.
    pub(crate) moved: u64,
    is_ended: bool,
    is_done: bool,
}

/// Side of a direction that broke off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RelaySide {
    Source,
    Sink,
}

/// Both directions.
#[derive(Debug, Default)]
pub(crate) struct DuplexRelay {
    /// From the client.
    pub(crate) up: HalfRelay,
    /// To the client.
    pub(crate) down: HalfRelay,
    /// Bytes transferred when last checked, and the time at which the number last changed.
    seen: Option<(u64, WorkerTime)>,
}

impl DuplexRelay {
    /// Moves bytes until both sides have ended, one breaks off, or nothing was transferred for `idle_timeout`; zero for
    /// no limit.
    ///
    /// The end of one side is passed on as soon as the bytes before it; the other direction may go on without limit.
    pub(crate) async fn run(
        &mut self,
        client: &mut dyn DuplexStream,
        endpoint: &mut dyn DuplexStream,
        worker: &Rc<WorkerServices>,
        timer: &Timer,
        idle_timeout: Millis,
    ) -> RelayEnd {
        let relay_deadlines = RelayDeadlines { timer, idle_timeout, deadline: WorkerTime::NEVER };
        poll_fn(|cx| self.poll(cx, client, endpoint, worker, relay_deadlines)).await
    }

    /// As [`Self::run`], as far as possible now. The deadlines may differ at each call.
    pub(crate) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        client: &mut dyn DuplexStream,
        endpoint: &mut dyn DuplexStream,
        worker: &Rc<WorkerServices>,
        relay_deadlines: RelayDeadlines<'_>,
    ) -> Poll<RelayEnd> {
        relay_deadlines.timer.register(cx);
        let mut turn = RelayTurn {
            buffers: &worker.buffers,
            pipes: &worker.pipes,
            spliced: &worker.series.spliced,
            left: TURN_BYTES_MAX,
        };
        let mut end = self.poll_directions(cx, client, endpoint, &mut turn);
        if end.is_pending() {
            end = self.poll_timeout(worker.timers.now(), relay_deadlines);
        }
        if end.is_ready() {
            worker.buffers.release(&mut self.up.buffer);
            worker.buffers.release(&mut self.down.buffer);
        }
        end
    }

    /// Arms the timer for the next deadline, or returns the end when one has passed.
    fn poll_timeout(&mut self, now: WorkerTime, relay_deadlines: RelayDeadlines<'_>) -> Poll<RelayEnd> {
        let RelayDeadlines { timer, idle_timeout, deadline } = relay_deadlines;
        let total = self.up.moved + self.down.moved;
        let last_progress_at = match self.seen {
            Some((moved, last_progress_at)) if moved == total => last_progress_at,
            Some(_) | None => now,
        };
        self.seen = Some((total, last_progress_at));
        let idle_at =
            if idle_timeout > Millis::ZERO { last_progress_at + idle_timeout } else { WorkerTime::NEVER };
        if deadline <= now {
            return Poll::Ready(RelayEnd::DeadlinePassed);
        }
        if idle_at <= now {
            return Poll::Ready(RelayEnd::Idle);
        }
        let next = idle_at.min(deadline);
        if next < WorkerTime::NEVER {
            timer.arm_at(next);
        }
        Poll::Pending
    }

    fn poll_directions(
        &mut self,
        cx: &mut Context<'_>,
        client: &mut dyn DuplexStream,
        endpoint: &mut dyn DuplexStream,
        turn: &mut RelayTurn<'_>,
    ) -> Poll<RelayEnd> {
        let up = self.up.poll(cx, client, endpoint, turn);
        if let Poll::Ready(Err(broken)) = up {
            return Poll::Ready(match broken {
                RelaySide::Source => RelayEnd::ClientGone,
                RelaySide::Sink => RelayEnd::UpstreamGone,
            });
        }
        let down = self.down.poll(cx, endpoint, client, turn);
        if let Poll::Ready(Err(broken)) = down {
            return Poll::Ready(match broken {
                RelaySide::Source => RelayEnd::UpstreamGone,
                RelaySide::Sink => RelayEnd::ClientGone,
            });
        }
        if up.is_ready() && down.is_ready() {
            return Poll::Ready(RelayEnd::Complete);
        }
        if turn.left == 0 {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

/// Resources of a turn.
struct RelayTurn<'a> {
    buffers: &'a BufferPool,
    pipes: &'a Rc<PipePool>,
    spliced: &'a WorkerCounter,
    /// Bytes that may still be moved.
    left: u64,
}

impl HalfRelay {
    /// Moves the available bytes; ready when the source has ended and the end was passed on to the sink.
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        source: &mut dyn DuplexStream,
        sink: &mut dyn DuplexStream,
        turn: &mut RelayTurn<'_>,
    ) -> Poll<Result<(), RelaySide>> {
        loop {
            if self.is_done {
                return Poll::Ready(Ok(()));
            }
            if turn.left == 0 {
                return Poll::Pending;
            }
            if !self.buffer.is_empty() {
                let count = ready!(sink.poll_write(cx, self.buffer.held())).map_err(|_| RelaySide::Sink)?;
                self.buffer.consume(count);
                self.note(count, turn);
                continue;
            }
            if self.is_ended {
                self.is_done = true;
                // A sink that has already closed needs no end.
                let _ = sink.end();
                continue;
            }
            let is_bulk = self.splice.holds_bytes() || self.moved >= BULK_BYTES;
            let is_spliced = match (source.plain(), sink.plain()) {
                (Some(from), Some(to)) if is_bulk => ready!(self.poll_splice(cx, from, to, turn))?,
                _ => false,
            };
            if !is_spliced {
                ready!(self.poll_fill(cx, source, turn))?;
            }
        }
    }

    fn note(&mut self, count: usize, turn: &mut RelayTurn<'_>) {
        self.moved += count as u64;
        turn.left = turn.left.saturating_sub(count as u64);
    }

    /// Splices bytes through a pipe; returns false when no pipe is available.
    fn poll_splice(
        &mut self,
        cx: &mut Context<'_>,
        source: &Stream,
        sink: &Stream,
        turn: &mut RelayTurn<'_>,
    ) -> Poll<Result<bool, RelaySide>> {
        // The source determines where its bytes end.
        let mut left = u64::MAX;
        Poll::Ready(match ready!(self.splice.poll(cx, source, sink, turn.pipes, &mut left)) {
            Ok(Spliced::Bytes(count)) => {
                turn.spliced.add(count as u64);
                self.note(count, turn);
                Ok(true)
            }
            Ok(Spliced::End) => {
                self.is_ended = true;
                Ok(true)
            }
            Ok(Spliced::NoPipe | Spliced::Done) => Ok(false),
            Err(SpliceFault::Source(_)) => Err(RelaySide::Source),
            Err(SpliceFault::Sink(_)) => Err(RelaySide::Sink),
        })
    }

    fn poll_fill(
        &mut self,
        cx: &mut Context<'_>,
        source: &mut dyn DuplexStream,
        turn: &RelayTurn<'_>,
    ) -> Poll<Result<(), RelaySide>> {
        if self.buffer.capacity() == 0 {
            // No buffer is held while there is nothing to read.
            let _ = ready!(source.poll_readable(cx));
            let is_large = self.moved >= LARGE_BYTES;
            self.buffer = if is_large { turn.buffers.take_large() } else { turn.buffers.take_small() };
        }
        match source.poll_fill(cx, &mut self.buffer) {
            Poll::Ready(Ok(Fill::Bytes(_))) => Poll::Ready(Ok(())),
            Poll::Ready(Ok(Fill::End)) => {
                self.is_ended = true;
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(_)) => Poll::Ready(Err(RelaySide::Source)),
            Poll::Pending => {
                turn.buffers.release(&mut self.buffer);
                Poll::Pending
            }
        }
    }
}
