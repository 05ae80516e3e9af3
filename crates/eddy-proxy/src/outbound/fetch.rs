//! One request and its complete response, over a link of a cluster.

use std::rc::Rc;

use eddy_http::{
    ForwardedClient, ForwardedPolicy, HeadLimits, RequestBody, RequestHead, RequestWrite, write_request_head,
};
use eddy_model::LimitKind;
use eddy_upstream::TriedEndpoints;
use eddy_upstream::client::{Conversation, ConversationFault, ResponseProgress, WholeRequest, WholeResponse};

use crate::fault::Fault;
use crate::host::OutboundOrder;
use crate::upstream::{EndpointGuard, LinkRequirement, UpstreamChannel, WorkerCluster};
use crate::worker::Worker;

/// Maximum body size of a response in bytes.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Maximum number of times that a request is sent again because its link had ended.
const LINK_RETRIES_MAX: u8 = 10;

/// A request of a worker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FetchRequest<'r> {
    pub(crate) request: WholeRequest<'r>,
    /// Whether it may be sent again.
    pub(crate) is_repeatable: bool,
}

/// Reason word for a missing response.
pub(super) type Reason = &'static str;

/// Reason why an attempt brought no response.
#[derive(Clone, Copy)]
enum FetchFailure {
    /// There was no link, or it ended before the first byte of a response.
    Link(Fault),
    /// The response cannot be used.
    Response(Reason),
}

impl FetchFailure {
    fn reason(self) -> Reason {
        match self {
            Self::Link(fault) => fault.reason(),
            Self::Response(reason) => reason,
        }
    }

    fn blames_endpoint(self) -> bool {
        match self {
            Self::Link(fault) => fault.blames_endpoint(),
            Self::Response(_) => true,
        }
    }
}

/// Sends the request of an order and reads the complete response.
pub(super) async fn fetch(worker: &Rc<Worker>, order: &OutboundOrder) -> Result<WholeResponse, Reason> {
    let cluster = worker.plan().cluster(&order.cluster).cloned().ok_or("unknown_cluster")?;
    let bytes = write(worker, order)?;
    let is_repeatable = order.method.is_idempotent() && order.body.is_empty();
    let head_bytes = bytes.len() - order.body.len();
    let request = WholeRequest { method: order.method, bytes: &bytes, head_bytes };
    send(worker, &cluster, &FetchRequest { request, is_repeatable }).await
}

/// Sends a request to an endpoint of a cluster and reads the complete response. The request is sent again, at most
/// [`LINK_RETRIES_MAX`] times, when its link ended before the endpoint could respond.
pub(crate) async fn send(
    worker: &Rc<Worker>,
    cluster: &Rc<WorkerCluster>,
    sent: &FetchRequest<'_>,
) -> Result<WholeResponse, Reason> {
    let mut tried = TriedEndpoints::new();
    let mut wanted = if sent.is_repeatable { LinkRequirement::Any } else { LinkRequirement::Quiet };
    let mut retries = 0;
    loop {
        let may_retry = retries < LINK_RETRIES_MAX;
        retries += 1;
        match attempt(worker, cluster, &sent.request, wanted, &mut tried).await {
            Ok(answer) => return Ok(answer),
            // The endpoint may have seen the request. The other links in the pool may be closed as well.
            Err(FetchFailure::Link(Fault::LinkStale)) if sent.is_repeatable && may_retry => {
                wanted = LinkRequirement::New;
            }
            // The endpoint has not processed the request: its stream is above the last one of a GOAWAY.
            Err(FetchFailure::Link(Fault::UpstreamGoAway)) if may_retry => {}
            Err(failure) => return Err(failure.reason()),
        }
    }
}

/// Returns the request in the form in which it is sent.
fn write(worker: &Worker, order: &OutboundOrder) -> Result<Vec<u8>, Reason> {
    let body = match order.body.len() as u64 {
        0 => RequestBody::None,
        length => RequestBody::Length(length),
    };
    let mut out = write_head(worker, order, body)?;
    out.extend_from_slice(&order.body);
    Ok(out)
}

/// Returns the head of a request, verified by the egress check like every other.
pub(super) fn write_head(
    worker: &Worker,
    order: &OutboundOrder,
    body: RequestBody,
) -> Result<Vec<u8>, Reason> {
    // A minimal head to start from: the order's own headers are edits to it.
    let mut bytes = Vec::new();
    for part in
        [&*order.method_name, b" ", &order.target, b" HTTP/1.1\r\nHost: ", &order.authority, b"\r\n\r\n"]
    {
        bytes.extend_from_slice(part);
    }
    let mut head = RequestHead::new();
    head.parse(&bytes, &HeadLimits::default()).map_err(|_| "bad_request")?;
    // A filter sees the trailers of a streamed response.
    head.accepts_trailers = order.upload.is_some();
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
        forwards_expectation: false,
    };
    write_request_head(&mut out, &request);
    let mut egress = worker.egress.borrow_mut();
    egress.check_request(&out, &order.method_name, &order.target, body).map_err(|_| "bad_request")?;
    Ok(out)
}

/// Makes one attempt at an endpoint of a cluster.
async fn attempt(
    worker: &Rc<Worker>,
    cluster: &Rc<WorkerCluster>,
    request: &WholeRequest<'_>,
    wanted: LinkRequirement,
    tried: &mut TriedEndpoints,
) -> Result<WholeResponse, FetchFailure> {
    let now = worker.timers.now();
    let admitted = cluster.take(LimitKind::Requests).map_err(FetchFailure::Link)?;
    let lease = cluster.state().borrow_mut().select(now, &mut worker.rng.borrow_mut(), tried);
    let guard = lease
        .and_then(|lease| EndpointGuard::begin(cluster, lease, admitted))
        .ok_or(FetchFailure::Link(Fault::NoEndpoint))?;
    let blame = |failure: FetchFailure| {
        if failure.blames_endpoint() {
            guard.failed(worker.timers.now());
        }
        failure
    };
    let obtained = worker.obtain(&guard, wanted).await;
    let mut upstream = obtained.map_err(|fault| blame(FetchFailure::Link(fault)))?;
    let mut input = worker.buffers.take_large();
    let read = Conversation::new(&mut upstream, &mut input).response(request, ANSWER_BYTES_MAX).await;
    let is_empty = input.is_empty();
    worker.buffers.put(input);
    let answer = read.map_err(|fault| blame(failure(&fault, &upstream)))?;
    let now = worker.timers.now();
    if matches!(answer.head.status, 502..=504) {
        guard.failed(now);
    } else {
        guard.succeeded(now);
    }
    if let (true, true, UpstreamChannel::Link(link)) = (answer.head.keep_alive, is_empty, upstream) {
        guard.return_link(link, now);
    }
    Ok(answer)
}

/// Returns the failure of an attempt whose conversation over this channel has failed.
fn failure(fault: &ConversationFault, upstream: &UpstreamChannel) -> FetchFailure {
    use ConversationFault::{Broken, Closed};
    FetchFailure::Response(match fault {
        ConversationFault::Unsent(_) | Closed(ResponseProgress::None) | Broken(ResponseProgress::None, _) => {
            return FetchFailure::Link(upstream.broken());
        }
        Closed(ResponseProgress::Begun) | Broken(ResponseProgress::Begun, _) => "response_cut",
        ConversationFault::InterimFlood => "interim_flood",
        ConversationFault::HeadTooLong | ConversationFault::Head(_) => "response_head",
        ConversationFault::Chunk(_) => "response_chunk",
        ConversationFault::BodyTooLong => "response_too_large",
    })
}
