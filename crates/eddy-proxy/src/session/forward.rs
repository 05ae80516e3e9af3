//! Forwarding of a connection unchanged (layer 4).

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use eddy_config::{ListenAddress, ProxyVersion};
use eddy_ids::{Millis, Shared};
use eddy_io::{
    BUFFER_BYTES_LARGE, Buffer, PeerAddress, ProxyHeaderVersion, write_proxy_header, write_proxy_header_local,
};
use eddy_model::LimitKind;
use eddy_tls::{Hello, read_hello};
use eddy_upstream::{Link, ResolvedAddress, TriedEndpoints};

use crate::access::{SessionRecord, SessionStart};
use crate::downstream::{AddressKey, Downstream, DuplexRelay, RelayEnd, Wake, Wire};
use crate::fault::Fault;
use crate::plan::{ListenerHandler, ListenerPlan};
use crate::resolved::WorkerListener;
use crate::upstream::{EndpointGuard, WorkerCluster};
use crate::worker::Worker;

/// Maximum number of endpoints that are tried before a client is rejected.
pub(super) const ATTEMPTS_MAX: u8 = 3;

/// Forwards the connection until it ends, and logs it; returns whether both sides ended it regularly.
pub(crate) async fn forward(
    down: &mut Downstream,
    listener: Rc<WorkerListener>,
    worker: &Rc<Worker>,
) -> ConnectionHandoff {
    let mut account = Account::default();
    let series = Arc::clone(&listener.series);
    let start = SessionStart::of(&worker.plan().plan, &listener.config);
    let passed = match begin(down, &listener, worker, &mut account).await {
        Ok(passage) => {
            // The connection may last for days and must not keep the plan's resources that long.
            drop(listener);
            pass(down, passage, worker, &mut account).await
        }
        Err(fault) => Err(fault),
    };
    series.bytes_in.add(account.bytes_in);
    series.bytes_out.add(account.bytes_out);
    account.record(&start, down, passed.err(), worker);
    let Err(fault) = passed else { return ConnectionHandoff::KeepHttp1 };
    series.faults.count(fault);
    let (client, reason) = (&*down.client.peer_text, fault.reason());
    tracing::debug!(client, "forwarding of a connection failed: {reason}");
    ConnectionHandoff::Closed
}

/// Data for the access log entry of a connection.
#[derive(Default)]
struct Account {
    server_name: Option<String>,
    cluster: Option<Shared<str>>,
    endpoint: Option<Rc<ResolvedAddress>>,
    attempts: u8,
    bytes_in: u64,
    bytes_out: u64,
}

impl Account {
    fn record(&self, start: &SessionStart, down: &Downstream, fault: Option<Fault>, worker: &Worker) {
        let record = SessionRecord {
            start,
            client: down.client.peer,
            server_name: self.server_name.as_deref(),
            tls: down.client.secure().map(|secure| secure.facts.version),
            bytes_in: self.bytes_in,
            bytes_out: self.bytes_out,
            datagrams: None,
            cluster: self.cluster.as_deref().unwrap_or("-"),
            endpoint: self.endpoint.as_deref(),
            attempts: self.attempts,
            reason: fault.map_or("-", Fault::reason),
        };
        worker.log_session(&record);
    }
}

/// A connection that has an endpoint.
struct ForwardedConnection {
    /// Counts as a use of the endpoint while the connection is open.
    _guard: EndpointGuard,
    link: Link,
    /// Bytes to send to the endpoint first.
    first: Buffer,
    idle_timeout: Millis,
}

async fn begin(
    down: &mut Downstream,
    listener: &WorkerListener,
    worker: &Rc<Worker>,
    account: &mut Account,
) -> Result<ForwardedConnection, Fault> {
    let ListenerHandler::Forward(forwarding) = &listener.handler else { return Err(Fault::NoRule) };
    let timeouts = &listener.config.timeouts;
    let name = match down.client.secure() {
        Some(secure) => secure.facts.server_name.clone(),
        None if forwarding.routes_by_server_name() => {
            read_server_name(down, worker, Millis::of(timeouts.head)).await?
        }
        None => None,
    };
    account.server_name = name;
    let (way, cluster) = listener.way(account.server_name.as_deref()).ok_or(Fault::NoRule)?;
    account.cluster = Some(Shared::clone(&cluster.config.name));
    let (guard, link) = reach(down, cluster, worker, account).await?;
    let mut first = std::mem::take(&mut down.input);
    if let Some(version) = way.proxy {
        let mut announced = announcement(down, listener, version);
        announced.append(first.held());
        worker.buffers.put(std::mem::replace(&mut first, announced));
    }
    Ok(ForwardedConnection { _guard: guard, link, first, idle_timeout: Millis::of(timeouts.idle) })
}

