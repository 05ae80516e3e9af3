//! State of an exchange, reused by the next one so that none allocates.

use std::sync::Arc;
use std::time::Instant;

use eddy_http::{HeadScanner, RequestHead, ResponseHead, Version};
use eddy_io::{Buffer, BufferPool};
use eddy_route::normalise::Normaliser;
use eddy_upstream::{LimitPlace, ResolvedAddress, Tried};

use crate::exchange::filter::Filtering;
use crate::exchange::grpc::GrpcCall;
use crate::exchange::hedge::Hedge;
use crate::exchange::mirror::Mirroring;
use crate::exchange::pump::Pump;
use crate::exchange::site::SiteState;
use crate::exchange::upgrade::Upgrade;
use crate::fault::Fault;
use crate::link::UpstreamChannel;
use crate::worker::{EndpointGuard, UploadSlot};

/// State of an exchange.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) scanner: HeadScanner,
    /// Request head as received; [`Self::head`] points into it.
    pub(crate) head_bytes: Vec<u8>,
    pub(crate) head: RequestHead,
    /// Whether the head was read completely and is valid.
    pub(crate) is_head_whole: bool,
    /// Whether a client that expects `100 Continue` has received it, or sends its body without it (RFC 9110 §10.1.1).
    pub(crate) is_continued: bool,
    /// Whether the expectation was passed on to the endpoint.
    pub(crate) passes_expectation: bool,
    /// Normalised path: the one that is matched and, if it differs from the client's, sent.
    pub(crate) path: Vec<u8>,
    /// The listener's path normaliser.
    pub(crate) normaliser: Normaliser,
    /// Request target sent to the endpoint, in origin form.
    pub(crate) target: Vec<u8>,
    pub(crate) scratch: Vec<u8>,
    pub(crate) request_id: String,
    /// Matching rule, by index in the listener's router.
    pub(crate) rule: Option<usize>,
    /// Precedence step by which the rule won, if the access log records it.
    pub(crate) step: &'static str,
    /// Action of the rule, by index in the configuration.
    pub(crate) action: Option<usize>,
    /// Cluster, by index in the plan.
    pub(crate) cluster: Option<usize>,
    pub(crate) tried: Tried,
    pub(crate) attempts: u8,
    /// Number of attempts at clusters that could not serve the request.
    pub(crate) attempts_elsewhere: u8,
    /// Number of clusters that could not serve the request.
    pub(crate) clusters_left: u8,
    /// Whether a pooled link turned out to be closed.
    pub(crate) has_met_stale_link: bool,
    /// Permit of the cluster's retry limit, held once the exchange is retried and a limit is configured.
    pub(crate) retry_place: Option<LimitPlace>,
    /// Slot among the requests with an incomplete body, if the exchange holds one.
    pub(crate) upload_slot: Option<UploadSlot>,
    pub(crate) guard: Option<EndpointGuard>,
    pub(crate) upstream: Option<UpstreamChannel>,
    /// Endpoint of the last attempt, for the access log.
    pub(crate) endpoint: Option<ResolvedAddress>,
    /// HTTP version spoken with the endpoint, once there was a link.
    pub(crate) endpoint_version: Option<Version>,
    /// Request head and body on their way to the endpoint.
    pub(crate) upload: Pump,
    /// Bytes read from the endpoint.
    pub(crate) response_input: Buffer,
    pub(crate) response_scanner: HeadScanner,
    pub(crate) response: ResponseHead,
    /// Length of the final response head, at the front of `response_input` until it has been forwarded.
    pub(crate) response_bytes: usize,
    /// Response head and body on their way to the client.
    pub(crate) answer: Pump,
    /// Body of a local reply and the location of a redirect.
    pub(crate) local: LocalAnswer,
    /// State of the walk through NGINX servers and locations, once there was one.
    pub(crate) site: Option<Box<SiteState>>,
    /// Upgrade or tunnel that the request asks for.
    pub(crate) upgrade: Upgrade,
    /// Filters and their state.
    pub(crate) filtering: Filtering,
    /// gRPC state, if the request is a gRPC call.
    pub(crate) grpc: GrpcCall,
    /// Fault that ended the exchange, if any.
    pub(crate) fault: Option<Fault>,
    /// Response status that the client received, or would have.
    pub(crate) status: u16,
    /// Whether a byte of the final response may have reached the client.
    pub(crate) is_answered: bool,
    /// Whether the response is a local reply.
    pub(crate) is_local: bool,
    /// Whether the response announced that the client's connection stays open.
    pub(crate) keeps_alive: bool,
    /// Time at which the head was complete.
    pub(crate) started: Instant,
    /// Deadline of the exchange on the worker's clock.
    pub(crate) due_ms: u64,
    /// Deadline of the attempt on the worker's clock.
    pub(crate) attempt_due_ms: u64,
    /// Mirror copies of the request.
    pub(crate) mirroring: Mirroring,
    /// Attempts besides the current one, while the rule hedges and none has been answered.
    pub(crate) hedge: Option<Box<Hedge>>,
}

