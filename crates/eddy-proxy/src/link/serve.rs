//! The life of a link of HTTP/2.

use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use eddy_http::Http2Fault;
use eddy_io::{Buffer, Fill, Stream, TICK_MS, Timer, is_alert};
use eddy_upstream::ClusterConfig;

use crate::link::shared::SharedLink;
use crate::worker::{Worker, millis};

/// How long an endpoint has to take what it is told last, milliseconds.
const CLOSE_MS: u64 = 1_000;
/// How often a link reads before others get their turn.
const READS_AT_ONCE: usize = 16;

/// How a link has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UpstreamLinkEnd {
    /// One side has closed it.
    Closed,
    /// By an alert of TLS.
    Alert,
    /// The endpoint broke the protocol.
    Broken(Http2Fault),
}

/// What a link is doing, as far as its deadlines go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinkPhase {
    /// Nobody has a stream.
    Quiet,
    Busy,
    /// The endpoint takes nothing of what is to be written.
    Stuck,
    /// The last is to be written.
    Over,
}

/// Reads and writes for a link.
pub(super) struct LinkDriver {
    link: Rc<SharedLink>,
    worker: Rc<Worker>,
    /// How long it is kept while nobody has a stream.
    idle_ms: u64,
    /// How long the endpoint may take nothing.
    stuck_ms: u64,
    stream: Stream,
    timer: Timer,
    /// What was read and is no whole frame; without capacity while nothing is held.
    input: Buffer,
    fault: Option<Http2Fault>,
    phase: LinkPhase,
    /// When the phase began.
    since_ms: u64,
}

impl LinkDriver {
    /// A link over a stream that was just connected.
    pub(super) fn new(
        link: &Rc<SharedLink>,
        worker: &Rc<Worker>,
        config: &ClusterConfig,
        stream: Stream,
    ) -> Self {
        Self {
            link: Rc::clone(link),
            worker: Rc::clone(worker),
            idle_ms: millis(config.pool.idle_timeout),
            stuck_ms: millis(config.read_idle_timeout),
            stream,
            timer: worker.timers.timer(),
            input: Buffer::default(),
            fault: None,
            phase: LinkPhase::Busy,
            since_ms: worker.timers.now_ms(),
        }
    }

    /// Waits until the endpoint has told of itself, by which it shows that it speaks HTTP/2 and how many requests it takes.
    ///
    /// # Errors
    /// How the link has ended instead.
    pub(super) async fn settle(&mut self) -> Result<(), UpstreamLinkEnd> {
        poll_fn(|cx| match self.poll(cx) {
            Poll::Ready(ended) => Poll::Ready(Err(ended)),
            Poll::Pending if self.link.framed.look(|state| state.is_settled()) => Poll::Ready(Ok(())),
            Poll::Pending => Poll::Pending,
        })
        .await
    }

    /// Goes on until one side ends the link.
    pub(super) async fn run(&mut self) -> UpstreamLinkEnd {
        poll_fn(|cx| self.poll(cx)).await
    }

    /// Closes the link.
    pub(super) fn close(mut self) {
        self.worker.buffers.put(self.input);
        self.link.close();
        self.stream.say_end();
    }

    /// Reads and writes what there is; ready once the link has ended.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<UpstreamLinkEnd> {
        let link = Rc::clone(&self.link);
        link.framed.register(cx);
        self.timer.register(cx);
        if link.is_to_leave() {
            link.framed.update(|state| state.leave());
        }
        for _ in 0..READS_AT_ONCE {
            let written = self.poll_write(cx);
            if let Some(fault) = self.fault {
                // Who breaks the protocol is told at once or not at all.
                return Poll::Ready(UpstreamLinkEnd::Broken(fault));
            }
            if let Poll::Ready(Err(_)) = written {
                return Poll::Ready(UpstreamLinkEnd::Closed);
            }
            if link.framed.look(|state| state.is_over()) {
                return if written.is_ready() {
                    Poll::Ready(UpstreamLinkEnd::Closed)
                } else {
                    self.poll_deadline()
                };
            }
            // It reads on while it can't write: two who wait for each other would wait for ever.
            match self.poll_read(cx) {
                Poll::Ready(Ok(Fill::Bytes(_))) => self.take(),
                Poll::Ready(Err(error)) if is_alert(&error) => return Poll::Ready(UpstreamLinkEnd::Alert),
                Poll::Ready(Ok(Fill::End) | Err(_)) => return Poll::Ready(UpstreamLinkEnd::Closed),
                Poll::Pending => return self.poll_deadline(),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Gives what was read to the protocol.
    fn take(&mut self) {
        let Self { link, worker, input, fault, .. } = self;
        let now_ms = worker.timers.now_ms();
        link.note_read(now_ms);
        match link.framed.update(|state| state.receive(input.held(), now_ms)) {
            Ok(count) => input.consume(count),
            Err(broken) => {
                input.clear();
                *fault = Some(broken);
            }
        }
        if input.is_empty() && input.capacity() > 0 {
            worker.buffers.put(std::mem::take(input));
        }
    }

    /// Writes what there is; ready once all is written.
    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { link, stream, phase, .. } = self;
        while link.framed.look(|state| !state.output().is_empty()) {
            let written = ready!(link.framed.look(|state| stream.poll_write(cx, state.output())))?;
            link.framed.update(|state| state.written(written));
            // It does take something.
            if *phase == LinkPhase::Stuck {
                *phase = LinkPhase::Busy;
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Fill>> {
        let Self { worker, stream, input, .. } = self;
        ready!(stream.poll_readable(cx))?;
        if input.capacity() == 0 {
            *input = worker.buffers.take_large();
        } else {
            // The rest of a frame may be longer than what is left of a small buffer.
            input.grow(eddy_io::BUFFER_BYTES_LARGE);
        }
        let filled = stream.poll_fill(cx, input);
        if input.is_empty() {
            worker.buffers.put(std::mem::take(input));
        }
        filled
    }

    /// Sets the timer to what is due next, or does what was due.
    fn poll_deadline(&mut self) -> Poll<UpstreamLinkEnd> {
        let now_ms = self.worker.timers.now_ms();
        let (is_over, is_written) =
            self.link.framed.look(|state| (state.is_over(), state.output().is_empty()));
        let phase = match () {
            () if is_over => LinkPhase::Over,
            () if !is_written => LinkPhase::Stuck,
            () if self.link.is_at_rest() => LinkPhase::Quiet,
            () => LinkPhase::Busy,
        };
        if phase != self.phase {
            self.phase = phase;
            self.since_ms = now_ms;
        }
        let patience_ms = match phase {
            LinkPhase::Quiet => self.idle_ms,
            // Exchanges have deadlines of their own.
            LinkPhase::Busy => return Poll::Pending,
            LinkPhase::Stuck => self.stuck_ms,
            LinkPhase::Over => CLOSE_MS,
        };
        // The worker's clock may be a tick behind.
        let due_ms = self.since_ms.saturating_add(patience_ms).saturating_add(TICK_MS);
        if now_ms < due_ms {
            self.timer.arm_at(due_ms);
            return Poll::Pending;
        }
        if phase == LinkPhase::Quiet {
            // It says goodbye in the next round.
            self.link.retire();
            return Poll::Pending;
        }
        Poll::Ready(UpstreamLinkEnd::Closed)
    }
}
