//! The life of a client's connection: passed on as it is, or one exchange after the other, or many at once.

use std::rc::Rc;

use eddy_io::{PeerAddress, Stream, TlsStream};

use crate::exchange::{ConnectionDisposition, run_exchange};
use crate::plan::{ListenerHandler, ListenerPlan};
use crate::session::announced::announced;
use crate::session::client::DownstreamClient;
use crate::session::downstream::{Downstream, Wake};
use crate::session::forward::forward;
use crate::session::handshake::shake_hands;
use crate::session::http2::{begins_framed, serve_framed};
use crate::session::wire::Wire;
use crate::stats::ListenerSeries;
use crate::worker::{ListenerHandle, Worker, WorkerPlan, millis};

/// Serves a connection until one side ends it.
pub(crate) async fn serve(place: ConnectionSlot, mut stream: Stream, mut peer: PeerAddress) {
    let ConnectionSlot { worker, handle, .. } = &place;
    let timer = worker.timers.timer();
    if let Some(timeout_ms) = announcement_due(worker, handle, peer) {
        // Apart, so that connections that don't begin so have no room for it.
        match Box::pin(announced(&mut stream, peer, &timer, timeout_ms)).await {
            Ok(client) => peer = client,
            Err(why) => {
                tracing::debug!(%peer, "a connection is closed: {why}");
                place.series.iter().for_each(|series| series.unannounced.increment());
                return;
            }
        }
    }
    let Some(AcceptedConnection { stream, handshake_ms }) = open(worker, handle, stream) else { return };
    let mut down = Downstream::new(Wire::Connection(stream), Rc::new(DownstreamClient::new(peer)), timer);
    if let Some(handshake_ms) = handshake_ms {
        // A listener that is served has its counters; nobody is served over TLS without a handshake.
        let Some(series) = &place.series else { return };
        if !shake_hands(&mut down, handshake_ms, worker, &series.handshakes).await {
            return;
        }
    }
    let parting = match (forwards(worker, handle), &place.series) {
        (Some((plan, index)), Some(series)) => {
            Box::pin(forward(&mut down, plan, index, worker, series)).await
        }
        (None, Some(_)) if down.client.has_agreed_on(b"h2") => Parting::Framed,
        _ => converse(&mut down, worker, handle).await,
    };
    match (parting, &place.series) {
        (Parting::Framed, Some(series)) => {
            return Box::pin(serve_framed(worker, handle, series, down)).await;
        }
        (Parting::Whole | Parting::Framed, _) => down.wire.say_end(),
        // What was cut off must not look as if it had ended.
        (Parting::Cut, _) => down.wire.reset_on_close(),
    }
    let input = std::mem::take(&mut down.input);
    worker.buffers.put(input);
}

/// What is left of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parting {
    /// The last message on it was whole.
    Whole,
    /// It was not.
    Cut,
    /// All of it: HTTP/2 is spoken there.
    Framed,
}

/// Serves one exchange after the other.
async fn converse(down: &mut Downstream, worker: &Rc<Worker>, handle: &Rc<ListenerHandle>) -> Parting {
    while let Some(timeout_ms) = next_request_timeout(worker, handle, down) {
        if down.idle(timeout_ms, worker).await != Wake::Readable {
            break;
        }
        let may_be_framed = down.requests == 0 && takes_frames(worker, handle, down);
        if may_be_framed && begins_framed(down, timeout_ms, worker).await {
            return Parting::Framed;
        }
        let mut exchange = worker.take_exchange();
        let next = run_exchange(worker, handle, down, &mut exchange).await;
        worker.put_exchange(exchange);
        match next {
            ConnectionDisposition::KeepAlive => down.release(&worker.buffers),
            ConnectionDisposition::Close => break,
            ConnectionDisposition::Linger => {
                down.linger(&worker.buffers).await;
                break;
            }
            ConnectionDisposition::Abort => return Parting::Cut,
        }
    }
    Parting::Whole
}

