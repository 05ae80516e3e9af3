//! One request and its complete response, over a link of a cluster.

use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Poll, ready};

use eddy_http::{
    ForwardedClient, ForwardedPolicy, GrpcEnd, HeadLimits, Method, RequestBody, RequestHead, RequestWrite,
    ResponseHead, Version, write_request_head,
};
use eddy_io::{Buffer, Fill};
use eddy_model::LimitKind;
use eddy_upstream::Tried;

use crate::fault::Fault;
use crate::host::OutboundOrder;
use crate::message::{BodyReader, OutputFraming, Pump};
use crate::upstream::{EndpointGuard, LinkWanted, UpstreamChannel, WorkerCluster};
use crate::worker::Worker;

/// Maximum body size of a response in bytes.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Maximum number of times that a request is sent again because its link had ended.
const LINK_RETRIES_MAX: u8 = 10;
/// Maximum number of interim responses before the final one.
const INTERIM_MAX: usize = 16;

/// A complete response.
#[derive(Debug)]
pub(crate) struct FetchResponse {
    pub(crate) head: ResponseHead,
    pub(crate) head_bytes: Vec<u8>,
    pub(crate) body: Vec<u8>,
    /// gRPC status in its head or trailers.
    pub(crate) grpc_end: GrpcEnd,
}

/// A request in the form in which it is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FetchRequest<'r> {
    pub(crate) method: Method,
    /// Whether it may be sent again.
    pub(crate) is_repeatable: bool,
    /// Head and body.
    pub(crate) bytes: &'r [u8],
    /// Length of the head.
    pub(crate) head_bytes: usize,
}

/// Reason word for a missing response.
pub(super) type Reason = &'static str;

/// Reason why an attempt brought no response.
enum FetchFailure {
    /// A reused link closed before the first byte of a response. The endpoint may have seen the request.
    Stale,
    /// The endpoint has not processed the request: its stream is above the last one of a GOAWAY.
    Unprocessed,
    /// Any other reason.
    Failed(Reason),
}

/// Sends the request of an order and reads the complete response.
///
/// # Errors
/// The reason word when there is none.
pub(super) async fn fetch(worker: &Rc<Worker>, order: &OutboundOrder) -> Result<FetchResponse, Reason> {
    let cluster = worker.plan().cluster(&order.cluster).cloned().ok_or("unknown_cluster")?;
    let request = write(worker, order)?;
    let is_repeatable = order.method.is_idempotent() && order.body.is_empty();
    let head_bytes = request.len() - order.body.len();
    send(worker, &cluster, &FetchRequest { method: order.method, is_repeatable, bytes: &request, head_bytes })
        .await
}

/// Sends a request to an endpoint of a cluster and reads the complete response. The request is sent again, at most
/// [`LINK_RETRIES_MAX`] times, when its link ended before the endpoint could respond.
///
/// # Errors
/// The reason word when there is no response.
pub(crate) async fn send(
    worker: &Rc<Worker>,
    cluster: &Rc<WorkerCluster>,
    sent: &FetchRequest<'_>,
) -> Result<FetchResponse, Reason> {
    let mut tried = Tried::new();
    let mut wanted = if sent.is_repeatable { LinkWanted::Any } else { LinkWanted::Quiet };
    let mut retries = 0;
    loop {
        let may_retry = retries < LINK_RETRIES_MAX;
        retries += 1;
        match attempt(worker, cluster, sent, wanted, &mut tried).await {
            Ok(answer) => return Ok(answer),
            // The other links in the pool may be closed as well.
            Err(FetchFailure::Stale) if sent.is_repeatable && may_retry => wanted = LinkWanted::New,
            Err(FetchFailure::Unprocessed) if may_retry => {}
            Err(FetchFailure::Stale) => return Err(Fault::LinkStale.reason()),
            Err(FetchFailure::Unprocessed) => return Err(Fault::LinkLeft.reason()),
            Err(FetchFailure::Failed(reason)) => return Err(reason),
        }
    }
}

/// Returns the request in the form in which it is sent, verified by the egress check like every other.
fn write(worker: &Worker, order: &OutboundOrder) -> Result<Vec<u8>, Reason> {
    // A minimal head to start from: the order's own headers are edits to it.
    let mut bytes = Vec::new();
    for part in
        [&*order.method_name, b" ", &order.target, b" HTTP/1.1\r\nHost: ", &order.authority, b"\r\n\r\n"]
    {
        bytes.extend_from_slice(part);
    }
    let mut head = RequestHead::new();
    head.parse(&bytes, &HeadLimits::default()).map_err(|_| "bad_request")?;
    let body = match order.body.len() as u64 {
        0 => RequestBody::None,
        length => RequestBody::Length(length),
    };
    let mut out = Vec::new();
    let policy = ForwardedPolicy { x_forwarded: false, forwarded: false, port: None };
    let request = RequestWrite {
        bytes: &bytes,
        head: &head,
        target: &order.target,
        host: &order.authority,
        body,
        edits: &order.edits,
        client: ForwardedClient { address: b"", scheme: "http", certificate: "", is_trusted: false, policy },
        via: None,
        request_id: None,
        upgrade: None,
        passes_expectation: false,
    };
    write_request_head(&mut out, &request);
    let mut egress = worker.egress.borrow_mut();
    egress.check_request(&out, &order.method_name, &order.target, body).map_err(|_| "bad_request")?;
    out.extend_from_slice(&order.body);
    Ok(out)
}

