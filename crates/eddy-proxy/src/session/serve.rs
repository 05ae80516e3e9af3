//! Serving of a client's connection: forwarded unchanged, HTTP/1 exchanges one after the other, or HTTP/2.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use eddy_http::{DetectedProtocol, spoken};
use eddy_ids::Millis;
use eddy_io::{PeerAddress, Stream, TlsStream};

use crate::downstream::{Downstream, DownstreamClient, Wake, Wire};
use crate::exchange::{ConnectionDisposition, run_exchange};
use crate::plan::ListenerHandler;
use crate::resolved::WorkerListener;
use crate::session::announced::announced;
use crate::session::forward::{ConnectionHandoff, forward};
use crate::session::handshake::perform_handshake;
use crate::session::http2::serve_http2;
use crate::session::listener::ListenerHandle;
use crate::stats::ListenerSeries;
use crate::worker::Worker;

/// Time that a connection stays open without a request while the gateway drains, so that its client can send one more
/// request and learn of the close from its response.
pub(crate) const DRAIN_IDLE_TIMEOUT: Duration = Duration::from_secs(2);

/// Serves a connection until one side ends it.
///
/// The future is most of the memory of an idle connection. This is not an `async fn`, whose future would hold the
/// arguments twice.
pub(crate) fn serve(place: ConnectionSlot, stream: Stream, peer: PeerAddress) -> impl Future<Output = ()> {
    let timer = place.worker.timers.timer();
    let mut down = Downstream::new(Wire::Connection(stream), Rc::new(DownstreamClient::new(peer)), timer);
    async move {
        let ConnectionSlot { worker, handle, series } = &place;
        if let Some(timeout) = announcement_due(handle, peer) {
            // Boxed, so that connections without a PROXY header reserve no space for it.
            match Box::pin(announced(&mut down, peer, timeout)).await {
                Ok(client) => down.client = Rc::new(DownstreamClient::new(client)),
                Err(why) => {
                    tracing::debug!(%peer, "a connection is closed: {why}");
                    series.iter().for_each(|series| series.unannounced.increment());
                    return;
                }
            }
        }
        let Some((opened, handshake_timeout)) = open(handle, down) else { return };
        down = opened;
        if let Some(handshake_timeout) = handshake_timeout {
            // A listener that is served has its counters; without a handshake, nothing is served over TLS.
            let Some(series) = series else { return };
            if !perform_handshake(&mut down, handshake_timeout, worker, &series.handshakes).await {
                return;
            }
        }
        let parting = match (forwards(handle), series) {
            (Some(listener), Some(_)) => Box::pin(forward(&mut down, listener, worker)).await,
            (None, Some(_)) if down.client.has_negotiated(b"h2") => ConnectionHandoff::Http2,
            _ => converse(&mut down, worker, handle).await,
        };
        match (parting, series) {
            (ConnectionHandoff::Http2, Some(series)) => {
                return Box::pin(serve_http2(worker, handle, series, down)).await;
            }
            (ConnectionHandoff::KeepHttp1 | ConnectionHandoff::Http2, _) => down.wire.send_tls_close(),
            // A truncated message must not look complete.
            (ConnectionHandoff::Closed, _) => down.wire.duplex().cut(),
        }
        worker.buffers.release(&mut down.input);
    }
}

/// Serves HTTP/1 exchanges one after the other.
async fn converse(
    down: &mut Downstream,
    worker: &Rc<Worker>,
    handle: &Rc<ListenerHandle>,
) -> ConnectionHandoff {
    while let Some(timeout) = next_request_timeout(worker, handle, down) {
        if down.idle(timeout, worker).await != Wake::Readable {
            break;
        }
        let may_be_framed = down.requests == 0 && accepts_prior_knowledge(handle, down);
        if may_be_framed && detect_http2(down, timeout, worker).await {
            return ConnectionHandoff::Http2;
        }
        let Some(listener) = handle.current() else { break };
        match run_exchange(worker, listener, down).await {
            ConnectionDisposition::KeepAlive => down.release(&worker.buffers),
            ConnectionDisposition::Close => break,
            ConnectionDisposition::Linger => {
                down.linger(&worker.buffers).await;
                break;
            }
            ConnectionDisposition::Abort => return ConnectionHandoff::Closed,
        }
    }
    ConnectionHandoff::KeepHttp1
}