/// Local reply.
#[derive(Debug, Default)]
pub(crate) struct LocalAnswer {
    pub(crate) body: LocalBody,
    pub(crate) location: Vec<u8>,
    /// gRPC status set by a filter.
    pub(crate) grpc_code: Option<u32>,
}

/// Body of a local reply.
#[derive(Debug, Default)]
pub(crate) enum LocalBody {
    /// Reason phrase of the status.
    #[default]
    Status,
    /// Configured body and its content type.
    Fixed {
        /// The bytes.
        body: Arc<[u8]>,
        /// `Content-Type` of the body.
        content_type: Arc<str>,
    },
    /// Body generated for this exchange, in [`Exchange::scratch`].
    Scratch,
    /// As `Scratch`, with its `Content-Type`.
    Typed(Arc<str>),
    /// Request echoed by the demo endpoint, in [`Exchange::scratch`] once it has been read.
    Echo,
    /// The slow body of the demo endpoint.
    Drip(Drip),
    /// No body: a gRPC call ends with this status and the message in [`Exchange::scratch`].
    GrpcEnd(u32),
}

/// Body sent piece by piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Drip {
    /// Number of pieces.
    pub(crate) pieces: u32,
    /// Pause before each piece, in milliseconds.
    pub(crate) pause_ms: u64,
}

impl Default for Exchange {
    fn default() -> Self {
        Self {
            scanner: HeadScanner::new(),
            head_bytes: Vec::new(),
            head: RequestHead::new(),
            is_head_whole: false,
            is_continued: false,
            passes_expectation: false,
            path: Vec::new(),
            normaliser: Normaliser::Eddy,
            target: Vec::new(),
            scratch: Vec::new(),
            request_id: String::new(),
            rule: None,
            step: "-",
            action: None,
            cluster: None,
            tried: Tried::new(),
            attempts: 0,
            attempts_elsewhere: 0,
            clusters_left: 0,
            has_met_stale_link: false,
            retry_place: None,
            upload_slot: None,
            guard: None,
            upstream: None,
            endpoint: None,
            endpoint_version: None,
            upload: Pump::default(),
            response_input: Buffer::default(),
            response_scanner: HeadScanner::for_responses(),
            response: ResponseHead::new(),
            response_bytes: 0,
            answer: Pump::default(),
            local: LocalAnswer::default(),
            site: None,
            upgrade: Upgrade::default(),
            filtering: Filtering::default(),
            grpc: GrpcCall::default(),
            fault: None,
            status: 0,
            is_answered: false,
            is_local: false,
            keeps_alive: false,
            started: Instant::now(),
            due_ms: u64::MAX,
            attempt_due_ms: u64::MAX,
            mirroring: Mirroring::default(),
            hedge: None,
        }
    }
}