/// Makes one attempt at an endpoint of a cluster.
async fn attempt(
    worker: &Rc<Worker>,
    cluster: &Rc<WorkerCluster>,
    sent: &FetchRequest<'_>,
    wanted: LinkWanted,
    tried: &mut Tried,
) -> Result<FetchResponse, FetchFailure> {
    let now = worker.timers.now();
    let admitted = cluster.take(LimitKind::Requests).map_err(|fault| FetchFailure::Failed(fault.reason()))?;
    let lease = cluster.state().borrow_mut().select(now, &mut worker.rng.borrow_mut(), tried);
    let guard = lease
        .and_then(|lease| EndpointGuard::begin(cluster, lease, admitted))
        .ok_or(FetchFailure::Failed("no_endpoint"))?;
    let mut upstream = obtain(worker, &guard, wanted).await?;
    let mut input = worker.buffers.take_large();
    let read = converse(worker, &mut upstream, sent, &mut input).await;
    let is_empty = input.is_empty();
    worker.buffers.put(input);
    let now = worker.timers.now();
    match read {
        Ok(answer) => {
            if matches!(answer.head.status, 502..=504) {
                guard.failed(now)
            } else {
                guard.succeeded(now)
            }
            if let (true, true, UpstreamChannel::Link(link)) = (answer.head.keep_alive, is_empty, upstream) {
                let id = guard.lease().endpoint();
                cluster.pools().borrow_mut().at(id).put(link, &cluster.config.pool, now);
            }
            Ok(answer)
        }
        Err(broken) => {
            if matches!(broken, FetchFailure::Failed(_)) {
                guard.failed(now);
            }
            Err(broken)
        }
    }
}

async fn obtain(
    worker: &Rc<Worker>,
    guard: &EndpointGuard,
    wanted: LinkWanted,
) -> Result<UpstreamChannel, FetchFailure> {
    worker.obtain(guard, wanted).await.map_err(|fault| {
        if fault.blames_endpoint() {
            guard.failed(worker.timers.now());
        }
        FetchFailure::Failed(fault.reason())
    })
}

/// Returns the failure of an attempt without any byte of a response.
fn unanswered(upstream: &UpstreamChannel) -> FetchFailure {
    let fault = upstream.broken();
    if fault == Fault::LinkStale {
        FetchFailure::Stale
    } else if fault == Fault::LinkLeft {
        FetchFailure::Unprocessed
    } else {
        FetchFailure::Failed(fault.reason())
    }
}

/// Writes the request and reads the response.
async fn converse(
    worker: &Worker,
    upstream: &mut UpstreamChannel,
    sent: &FetchRequest<'_>,
    input: &mut Buffer,
) -> Result<FetchResponse, FetchFailure> {
    let mut upload = Pump::default();
    let framing =
        if upstream.version() == Version::Http2 { OutputFraming::Frames } else { OutputFraming::Plain };
    upload.stage_whole(sent.bytes, sent.head_bytes, framing);
    let written = poll_fn(|cx| {
        while upload.has_output() {
            ready!(upstream.poll_request(cx, &mut upload, &mut Buffer::default()))?;
        }
        Poll::Ready(io::Result::Ok(()))
    });
    let written = written.await;
    written.map_err(|_| unanswered(upstream))?;
    let method = sent.method;
    let mut head = ResponseHead::new();
    let limits = HeadLimits::default();
    let mut interims = 0;
    let head_bytes = loop {
        let parsed = head.parse_start(input.held(), &limits, method);
        if let Some(has_body) = upstream.framed_body() {
            head.note_framed(has_body);
        }
        match parsed.map_err(|_| FetchFailure::Failed("response_head"))? {
            Some(length) if head.is_interim() => {
                interims += 1;
                if interims > INTERIM_MAX {
                    return Err(FetchFailure::Failed("interim_flood"));
                }
                input.consume(length);
            }
            Some(length) => {
                let bytes = input.held()[..length].to_vec();
                input.consume(length);
                break bytes;
            }
            None => {
                let was_empty = input.is_empty();
                if fill(worker, upstream, input).await != Filled::Bytes {
                    return Err(if was_empty {
                        unanswered(upstream)
                    } else {
                        FetchFailure::Failed("response_cut")
                    });
                }
            }
        }
    };
    let mut reader = BodyReader::default();
    reader.begin_response(head.body_read());
    let mut body = Vec::new();
    while !reader.is_done() {
        let piece = reader.next(input.held()).map_err(|_| FetchFailure::Failed("response_chunk"))?;
        input.consume(piece.skip);
        if piece.data > 0 {
            body.extend_from_slice(&input.held()[..piece.data]);
            input.consume(piece.data);
            if body.len() > ANSWER_BYTES_MAX {
                return Err(FetchFailure::Failed("response_too_large"));
            }
        } else if !reader.is_done() {
            let may_go_on = match fill(worker, upstream, input).await {
                Filled::Bytes => true,
                Filled::End => upstream.end_body(&mut reader),
                Filled::Broken => false,
            };
            if !may_go_on {
                return Err(FetchFailure::Failed("response_cut"));
            }
        }
    }
    let in_head = GrpcEnd::of(head.fields(&head_bytes));
    let grpc_end = if in_head == GrpcEnd::Untold { GrpcEnd::of(reader.trailers()) } else { in_head };
    Ok(FetchResponse { head, head_bytes, body, grpc_end })
}

/// Result of reading more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filled {
    Bytes,
    End,
    Broken,
}

async fn fill(worker: &Worker, upstream: &mut UpstreamChannel, input: &mut Buffer) -> Filled {
    if input.room().is_empty() {
        let capacity = input.capacity();
        input.grow(capacity * 2);
    }
    match poll_fn(|cx| upstream.poll_fill(cx, input, &worker.buffers)).await {
        Ok(Fill::Bytes(_)) => Filled::Bytes,
        Ok(Fill::End) => Filled::End,
        Err(_) => Filled::Broken,
    }
}
