//! HTTP/2 connection of a client: many concurrent exchanges, each on its own stream.
//!
//! [`serve_http2`] is the connection's task, which reads and writes for it. Each exchange is a task of its own that uses
//! an [`H2Stream`].

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use eddy_http::{ErrorCode, Http2, Http2Fault, Http2Limits};
use eddy_ids::{Millis, WorkerTime};
use eddy_io::{Fill, Timer};

use crate::downstream::{Downstream, DownstreamClient, Wire};
use crate::exchange::{ConnectionDisposition, run_exchange};
use crate::h2::{H2Connection, H2Stream, H2Transport};
use crate::runtime::{Ticket, Waited};
use crate::session::listener::ListenerHandle;
use crate::stats::ListenerSeries;
use crate::worker::Worker;

/// Time that a client has to read the last bytes of a connection, and time between the announcement of
/// the end and the GOAWAY that names the last request processed.
const CLOSE: Millis = Millis::new(5_000);
/// Number of consecutive reads of a connection before other tasks run.
const READS_AT_ONCE: usize = 16;

/// Serves a connection, from which bytes may have been read already, until one side ends it.
pub(crate) async fn serve_http2(
    worker: &Rc<Worker>,
    handle: &Rc<ListenerHandle>,
    series: &Arc<ListenerSeries>,
    down: Downstream,
) {
    let Downstream { wire: Wire::Connection(stream), client, timer, input, .. } = down else { return };
    let Some(limits) = limits(handle) else { return };
    series.http2.connections.increment();
    let http2 = Http2::new(limits, worker.timers.now());
    let connection = Http2Session {
        worker: Rc::clone(worker),
        handle: Rc::clone(handle),
        client: Rc::clone(&client),
        series: Arc::clone(series),
        requests: Cell::new(0),
        framed: Rc::new(H2Connection::new(http2)),
    };
    let mut serving = Http2SessionDriver {
        connection: Rc::new(connection),
        transport: H2Transport { stream, input },
        timer,
        ticket: None,
        waited: Waited::WithinDeadline,
        phase: Http2SessionPhase::Quiet,
        since: worker.timers.now(),
        is_idle: false,
    };
    let mut lifecycle_changed = pin!(worker.lifecycle_changed.notified());
    let ending = poll_fn(|cx| {
        while lifecycle_changed.as_mut().poll(cx).is_ready() {
            lifecycle_changed.set(worker.lifecycle_changed.notified());
        }
        serving.poll(cx)
    });
    let ending = ending.await;
    let Http2SessionDriver { connection, transport: H2Transport { mut stream, input }, timer, .. } = serving;
    worker.buffers.put(input);
    connection.framed.update(|state| state.cut());
    match ending {
        Http2SessionEnd::Gone => {}
        Http2SessionEnd::Closed => stream.send_tls_close(),
        // Bytes that the client still sends must not make the kernel discard the GOAWAY.
        Http2SessionEnd::Failed => {
            Downstream::new(Wire::Connection(stream), client, timer).linger(&worker.buffers).await;
        }
    }
}

/// HTTP/2 connection of a client, as its exchanges see it.
struct Http2Session {
    worker: Rc<Worker>,
    handle: Rc<ListenerHandle>,
    client: Rc<DownstreamClient>,
    series: Arc<ListenerSeries>,
    /// Number of exchanges begun.
    requests: Cell<u64>,
    framed: Rc<H2Connection>,
}

/// End of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Http2SessionEnd {
    /// The client has disconnected, or accepts nothing any more.
    Gone,
    /// Regular end, known to both sides.
    Closed,
    /// The connection was ended with an error.
    Failed,
}

/// Phase of a connection, which determines its deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Http2SessionPhase {
    /// No request is in progress.
    Quiet,
    /// A request head has arrived in part.
    Head,
    Busy,
    /// The client was informed that the connection will end.
    ShuttingDown,
    /// The last bytes are to be written.
    Over,
}

/// Task of a connection.
struct Http2SessionDriver {
    connection: Rc<Http2Session>,
    transport: H2Transport,
    timer: Timer,
    ticket: Option<Ticket>,
    /// Whether the last bytes read had waited too long for the worker.
    waited: Waited,
    phase: Http2SessionPhase,
    /// Time at which the phase began.
    since: WorkerTime,
    /// Whether the worker may close the connection to make room.
    is_idle: bool,
}

