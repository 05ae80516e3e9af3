//! State of an exchange, reused by the next one so that none allocates.

use std::rc::Rc;
use std::time::Instant;

use eddy_config::MirrorHost;
use eddy_http::{GrpcEnd, GrpcKind, HeadScanner, RequestHead, ResponseHead, Version};
use eddy_io::{Buffer, BufferPool, Reusable, Reuse};
use eddy_route::normalise::Normaliser;
use eddy_upstream::{LimitPermit, ResolvedAddress, TriedEndpoints};

use crate::exchange::attempt::Attempt;
use crate::exchange::due::Due;
use crate::exchange::filter::Filtering;
use crate::exchange::hedge::Hedge;
use crate::exchange::state::local::{LocalBody, LocalReplyBody};
use crate::exchange::state::site::SiteState;
use crate::exchange::state::upgrade::Upgrade;
use crate::fault::Fault;
use crate::message::Pump;
use crate::upstream::{UploadSlot, WorkerCluster};

/// State of an exchange.
#[derive(Debug, Default)]
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
    pub(crate) forwards_expectation: bool,
    /// Normalised path: the one that is matched and, if it differs from the client's, sent.
    pub(crate) path: Vec<u8>,
    /// The listener's path normaliser.
    pub(crate) normaliser: Normaliser,
    /// Request target sent to the endpoint, in origin form.
    pub(crate) target: Vec<u8>,
    pub(crate) scratch: Vec<u8>,
    pub(crate) request_id: String,
    /// Precedence step by which the rule won, if the access log records it.
    pub(crate) step: Option<&'static str>,
    pub(crate) tried: TriedEndpoints,
    pub(crate) attempts: u8,
    /// Number of attempts at clusters that could not serve the request.
    pub(crate) earlier_cluster_attempts: u8,
    /// Number of clusters that could not serve the request.
    pub(crate) clusters_failed: u8,
    /// Whether a pooled link turned out to be closed.
    pub(crate) has_met_stale_link: bool,
    /// Permit of the cluster's retry limit, held once the exchange is retried and a limit is configured.
    pub(crate) retry_permit: Option<LimitPermit>,
    /// Slot among the requests with an incomplete body, if the exchange holds one.
    pub(crate) upload_slot: Option<UploadSlot>,
    /// Endpoint of the last attempt, for the access log.
    pub(crate) endpoint: Option<Rc<ResolvedAddress>>,
    /// HTTP version spoken with the endpoint, once there was a link.
    pub(crate) endpoint_version: Option<Version>,
    /// Request head and body on their way to the endpoint.
    pub(crate) upload: Pump,
    /// Bytes read from the endpoint.
    pub(crate) response_input: Buffer,
    pub(crate) response: ResponseHead,
    /// Length of the final response head, at the front of `response_input` until it has been forwarded.
    pub(crate) response_bytes: usize,
    /// Response head and body on their way to the client.
    pub(crate) answer: Pump,
    /// Body of a local reply and the location of a redirect.
    pub(crate) local: LocalReplyBody,
    /// State of the walk through NGINX servers and locations, if they handle the request.
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
    /// Time at which the head was complete or refused.
    pub(crate) started: Option<Instant>,
    /// Deadline of the exchange.
    pub(crate) due: Due,
    /// Mirror copies of the request.
    pub(crate) mirroring: Mirroring,
    /// Attempts besides the current one, while the rule hedges and none has been answered.
    pub(crate) hedge: Option<Box<Hedge>>,
}

impl Exchange {
    /// Whether the request may be sent again although an endpoint may have seen it.
    pub(crate) fn may_resend(&self) -> bool {
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
        self.attempts.saturating_sub(self.earlier_cluster_attempts)
    }

    /// Whether the response had begun when a fault occurred, so that it is incomplete.
    pub(crate) fn is_cut(&self) -> bool {
        self.fault.is_some() && self.is_answered && !self.is_local
    }

    /// Ends the walk through NGINX servers and locations, if there was one.
    pub(crate) fn end_walk(&mut self) {
        if let Some(site) = self.site.take() {
            site.end();
        }
    }

    /// Records the endpoint of the current attempt.
    pub(crate) fn note_endpoint(&mut self, attempt: &Attempt) {
        self.endpoint = Some(Rc::clone(&attempt.guard.address));
        self.endpoint_version = Some(attempt.upstream.version());
    }

