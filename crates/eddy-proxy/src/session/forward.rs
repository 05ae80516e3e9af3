//! The life of a connection that is passed on as it is.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::Poll;

use eddy_config::{ListenAddress, ProxyVersion};
use eddy_io::{
    BUFFER_BYTES_LARGE, Buffer, Fill, Peer, ProxyHeaderVersion, write_proxy_header, write_proxy_header_local,
};
use eddy_tls::{Hello, read_hello};
use eddy_upstream::{Link, Tried};

use crate::exchange::AddressKey;
use crate::fault::Fault;
use crate::plan::{Handler, ListenerPlan};
use crate::session::downstream::Downstream;
use crate::session::relay::{Relay, RelayEnd};
use crate::session::serve::Parting;
use crate::session::wire::Wire;
use crate::stats::ListenerSeries;
use crate::worker::{Stay, Worker, WorkerCluster, WorkerPlan, millis, now};

/// Endpoints that are tried before a client is turned away.
const ATTEMPTS_MAX: usize = 3;

/// Passes the connection on until it ends; whether both sides ended it well.
pub(crate) async fn forward(
    down: &mut Downstream,
    plan: Rc<WorkerPlan>,
    index: usize,
    worker: &Rc<Worker>,
    series: &ListenerSeries,
) -> Parting {
    let passed = match begin(down, &plan, index, worker).await {
        Ok(passage) => {
            // It may last for days, and what a plan holds must not.
            drop(plan);
            pass(down, passage, worker, series).await
        }
        Err(fault) => Err(fault),
    };
    let Err(fault) = passed else { return Parting::Whole };
    if let Some(counter) = series.faults.get(fault.index()) {
        counter.increment();
    }
    tracing::debug!(
        client = &*down.client.peer_text,
        "a connection was not passed on to its end: {}",
        fault.reason()
    );
    Parting::Cut
}

/// A connection that has an endpoint.
struct Passage {
    /// Counts as a use of the endpoint for as long as it is passed on.
    _stay: Stay,
    link: Link,
    /// What the endpoint is sent first.
    first: Buffer,
    idle_ms: u64,
}

async fn begin(
    down: &mut Downstream,
    plan: &WorkerPlan,
    index: usize,
    worker: &Rc<Worker>,
) -> Result<Passage, Fault> {
    let listener = plan.listener(index).ok_or(Fault::NoRule)?;
    let Handler::Forward(forwarding) = &listener.handler else { return Err(Fault::NoRule) };
    let timeouts = &listener.config.timeouts;
    let name = match down.client.secure() {
        Some(secure) => secure.facts.server_name.clone(),
        None if forwarding.goes_by_name() => asked_name(down, worker, millis(timeouts.head)).await?,
        None => None,
    };
    let way = forwarding.find(name.as_deref()).ok_or(Fault::NoRule)?;
    let cluster = plan.clusters.get(way.cluster).ok_or(Fault::NoEndpoint)?;
    let (stay, link) = reach(down, cluster, worker).await?;
    let mut first = std::mem::take(&mut down.input);
    if let Some(version) = way.proxy {
        let mut announced = announcement(down, listener, version);
        announced.append(first.held());
        worker.buffers.put(std::mem::replace(&mut first, announced));
    }
    Ok(Passage { _stay: stay, link, first, idle_ms: millis(timeouts.idle) })
}

async fn pass(
    down: &mut Downstream,
    passage: Passage,
    worker: &Rc<Worker>,
    series: &ListenerSeries,
) -> Result<(), Fault> {
    let Passage { _stay, mut link, first, idle_ms } = passage;
    let mut relay = Relay::default();
    relay.up.buffer = first;
    // A stream of HTTP/2 is never passed on.
    let Wire::Connection(stream) = &mut down.wire else { return Err(Fault::ClientGone) };
    let end = relay.run(stream, &mut link.stream, worker, &down.timer, idle_ms).await;
    series.bytes_in.add(relay.up.moved);
    series.bytes_out.add(relay.down.moved);
    let fault = match end {
        RelayEnd::Complete => return Ok(()),
        RelayEnd::ClientGone => Fault::ClientGone,
        RelayEnd::UpstreamGone => Fault::ResponseCut,
        RelayEnd::Idle | RelayEnd::Due => Fault::UpstreamIdle,
    };
    // The endpoint must not take what was cut off for whole; one that has gone has nothing to be told.
    let _ = link.stream.reset_on_close();
    Err(fault)
}

