//! Task of an HTTP/2 link.

use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use eddy_http::Http2Fault;
use eddy_ids::{Millis, WorkerTime};
use eddy_io::{Buffer, Fill, PeerAlert, Stream, Timer, peer_alert};
use eddy_model::ClusterConfig;

use crate::h2::H2Transport;
use crate::runtime::WorkerServices;
use crate::upstream::shared::SharedLink;

/// Time that an endpoint has to read the last bytes.
const CLOSE: Millis = Millis::new(1_000);
/// Number of consecutive reads of a link before other tasks run.
const READS_AT_ONCE: usize = 16;

/// End of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UpstreamLinkEnd {
    /// One side has closed it.
    Closed,
    /// A TLS alert ended it.
    Alert(PeerAlert),
    /// The endpoint violated the protocol.
    Broken(Http2Fault),
}

/// Phase of a link, which determines its deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinkPhase {
    /// No stream is in use.
    Quiet,
    Busy,
    /// The endpoint does not read the bytes to be written.
    WriteBlocked,
    /// The last bytes are to be written.
    Over,
}

/// Reads and writes for a link.
pub(super) struct LinkDriver {
    link: Rc<SharedLink>,
    worker: Rc<WorkerServices>,
    /// Time that the link is kept without streams.
    idle_timeout: Millis,
    /// Time that the endpoint may read nothing.
    stuck_timeout: Millis,
    transport: H2Transport,
    timer: Timer,
    fault: Option<Http2Fault>,
    phase: LinkPhase,
    /// Time at which the phase began.
    since: WorkerTime,
}

impl LinkDriver {
    /// Creates the driver of a link over a stream that was just connected.
    pub(super) fn new(
        link: &Rc<SharedLink>,
        worker: &Rc<WorkerServices>,
        config: &ClusterConfig,
        stream: Stream,
    ) -> Self {
        Self {
            link: Rc::clone(link),
            worker: Rc::clone(worker),
            idle_timeout: Millis::of(config.pool.idle_timeout),
            stuck_timeout: Millis::of(config.read_idle_timeout),
            transport: H2Transport { stream, input: Buffer::default() },
            timer: worker.timers.timer(),
            fault: None,
            phase: LinkPhase::Busy,
            since: worker.timers.now(),
        }
    }

    /// Waits for the endpoint's SETTINGS, which prove that it speaks HTTP/2 and set its stream limit.
    pub(super) async fn settle(&mut self) -> Result<(), UpstreamLinkEnd> {
        poll_fn(|cx| match self.poll(cx) {
            Poll::Ready(ended) => Poll::Ready(Err(ended)),
            Poll::Pending if self.link.framed.look(|state| state.is_settled()) => Poll::Ready(Ok(())),
            Poll::Pending => Poll::Pending,
        })
        .await
    }

    /// Drives the link until one side ends it.
    pub(super) async fn run(&mut self) -> UpstreamLinkEnd {
        poll_fn(|cx| self.poll(cx)).await
    }

    pub(super) fn close(mut self) {
        self.worker.buffers.release(&mut self.transport.input);
        self.link.close();
        self.transport.stream.send_tls_close();
    }

    /// Reads and writes as far as possible; ready once the link has ended.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<UpstreamLinkEnd> {
        let link = Rc::clone(&self.link);
        link.framed.register(cx);
        self.timer.register(cx);
        if link.should_close() {
            link.framed.update(|state| state.leave());
        }
        for _ in 0..READS_AT_ONCE {
            let phase = &mut self.phase;
            let written = self.transport.poll_write(cx, &link.framed, || {
                // The endpoint reads again.
                if *phase == LinkPhase::WriteBlocked {
                    *phase = LinkPhase::Busy;
                }
            });
            if let Some(fault) = self.fault {
                // The GOAWAY for a protocol violation is written at once or not at all.
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
            // Reads continue while writes are blocked: two peers that wait for each other would wait forever.
            match self.poll_read(cx) {
                Poll::Ready(Ok(Fill::Bytes(_))) => self.take(),
                Poll::Ready(Ok(Fill::End)) => return Poll::Ready(UpstreamLinkEnd::Closed),
                Poll::Ready(Err(error)) => {
                    let alert = peer_alert(&error);
                    return Poll::Ready(alert.map_or(UpstreamLinkEnd::Closed, UpstreamLinkEnd::Alert));
                }
                Poll::Pending => return self.poll_deadline(),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Passes the bytes read to the protocol.
    fn take(&mut self) {
        let now = self.worker.timers.now();
        self.link.note_read(now);
        let received = self.transport.receive(&self.link.framed, now, &self.worker.buffers);
        self.fault = received.err().or(self.fault);
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Fill>> {
        ready!(self.transport.stream.poll_readable(cx))?;
        self.transport.poll_fill(cx, &self.worker.buffers)
    }

    /// Arms the timer for the next deadline, or handles one that has passed.
    fn poll_deadline(&mut self) -> Poll<UpstreamLinkEnd> {
        let now = self.worker.timers.now();
        let (is_over, is_written) =
            self.link.framed.look(|state| (state.is_over(), state.output().is_empty()));
        let phase = match () {
            () if is_over => LinkPhase::Over,
            () if !is_written => LinkPhase::WriteBlocked,
            () if self.link.has_no_streams() => LinkPhase::Quiet,
            () => LinkPhase::Busy,
        };
        if phase != self.phase {
            self.phase = phase;
            self.since = now;
        }
        let patience = match phase {
            LinkPhase::Quiet => self.idle_timeout,
            // Exchanges have deadlines of their own.
            LinkPhase::Busy => return Poll::Pending,
            LinkPhase::WriteBlocked => self.stuck_timeout,
            LinkPhase::Over => CLOSE,
        };
        let deadline = self.since.deadline(patience);
        if now < deadline {
            self.timer.arm_at(deadline);
            return Poll::Pending;
        }
        if phase == LinkPhase::Quiet {
            // The next round sends GOAWAY.
            self.link.retire();
            return Poll::Pending;
        }
        Poll::Ready(UpstreamLinkEnd::Closed)
    }
}