/// Detects by the first bytes of a connection whether the client speaks HTTP/2; waits for as many bytes as that takes.
/// The bytes stay in the buffer.
async fn detect_http2(down: &mut Downstream, timeout: Millis, worker: &Worker) -> bool {
    let is_framed = |held: &[u8]| match spoken(held) {
        DetectedProtocol::Http1 => Some(false),
        DetectedProtocol::Http2 => Some(true),
        DetectedProtocol::NeedMore => None,
    };
    // A connection that ends before the protocol is clear is one of HTTP/1.
    down.look(timeout, &worker.buffers, is_framed).await.unwrap_or(false)
}

/// Whether a client may speak HTTP/2 with prior knowledge: only in cleartext, where there is no ALPN.
fn accepts_prior_knowledge(handle: &ListenerHandle, down: &Downstream) -> bool {
    let listener = handle.current();
    down.client.secure().is_none() && listener.is_some_and(|listener| listener.config.http2.in_cleartext)
}

/// Returns the timeout for the PROXY header, or `None` when the connection does not begin with one.
fn announcement_due(handle: &ListenerHandle, peer: PeerAddress) -> Option<Millis> {
    let listener = handle.current()?;
    let config = &listener.config;
    let is_due = config.proxy_protocol.as_ref()?.is_due(peer.ip());
    is_due.then(|| Millis::of(config.timeouts.head))
}

/// Returns the listener if it forwards its connections; `None` when it serves requests.
fn forwards(handle: &ListenerHandle) -> Option<Rc<WorkerListener>> {
    handle.current().filter(|listener| matches!(listener.handler, ListenerHandler::Forward(_)))
}

/// Sets up TLS on a connection if its listener uses it, and returns the timeout of the handshake; `None` when the
/// listener is gone or TLS cannot be set up.
fn open(handle: &ListenerHandle, down: Downstream) -> Option<(Downstream, Option<Millis>)> {
    let listener = handle.current()?;
    let Some(tls) = &listener.tls else { return Some((down, None)) };
    let wire = match down.wire {
        Wire::Connection(stream) => {
            let stream = TlsStream::accept(stream, tls.server.config()).ok()?;
            Wire::Connection(Stream::Tls(Box::new(stream)))
        }
        stream @ Wire::Http2(_) => stream,
    };
    Some((Downstream { wire, ..down }, Some(Millis::of(tls.handshake_timeout))))
}

/// Returns the timeout for the next request, or `None` when no further request is served.
fn next_request_timeout(worker: &Worker, handle: &ListenerHandle, down: &Downstream) -> Option<Millis> {
    let listener = handle.current()?;
    let timeouts = &listener.config.timeouts;
    // A new client is expected to send its first request soon.
    let timeout = if down.requests == 0 { timeouts.head } else { timeouts.idle };
    // A response that began before a drain has not announced its end; the connection is idle from here on.
    let is_draining = worker.is_draining.get();
    Some(Millis::of(if is_draining { timeout.min(DRAIN_IDLE_TIMEOUT) } else { timeout }))
}

/// Capacity taken by a connection or a datagram session from the moment it is accepted, so that a burst never exceeds a
/// limit.
pub(crate) struct ConnectionSlot {
    worker: Rc<Worker>,
    handle: Rc<ListenerHandle>,
    pub(super) series: Option<Arc<ListenerSeries>>,
}

impl ConnectionSlot {
    pub(crate) fn take(worker: &Rc<Worker>, handle: &Rc<ListenerHandle>) -> Self {
        worker.room.enter();
        worker.series.connections.increment();
        handle.connections.set(handle.connections.get() + 1);
        let series = handle.current().map(|listener| Arc::clone(&listener.series));
        if let Some(series) = &series {
            series.accepted.increment();
            series.connections.increment();
        }
        Self { worker: Rc::clone(worker), handle: Rc::clone(handle), series }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.worker.room.leave();
        self.worker.series.connections.decrement();
        self.handle.connections.set(self.handle.connections.get() - 1);
        if let Some(series) = &self.series {
            series.connections.decrement();
        }
        if std::thread::panicking() {
            self.worker.series.panics.increment();
        }
    }
}