/// Capacity above which a vector is freed after an exchange rather than kept for the next.
const KEPT_BYTES_MAX: usize = 8 * 1024;

impl Exchange {
    /// Resets the exchange and returns its buffers to the pool.
    pub(crate) fn clear(&mut self, buffers: &BufferPool) {
        self.scanner.reset();
        self.rule = None;
        self.step = "-";
        self.action = None;
        self.cluster = None;
        self.tried = Tried::new();
        self.attempts = 0;
        self.attempts_elsewhere = 0;
        self.clusters_left = 0;
        self.has_met_stale_link = false;
        self.retry_place = None;
        self.upload_slot = None;
        self.guard = None;
        self.upstream = None;
        self.upload.clear();
        self.answer.clear();
        self.response_scanner.reset();
        self.local.body = LocalBody::Status;
        self.upgrade.clear();
        self.local.grpc_code = None;
        self.filtering.clear();
        self.grpc = GrpcCall::default();
        if let Some(site) = &mut self.site {
            site.is_under_way = false;
        }
        self.fault = None;
        self.status = 0;
        self.is_answered = false;
        self.is_local = false;
        self.keeps_alive = false;
        self.due_ms = u64::MAX;
        self.attempt_due_ms = u64::MAX;
        self.mirroring = Mirroring::default();
        self.hedge = None;
        self.is_head_whole = false;
        self.is_continued = false;
        self.passes_expectation = false;
        self.endpoint = None;
        self.endpoint_version = None;
        self.response_bytes = 0;
        self.request_id.clear();
        self.release_input(buffers);
        let vectors = [
            &mut self.head_bytes,
            &mut self.path,
            &mut self.target,
            &mut self.scratch,
            &mut self.upload.out,
            &mut self.answer.out,
            &mut self.local.location,
        ];
        for vector in vectors {
            vector.clear();
            vector.shrink_to(KEPT_BYTES_MAX);
        }
    }

    /// Returns the buffer of the endpoint's bytes to the pool and discards its content.
    pub(crate) fn release_input(&mut self, buffers: &BufferPool) {
        if self.response_input.capacity() > 0 {
            buffers.put(std::mem::take(&mut self.response_input));
        }
    }

    /// Whether the request may be sent again although an endpoint may have seen it.
    pub(crate) fn may_repeat(&self) -> bool {
        self.head.method.is_idempotent() && self.head.body.is_empty()
    }

    /// Whether the request has a body of which nothing was read: no endpoint has received the complete request.
    pub(crate) fn is_body_unread(&self) -> bool {
        let is_untouched = self.upload.data_bytes == 0 && !self.filtering.has_whole_request();
        !self.head.body.is_empty() && is_untouched && !self.upload.reader.is_done()
    }

    /// Whether an endpoint has received body bytes that are no longer available.
    pub(crate) fn is_consumed(&self) -> bool {
        let is_at_hand = self.filtering.has_whole_request() || self.upload.can_repeat();
        self.upload.data_bytes > 0 && !is_at_hand
    }

    /// Returns the number of attempts at the current cluster.
    pub(crate) fn attempts_here(&self) -> u8 {
        self.attempts.saturating_sub(self.attempts_elsewhere)
    }

    /// Whether the response had begun when a fault occurred, so that it is incomplete.
    pub(crate) fn is_cut(&self) -> bool {
        self.fault.is_some() && self.is_answered && !self.is_local
    }

    /// Ends the current attempt and all hedged ones: closes links and releases endpoint guards.
    pub(crate) fn end_attempt(&mut self, buffers: &BufferPool) {
        self.hedge = None;
        self.leave_endpoint(buffers);
    }

    /// Ends the current attempt alone.
    pub(crate) fn leave_endpoint(&mut self, buffers: &BufferPool) {
        self.upstream = None;
        self.guard = None;
        self.response_scanner.reset();
        self.release_input(buffers);
    }
}
