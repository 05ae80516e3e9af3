//! Everything an exchange remembers; used again by the next one, so that none allocates.

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

/// The state of an exchange.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) scanner: HeadScanner,
    /// The request's head as received; [`Self::head`] points into it.
    pub(crate) head_bytes: Vec<u8>,
    pub(crate) head: RequestHead,
    /// Whether the head was read to its end and found right.
    pub(crate) is_head_whole: bool,
    /// Whether a client that expects `100 Continue` has got it, or sends its body without (RFC 9110 §10.1.1).
    pub(crate) is_continued: bool,
    /// Whether the endpoint was asked to answer that expectation.
    pub(crate) passes_expectation: bool,
    /// The normalised path: the one that is matched and, if it differs from the client's, sent.
    pub(crate) path: Vec<u8>,
    /// How the listener normalises paths.
    pub(crate) normaliser: Normaliser,
    /// The target sent to the endpoint, in origin form.
    pub(crate) target: Vec<u8>,
    pub(crate) scratch: Vec<u8>,
    pub(crate) request_id: String,
    /// The rule that won, by its index in the listener's router.
    pub(crate) rule: Option<usize>,
    /// The step by which the rule won, where records name it.
    pub(crate) step: &'static str,
    /// What the rule does, by its index in the configuration.
    pub(crate) action: Option<usize>,
    /// The cluster, by its index in the plan.
    pub(crate) cluster: Option<usize>,
    pub(crate) tried: Tried,
    pub(crate) attempts: u8,
    /// Those of them at clusters that could not serve the request.
    pub(crate) attempts_elsewhere: u8,
    /// How many clusters could not.
    pub(crate) clusters_left: u8,
    /// Whether a link that was kept turned out to be closed.
    pub(crate) has_met_stale_link: bool,
    /// Its place within the limit of retries, once it was tried again where there is one.
    pub(crate) retry_place: Option<LimitPlace>,
    /// Its slot among the requests whose bodies are still to come, if it is one.
    pub(crate) upload_slot: Option<UploadSlot>,
    pub(crate) guard: Option<EndpointGuard>,
    pub(crate) upstream: Option<UpstreamChannel>,
    /// The endpoint of the last attempt, for the record.
    pub(crate) endpoint: Option<ResolvedAddress>,
    /// What was spoken with it, once there was a link.
    pub(crate) endpoint_version: Option<Version>,
    /// Request head and body on their way to the endpoint.
    pub(crate) upload: Pump,
    /// What was read from the endpoint.
    pub(crate) response_input: Buffer,
    pub(crate) response_scanner: HeadScanner,
    pub(crate) response: ResponseHead,
    /// Length of the final response's head, at the front of `response_input` until it has been written on.
    pub(crate) response_bytes: usize,
    /// Response head and body on their way to the client.
    pub(crate) answer: Pump,
    /// A local answer's body and the location of a redirect.
    pub(crate) local: LocalAnswer,
    /// The way through servers and locations of NGINX's, once there was one.
    pub(crate) site: Option<Box<SiteState>>,
    /// What becomes of what the request came by.
    pub(crate) upgrade: Upgrade,
    /// Filters, and what they made of the messages.
    pub(crate) filtering: Filtering,
    /// The call of gRPC that the exchange is, if it is one.
    pub(crate) grpc: GrpcCall,
    /// Why the exchange ended badly, if it did.
    pub(crate) fault: Option<Fault>,
    /// The status that the client got, or would have.
    pub(crate) status: u16,
    /// Whether a byte of the final answer may have reached the client.
    pub(crate) is_answered: bool,
    /// Whether the answer is our own.
    pub(crate) is_local: bool,
    /// Whether the client was told that its connection goes on.
    pub(crate) keeps_alive: bool,
    /// When the head was complete.
    pub(crate) started: Instant,
    /// When the exchange must be over, on the worker's clock.
    pub(crate) due_ms: u64,
    /// When the attempt must be over, on the worker's clock.
    pub(crate) attempt_due_ms: u64,
    /// Copies of the request that are to be sent elsewhere once it has been sent, if there are any.
    pub(crate) mirroring: Option<Box<Mirroring>>,
    /// Attempts beside the one at hand, where the rule hedges and nobody has answered.
    pub(crate) hedge: Option<Box<Hedge>>,
}