/// Whether a client may speak HTTP/2 without having agreed on it: only in cleartext, where there is no way to agree.
fn takes_frames(worker: &Worker, handle: &ListenerHandle, down: &Downstream) -> bool {
    let plan = worker.plan();
    let listener = listener_of(&plan, handle);
    down.client.secure().is_none() && listener.is_some_and(|listener| listener.config.http2.in_cleartext)
}

/// How long to wait for what a proxy in front says, milliseconds; `None` where a connection doesn't begin so.
fn announcement_due(worker: &Worker, handle: &ListenerHandle, peer: PeerAddress) -> Option<u64> {
    let plan = worker.plan();
    let config = &listener_of(&plan, handle)?.config;
    let is_due = config.proxy_protocol.as_ref()?.is_due(peer.ip());
    is_due.then(|| millis(config.timeouts.head))
}

/// The plan by which connections of this listener are passed on, and its place there; `None` where requests are served.
fn forwards(worker: &Worker, handle: &ListenerHandle) -> Option<(Rc<WorkerPlan>, usize)> {
    let plan = worker.plan();
    let index = handle.index.get()?;
    let is_forward = matches!(plan.listener(index)?.handler, ListenerHandler::Forward(_));
    is_forward.then_some((plan, index))
}

/// A connection as its listener speaks on it.
struct AcceptedConnection {
    stream: Stream,
    /// How long the handshake may take that comes first, if one does, milliseconds.
    handshake_ms: Option<u64>,
}

/// Puts a connection into TLS where its listener is served so; `None` where it is not served any more, or cannot be.
fn open(worker: &Worker, handle: &ListenerHandle, stream: Stream) -> Option<AcceptedConnection> {
    let plan = worker.plan();
    let Some(tls) = &listener_of(&plan, handle)?.tls else {
        return Some(AcceptedConnection { stream, handshake_ms: None });
    };
    let stream = TlsStream::accept(stream, tls.server.config()).ok()?;
    Some(AcceptedConnection {
        stream: Stream::Tls(Box::new(stream)),
        handshake_ms: Some(millis(tls.handshake_timeout)),
    })
}

/// How long to wait for the next request, milliseconds; `None` when there is to be none.
fn next_request_timeout(worker: &Worker, handle: &ListenerHandle, down: &Downstream) -> Option<u64> {
    let plan = worker.plan();
    let listener = listener_of(&plan, handle)?;
    let timeouts = &listener.config.timeouts;
    // A client that has just connected is about to speak.
    let timeout = if down.requests == 0 { timeouts.head } else { timeouts.idle };
    Some(millis(timeout))
}

fn listener_of<'a>(plan: &'a WorkerPlan, handle: &ListenerHandle) -> Option<&'a ListenerPlan> {
    plan.listener(handle.index.get()?)
}

/// The room that a connection takes up, or a session of datagrams, from the moment it is accepted: a burst of them never
/// exceeds a limit.
pub(crate) struct ConnectionSlot {
    worker: Rc<Worker>,
    handle: Rc<ListenerHandle>,
    pub(super) series: Option<std::sync::Arc<ListenerSeries>>,
}

impl ConnectionSlot {
    pub(crate) fn take(worker: &Rc<Worker>, handle: &Rc<ListenerHandle>) -> Self {
        worker.connections.set(worker.connections.get() + 1);
        worker.room.enter();
        worker.series.connections.increment();
        handle.connections.set(handle.connections.get() + 1);
        let plan = worker.plan();
        let series = handle.index.get().and_then(|index| plan.series.listeners.get(index).cloned());
        if let Some(series) = &series {
            series.accepted.increment();
            series.connections.increment();
        }
        Self { worker: Rc::clone(worker), handle: Rc::clone(handle), series }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.worker.connections.set(self.worker.connections.get() - 1);
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