    /// Makes the text of a status the local reply, because of a fault.
    pub(crate) fn reply_with_fault(&mut self, fault: Fault, status: u16) {
        self.fault = Some(fault);
        self.status = status;
        self.local.body = LocalBody::Status;
        self.local.location.clear();
    }

    /// Returns the attempts besides the current one, of an exchange that hedges.
    pub(crate) fn hedge_mut(&mut self) -> &mut Hedge {
        self.hedge.as_mut().expect("attempts race only while the exchange hedges")
    }

    /// Ends what is left of all attempts: drops those in waiting, and what the endpoint has sent.
    pub(crate) fn end_attempts(&mut self, buffers: &BufferPool) {
        self.hedge = None;
        buffers.release(&mut self.response_input);
    }
}

/// Buffers and what other owners must free have been given back before.
impl Reusable for Exchange {
    fn empty(&mut self) -> Reuse {
        self.end_walk();
        // Every field is named, so that none is forgotten.
        let Self {
            scanner,
            head_bytes,
            // Overwritten before they are read: `is_head_whole` and `is_answered` tell whether they are.
            head: _,
            is_head_whole,
            is_continued,
            forwards_expectation,
            path,
            // Set by the rules of each exchange.
            normaliser: _,
            target,
            scratch,
            request_id,
            step,
            tried,
            attempts,
            earlier_cluster_attempts,
            clusters_failed,
            has_met_stale_link,
            retry_permit,
            upload_slot,
            endpoint,
            endpoint_version,
            upload,
            response_input: _,
            response: _,
            response_bytes,
            answer,
            local,
            site: _,
            upgrade,
            filtering,
            grpc,
            fault,
            status,
            is_answered,
            is_local,
            keeps_alive,
            started,
            due,
            mirroring,
            hedge,
        } = self;
        scanner.reset();
        (*is_head_whole, *is_continued, *forwards_expectation, *step, *tried) = Default::default();
        (*attempts, *earlier_cluster_attempts, *clusters_failed, *has_met_stale_link) = Default::default();
        (*retry_permit, *upload_slot, *hedge, *endpoint, *endpoint_version) = Default::default();
        (*response_bytes, *grpc, *fault, *status, *mirroring) = Default::default();
        (*is_answered, *is_local, *keeps_alive, *started, *due) = Default::default();
        upload.clear();
        answer.clear();
        (local.body, local.grpc_code) = Default::default();
        upgrade.clear();
        filtering.empty();
        request_id.clear();
        [head_bytes, path, target, scratch, &mut upload.out, &mut answer.out, &mut local.location]
            .into_iter()
            .for_each(Reusable::reset);
        Reuse::Keep
    }
}

/// gRPC state of an exchange.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GrpcCall {
    /// gRPC variant of the request; `None` when it is not a gRPC call.
    pub(in crate::exchange) kind: Option<GrpcKind>,
    /// Whether `grpc-timeout` is a deadline of the exchange.
    pub(in crate::exchange) has_deadline: bool,
    /// Final status, as far as the response head contains it.
    pub(in crate::exchange) head_end: GrpcEnd,
}

impl GrpcCall {
    /// Whether the request is a gRPC call of any variant.
    pub(crate) fn is_call(&self) -> bool {
        self.kind.is_some()
    }
}

/// Form in which a response head is at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadSource {
    /// As the endpoint has sent it.
    Endpoint,
    /// As filters have left it, or as a local reply that filters see.
    Filters,
}

impl HeadSource {
    /// Returns the bytes of the head.
    pub(crate) fn bytes(self, exchange: &Exchange) -> &[u8] {
        match self {
            Self::Endpoint => exchange.response_input.front(exchange.response_bytes),
            Self::Filters => &exchange.filtering.response_head,
        }
    }
}

/// State of the mirror copies of a request.
#[derive(Debug, Default)]
pub(crate) enum Mirroring {
    /// No attempt has written its head yet.
    #[default]
    NotStarted,
    /// Copies to send once an attempt has sent the request.
    Pending(Box<[MirrorCopy]>),
    /// All copies were sent or dropped, or there are none.
    Done,
}

impl Mirroring {
    /// Whether copies are still to be sent.
    pub(crate) fn is_pending(&self) -> bool {
        matches!(self, Self::Pending(_))
    }
}

/// One copy.
#[derive(Debug)]
pub(crate) struct MirrorCopy {
    pub(in crate::exchange) cluster: Rc<WorkerCluster>,
    pub(in crate::exchange) host: MirrorHost,
}