/// Reads the name that the client asks for; what was read stays held.
async fn asked_name(
    down: &mut Downstream,
    worker: &Worker,
    timeout_ms: u64,
) -> Result<Option<String>, Fault> {
    down.timer.arm(timeout_ms);
    poll_fn(|cx| {
        down.timer.register(cx);
        loop {
            match read_hello(down.input.held()) {
                Hello::Tls(name) => return Poll::Ready(Ok(name)),
                Hello::Other => return Poll::Ready(Ok(None)),
                Hello::Partial => {}
            }
            if down.timer.is_expired() {
                return Poll::Ready(Err(Fault::HeadTimeout));
            }
            if down.input.capacity() > 0 && down.input.len() == down.input.capacity() {
                if down.input.capacity() >= BUFFER_BYTES_LARGE {
                    return Poll::Ready(Ok(None));
                }
                down.enlarge(&worker.buffers);
            }
            match down.poll_fill(cx, &worker.buffers) {
                Poll::Ready(Ok(Fill::Bytes(_))) => {}
                Poll::Ready(Ok(Fill::End) | Err(_)) => return Poll::Ready(Err(Fault::ClientGone)),
                Poll::Pending => return Poll::Pending,
            }
        }
    })
    .await
}

/// Connects to an endpoint of the cluster; to another one where the first can't be reached.
async fn reach(
    down: &Downstream,
    cluster: &Rc<WorkerCluster>,
    worker: &Rc<Worker>,
) -> Result<(Stay, Link), Fault> {
    let mut tried = Tried::default();
    let mut fault = Fault::NoEndpoint;
    let key = AddressKey::of(down.client.peer);
    for _ in 0..ATTEMPTS_MAX {
        let lease = {
            let now = now(worker.timers.now_ms());
            let mut rng = worker.rng.borrow_mut();
            cluster.state().borrow_mut().select_for(key.bytes(), now, &mut rng, &mut tried)
        };
        let Some(stay) = lease.and_then(|lease| Stay::begin(cluster, lease)) else { break };
        let Some(place) = stay.take_place() else {
            fault = Fault::LinksExhausted;
            continue;
        };
        match worker.open(&stay, place).await {
            Ok(link) => {
                stay.succeeded(worker.timers.now_ms());
                return Ok((stay, link));
            }
            Err(failed) => {
                cluster.series.failures.increment();
                stay.failed(worker.timers.now_ms());
                fault = failed;
            }
        }
    }
    Err(fault)
}

/// What the endpoint is told of the client, as the first bytes of a buffer.
fn announcement(down: &Downstream, listener: &ListenerPlan, version: ProxyVersion) -> Buffer {
    let version = match version {
        ProxyVersion::V1 => ProxyHeaderVersion::V1,
        ProxyVersion::V2 => ProxyHeaderVersion::V2,
    };
    let configured = match &listener.config.address {
        ListenAddress::Tcp(address) => Some(*address),
        ListenAddress::Unix(_) => None,
    };
    let local: Option<SocketAddr> = down.wire.local_address().or(configured);
    let mut bytes = Vec::new();
    match (down.client.peer, local) {
        (Peer::Tcp(client), Some(local)) => write_proxy_header(&mut bytes, version, client, local),
        (Peer::Tcp(_) | Peer::Unix, _) => write_proxy_header_local(&mut bytes, version),
    }
    let mut buffer = Buffer::with_capacity(bytes.len());
    buffer.append(&bytes);
    buffer
}