impl Http2SessionDriver {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Http2SessionEnd> {
        let connection = Rc::clone(&self.connection);
        connection.framed.register(cx);
        self.timer.register(cx);
        if self.should_close() {
            connection.framed.update(|state| state.leave());
        }
        let mut fault = self.take();
        for _ in 0..READS_AT_ONCE {
            let written = self.transport.poll_write(cx, &connection.framed, || ());
            if let Poll::Ready(Err(_)) = written {
                return Poll::Ready(Http2SessionEnd::Gone);
            }
            if written.is_ready() && connection.framed.look(|state| state.is_over()) {
                return Poll::Ready(if fault.is_err() || self.phase == Http2SessionPhase::Over {
                    Http2SessionEnd::Failed
                } else {
                    Http2SessionEnd::Closed
                });
            }
            if connection.framed.look(|state| state.is_full() || state.is_over()) {
                return self.poll_deadline();
            }
            match self.poll_read(cx) {
                Poll::Ready(Ok(Fill::Bytes(_))) => fault = self.take(),
                Poll::Ready(Ok(Fill::End) | Err(_)) => return Poll::Ready(Http2SessionEnd::Gone),
                Poll::Pending => return self.poll_deadline(),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Passes the bytes read to the protocol, and starts exchanges for new streams.
    fn take(&mut self) -> Result<(), Http2Fault> {
        let Self { connection, transport, .. } = self;
        let worker = &connection.worker;
        let received = transport.receive(&connection.framed, worker.timers.now(), &worker.buffers);
        if let Err(fault) = received {
            let client = &*connection.client.peer_text;
            tracing::debug!(client, "an HTTP/2 connection failed: {fault}");
            connection.series.http2.failed(fault);
        }
        while let Some(id) = connection.framed.update(|state| state.next_opened()) {
            connection.requests.set(connection.requests.get() + 1);
            let exchange = exchange(Rc::clone(connection), id, self.waited);
            tokio::task::spawn_local(exchange);
        }
        received
    }

    /// Reads more, once there is data and the worker admits it.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<std::io::Result<Fill>> {
        let worker = &self.connection.worker;
        ready!(self.transport.stream.poll_readable(cx))?;
        if self.ticket.is_some() || worker.admission.is_queueing() {
            self.waited = ready!(worker.admission.poll_admission(&mut self.ticket, cx));
        } else {
            self.waited = Waited::WithinDeadline;
        }
        self.transport.poll_fill(cx, &worker.buffers)
    }

    /// Whether the client should be informed that the connection will end.
    fn should_close(&self) -> bool {
        let Http2Session { worker, handle, requests, .. } = &*self.connection;
        if worker.is_draining.get() {
            return true;
        }
        handle.current().is_none_or(|listener| {
            let requests_max = listener.config.limits.requests_per_connection_max;
            requests_max > 0 && requests.get() >= requests_max
        })
    }

    /// Arms the timer for the next deadline, or handles one that has passed.
    fn poll_deadline(&mut self) -> Poll<Http2SessionEnd> {
        let connection = Rc::clone(&self.connection);
        let worker = &connection.worker;
        let now = worker.timers.now();
        let is_over = connection.framed.look(|state| state.is_over());
        let is_first = connection.requests.get() == 0;
        let phase = connection.framed.look(|state| match () {
            () if is_over => Http2SessionPhase::Over,
            () if state.is_in_block() => Http2SessionPhase::Head,
            () if state.has_streams() => Http2SessionPhase::Busy,
            () if state.is_shutting_down() => Http2SessionPhase::ShuttingDown,
            () => Http2SessionPhase::Quiet,
        });
        let is_shed = self.is_idle && self.timer.is_expired();
        if phase != self.phase {
            self.phase = phase;
            self.since = now;
        }
        let (head_timeout, idle_timeout) = self.patience().unwrap_or_default();
        let patience = match phase {
            // A new client is expected to send its first request soon.
            Http2SessionPhase::Quiet if is_first => head_timeout,
            Http2SessionPhase::Quiet => idle_timeout,
            Http2SessionPhase::Head => head_timeout,
            Http2SessionPhase::Busy => Millis::MAX,
            Http2SessionPhase::ShuttingDown | Http2SessionPhase::Over => CLOSE,
        };
        let deadline = self.since.deadline(patience);
        if now >= deadline || (is_shed && phase == Http2SessionPhase::Quiet) {
            match phase {
                Http2SessionPhase::Over => return Poll::Ready(Http2SessionEnd::Gone),
                Http2SessionPhase::Head => connection.framed.act(|state| state.end(ErrorCode::NoError)),
                Http2SessionPhase::Quiet | Http2SessionPhase::ShuttingDown | Http2SessionPhase::Busy => {
                    connection.framed.act(|state| state.send_final_goaway())
                }
            }
            // The next round writes it.
            return Poll::Pending;
        }
        self.timer.arm_at(deadline);
        let is_idle = phase == Http2SessionPhase::Quiet;
        if is_idle != self.is_idle {
            self.is_idle = is_idle;
            self.timer.set_idle(is_idle);
        }
        Poll::Pending
    }

    /// Returns the timeouts for a complete head and for the next request.
    fn patience(&self) -> Option<(Millis, Millis)> {
        let listener = self.connection.handle.current()?;
        let timeouts = &listener.config.timeouts;
        Some((Millis::of(timeouts.head), Millis::of(timeouts.idle)))
    }
}

/// Runs one exchange from its head to its access log entry.
async fn exchange(connection: Rc<Http2Session>, id: u32, waited: Waited) {
    let _panics = Panics(&connection.worker);
    let Http2Session { worker, handle, client, series, .. } = &*connection;
    let stream = H2Stream::new(Rc::clone(&connection.framed), id);
    let mut down = Downstream::new(Wire::Http2(stream), Rc::clone(client), worker.timers.timer());
    down.waited = waited;
    series.http2.requests.increment();
    let Some(listener) = handle.current() else { return };
    // The fate of the stream is determined by its response.
    let next = run_exchange(worker, listener, &mut down).await;
    if next == ConnectionDisposition::Linger {
        // A reset, even one without an error, makes some clients discard a response that arrived while they were still
        // sending.
        Box::pin(down.linger(&worker.buffers)).await;
    }
    worker.buffers.release(&mut down.input);
}

/// Counts a panic of an exchange; only its stream ends.
struct Panics<'w>(&'w Worker);

impl Drop for Panics<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.series.panics.increment();
        }
    }
}

fn limits(handle: &ListenerHandle) -> Option<Http2Limits> {
    let listener = handle.current()?;
    let config = &listener.config;
    Some(config.http2.limits(config.limits.head))
}