/// What eddy answers by itself.
#[derive(Debug, Default)]
pub(crate) struct LocalAnswer {
    pub(crate) body: LocalBody,
    pub(crate) location: Vec<u8>,
    /// The status that a filter has for a call of gRPC.
    pub(crate) grpc_code: Option<u32>,
}

/// The body of a local answer.
#[derive(Debug, Default)]
pub(crate) enum LocalBody {
    /// The status in words.
    #[default]
    Status,
    /// A configured body and its type.
    Fixed {
        /// The bytes.
        body: Arc<[u8]>,
        /// Their `Content-Type`.
        content_type: Arc<str>,
    },
    /// Made for this exchange, in [`Exchange::scratch`].
    Scratch,
    /// The same, and its `Content-Type`.
    Typed(Arc<str>),
    /// What the demo endpoint was sent, in [`Exchange::scratch`] once it has been read.
    Echo,
    /// The slow body of the demo endpoint.
    Drip(Drip),
    /// None: a call of gRPC ends with this code, and the text in [`Exchange::scratch`].
    GrpcEnd(u32),
}

/// A body sent piece by piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Drip {
    /// How many pieces.
    pub(crate) pieces: u32,
    /// How long to wait before each, milliseconds.
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
            mirroring: None,
            hedge: None,
        }
    }
}

/// Capacity above which a vector is freed after an exchange rather than kept for the next.
const KEPT_BYTES_MAX: usize = 8 * 1024;

impl Exchange {
    /// Makes the exchange as good as new and gives its buffers back.
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
        self.mirroring = None;
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

    /// Gives the buffer of the endpoint's bytes back, with what is in it.
    pub(crate) fn release_input(&mut self, buffers: &BufferPool) {
        if self.response_input.capacity() > 0 {
            buffers.put(std::mem::take(&mut self.response_input));
        }
    }

    /// Whether the request may be sent again although an endpoint may have looked at it.
    pub(crate) fn may_repeat(&self) -> bool {
        self.head.method.is_idempotent() && self.head.body.is_empty()
    }

    /// Whether the request has a body of which nothing was read: no endpoint has had all of the request.
    pub(crate) fn is_body_unread(&self) -> bool {
        let is_untouched = self.upload.data_bytes == 0 && !self.filtering.has_whole_request();
        !self.head.body.is_empty() && is_untouched && !self.upload.reader.is_done()
    }

    /// Whether an endpoint has taken bytes of the body that are not at hand any more.
    pub(crate) fn is_consumed(&self) -> bool {
        let is_at_hand = self.filtering.has_whole_request() || self.upload.can_repeat();
        self.upload.data_bytes > 0 && !is_at_hand
    }

    /// How many attempts there were at the cluster that it is at.
    pub(crate) fn attempts_here(&self) -> u8 {
        self.attempts.saturating_sub(self.attempts_elsewhere)
    }

    /// Whether the answer had begun when a fault came, so that it is not whole.
    pub(crate) fn is_cut(&self) -> bool {
        self.fault.is_some() && self.is_answered && !self.is_local
    }

    /// Ends the attempt, and those beside it: closes links and leaves endpoints.
    pub(crate) fn end_attempt(&mut self, buffers: &BufferPool) {
        self.hedge = None;
        self.leave_endpoint(buffers);
    }

    /// Ends the attempt at hand alone.
    pub(crate) fn leave_endpoint(&mut self, buffers: &BufferPool) {
        self.upstream = None;
        self.guard = None;
        self.response_scanner.reset();
        self.release_input(buffers);
    }
}