async fn pass(
    down: &mut Downstream,
    passage: ForwardedConnection,
    worker: &Rc<Worker>,
    account: &mut Account,
) -> Result<(), Fault> {
    let ForwardedConnection { _guard, mut link, first, idle_timeout } = passage;
    let mut relay = DuplexRelay::default();
    relay.up.buffer = first;
    // HTTP/2 streams are never forwarded this way.
    let Wire::Connection(stream) = &mut down.wire else { return Err(Fault::ClientGone) };
    let end = relay.run(stream, &mut link.stream, worker, &down.timer, idle_timeout).await;
    (account.bytes_in, account.bytes_out) = (relay.up.moved, relay.down.moved);
    let fault = match end {
        RelayEnd::Complete => return Ok(()),
        RelayEnd::ClientGone => Fault::ClientGone,
        RelayEnd::UpstreamGone => Fault::ResponseCut,
        RelayEnd::Idle | RelayEnd::DeadlinePassed => Fault::UpstreamIdle,
    };
    // The endpoint must not mistake truncated data for complete data; one that is gone needs no reset.
    let _ = link.stream.reset_on_close();
    Err(fault)
}

/// Reads the server name (SNI) that the client asks for; the bytes read stay in the buffer.
async fn read_server_name(
    down: &mut Downstream,
    worker: &Worker,
    timeout: Millis,
) -> Result<Option<String>, Fault> {
    let name_in = |held: &[u8]| match read_hello(held) {
        Hello::Tls(name) => Some(name),
        Hello::Partial if held.len() < BUFFER_BYTES_LARGE => None,
        Hello::Partial | Hello::Other => Some(None),
    };
    let looked = down.look(timeout, &worker.buffers, name_in).await;
    looked.map_err(|wake| if wake == Wake::Expired { Fault::HeadTimeout } else { Fault::ClientGone })
}

/// Connects to an endpoint of the cluster; tries another one when the first is unreachable.
async fn reach(
    down: &Downstream,
    cluster: &Rc<WorkerCluster>,
    worker: &Rc<Worker>,
    account: &mut Account,
) -> Result<(EndpointGuard, Link), Fault> {
    let mut tried = TriedEndpoints::default();
    let mut fault = Fault::NoEndpoint;
    for _ in 0..ATTEMPTS_MAX {
        let Some(guard) = choose(cluster, down.client.peer, worker, &mut tried)? else { break };
        account.attempts += 1;
        account.endpoint = Some(Rc::clone(&guard.address));
        let place = match guard.take_link_permit() {
            Ok(place) => place,
            Err(exhausted) => {
                fault = exhausted;
                continue;
            }
        };
        match worker.open(&guard, place).await {
            Ok(link) => {
                guard.succeeded(worker.timers.now());
                return Ok((guard, link));
            }
            Err(failed) => {
                cluster.series.failures.increment();
                guard.failed(worker.timers.now());
                fault = failed;
            }
        }
    }
    Err(fault)
}

/// Selects an endpoint for a client, preferably one that was not tried before.
///
/// # Errors
/// The cluster limit that has been reached.
pub(super) fn choose(
    cluster: &Rc<WorkerCluster>,
    client: PeerAddress,
    worker: &Worker,
    tried: &mut TriedEndpoints,
) -> Result<Option<EndpointGuard>, Fault> {
    let admitted = cluster.take(LimitKind::Requests)?;
    let key = AddressKey::of(client);
    let lease = {
        let now = worker.timers.now();
        let mut rng = worker.rng.borrow_mut();
        cluster.state().borrow_mut().select_for(key.bytes(), now, &mut rng, tried)
    };
    Ok(lease.and_then(|lease| EndpointGuard::begin(cluster, lease, admitted)))
}

/// Returns the PROXY header for the endpoint, as the first bytes of a buffer.
fn announcement(down: &Downstream, listener: &ListenerPlan, version: ProxyVersion) -> Buffer {
    let version = match version {
        ProxyVersion::V1 => ProxyHeaderVersion::V1,
        ProxyVersion::V2 => ProxyHeaderVersion::V2,
    };
    let configured = match &listener.config.address {
        ListenAddress::Tcp(address) => Some(*address),
        ListenAddress::Unix(_) | ListenAddress::Udp(_) => None,
    };
    let local: Option<SocketAddr> = down.wire.local_address().or(configured);
    let mut bytes = Vec::new();
    match (down.client.peer, local) {
        (PeerAddress::Tcp(client), Some(local)) => write_proxy_header(&mut bytes, version, client, local),
        (PeerAddress::Tcp(_) | PeerAddress::Unix, _) => write_proxy_header_local(&mut bytes, version),
    }
    let mut buffer = Buffer::with_capacity(bytes.len());
    buffer.append(&bytes);
    buffer
}

/// State of a connection after serving HTTP/1 or forwarding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionHandoff {
    /// The last message on it was complete.
    KeepHttp1,
    /// The last message on it was truncated.
    Closed,
    /// The connection continues with HTTP/2.
    Http2,
}
