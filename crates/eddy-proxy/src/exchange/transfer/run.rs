//! Transfer of the request to the endpoint and of the response to the client, both at once.
//!
//! Backpressure needs no code of its own: each direction has one buffer and reads only when it is empty.

use std::future::poll_fn;
use std::task::{Context, Poll};

use eddy_http::Version;
use eddy_ids::{Millis, WorkerTime};

use crate::downstream::RateGuard;
use crate::exchange::attempt::{AttemptEnd, PooledAttempt};
use crate::exchange::context::ExchangeCx;
use crate::exchange::phase::ExchangePhase;
use crate::exchange::watch::Watch;
use crate::fault::Fault;
use crate::message::Bulk;
use crate::upstream::UploadSlot;

/// Maximum number of bytes spliced per turn, so that other exchanges get theirs.
const TURN_BYTES_MAX: usize = 1024 * 1024;
/// Time that an endpoint has to answer `Expect: 100-continue` before eddy asks the client for its body:
/// as long as clients wait before they send it anyway (curl waits one second).
const CONSENT: Millis = Millis::new(1_000);
/// Time that a client may send its body below the minimum rate while more than half of a cluster's
/// capacity is held by requests with incomplete bodies.
const CONGESTED_GRACE: Millis = Millis::new(2_000);
/// Interval at which that condition is checked.
const CONGESTION_CHECK_INTERVAL: Millis = Millis::new(1_000);

/// Moves both messages; then returns the link to the pool, retries, or responds with the fault.
pub(crate) async fn run(ctx: &mut ExchangeCx<'_>, attempt: PooledAttempt) -> ExchangePhase {
    let mut transfer = Transfer::new(ctx, attempt);
    let result = poll_fn(|cx| transfer.poll(cx)).await;
    transfer.end(result)
}

pub(super) struct Transfer<'a, 'd> {
    pub(super) ctx: &'a mut ExchangeCx<'d>,
    /// The current attempt; hedged ones are in [`crate::exchange::state::Exchange::hedge`].
    pub(super) attempt: PooledAttempt,
    pub(super) patience: UpstreamTimeouts,
    pub(super) stage: ResponseStage,
    pub(super) waits: Waits,
    /// Splicing state of the two bodies.
    pub(super) upload: Bulk,
    pub(super) download: Bulk,
    /// Bytes that may still be spliced in this turn.
    pub(super) turn_left: usize,
    pub(super) interims: u8,
    pub(super) client_guard_in: RateGuard,
    pub(super) client_guard_out: RateGuard,
    /// Time at which the client is asked for its body even without a `100` from the endpoint.
    pub(super) consent_deadline: WorkerTime,
    client: Watch,
}

/// Time that endpoints of the cluster have.
#[derive(Clone, Copy, Debug)]
pub(super) struct UpstreamTimeouts {
    /// Until the response begins.
    pub(super) first_byte: Millis,
    /// Between two reads or writes.
    pub(super) idle: Millis,
}

/// Stage of the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseStage {
    /// The head has not been forwarded.
    Head,
    /// The response passes the filters.
    Filter,
    /// The body is forwarded as it comes.
    Body,
    /// The body passes the filters.
    FilteredBody,
}

impl ResponseStage {
    /// Whether the head has been written for the client.
    pub(super) fn is_body(self) -> bool {
        matches!(self, Self::Body | Self::FilteredBody)
    }
}

/// Result of turning bytes into output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransferStep {
    /// There is something to write, or the end was reached.
    Moved,
    /// More must be read.
    NeedsInput,
    /// A filter has paused.
    Waits,
}

/// Progress of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AttemptProgress {
    /// The response is complete.
    Over,
    /// Nothing more can be done until a peer, a filter or a timer acts.
    Waits,
    /// Another attempt has become current.
    Another,
}

/// Peers and filters that the exchange waits for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waits {
    pub(super) client_to_send: bool,
    /// The client waits for `100 Continue` from the endpoint; it does not send its body yet and need not.
    pub(super) endpoint_to_continue: bool,
    pub(super) client_to_take: bool,
    pub(super) upstream_to_take: bool,
    pub(super) upstream_to_send: bool,
    /// Time at which a paused filter must be checked.
    pub(super) filter_at: Option<WorkerTime>,
}

impl<'a, 'd> Transfer<'a, 'd> {
    fn new(ctx: &'a mut ExchangeCx<'d>, attempt: PooledAttempt) -> Self {
        let rate_guard = RateGuard::of(&ctx.listener.config.timeouts);
        let now = ctx.worker.timers.now();
        let cluster = &attempt.guard.cluster.config;
        let patience = UpstreamTimeouts {
            first_byte: Millis::of(cluster.first_byte_timeout),
            idle: Millis::of(cluster.read_idle_timeout),
        };
        Self {
            ctx,
            attempt,
            patience,
            stage: ResponseStage::Head,
            waits: Waits::default(),
            upload: Bulk::default(),
            download: Bulk::default(),
            turn_left: 0,
            interims: 0,
            client_guard_in: rate_guard,
            client_guard_out: rate_guard,
            consent_deadline: now + CONSENT,
            client: Watch::default(),
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), AttemptEnd>> {
        self.turn_left = TURN_BYTES_MAX;
        loop {
            match self.poll_attempt(cx) {
                Ok(AttemptProgress::Over) => return Poll::Ready(Ok(())),
                Ok(AttemptProgress::Waits) => return Poll::Pending,
                Ok(AttemptProgress::Another) => {}
                Err(end) if self.fall_back(end) => {}
                Err(end) => return Poll::Ready(Err(end)),
            }
        }
    }

    /// Moves the current attempt, and the hedged ones, as far as possible.
    fn poll_attempt(&mut self, cx: &mut Context<'_>) -> Result<AttemptProgress, AttemptEnd> {
        self.waits = Waits::default();
        self.poll_upload(cx)?;
        let exchange = &mut *self.ctx.exchange;
        if exchange.upload.reader.is_done() {
            exchange.upload_slot = None;
        }
        if self.poll_download(cx)? {
            return Ok(AttemptProgress::Over);
        }
        // The client has sent everything: is it still connected?
        if self.ctx.exchange.upload.is_finished() {
            self.client.watch(cx, self.ctx)?;
        }
        if self.poll_hedging(cx)? {
            return Ok(AttemptProgress::Another);
        }
        self.poll_deadline(cx)?;
        Ok(AttemptProgress::Waits)
    }

    /// Returns the end of an attempt for which a filter replies now.
    pub(super) fn replied(&self) -> AttemptEnd {
        // A response that has begun cannot be replaced.
        if self.ctx.exchange.is_answered { Fault::FilterReset.into() } else { AttemptEnd::FilterReply }
    }

    /// Arms the timer for the earliest applicable deadline, or returns its fault when it has passed.
    fn poll_deadline(&mut self, cx: &Context<'_>) -> Result<(), Fault> {
        let now = self.ctx.worker.timers.now();
        let mut due = self.ctx.exchange.due;
        due.sooner(self.attempt.deadline, Fault::AttemptTimeout);
        // A call over HTTP/1 occupies a whole connection, as other requests do.
        let is_call = self.ctx.exchange.grpc.is_call() && self.attempt.upstream.version() == Version::Http2;
        let slot = self.ctx.exchange.upload_slot.as_ref();
        let mut crowded_at = None;
        if self.waits.client_to_send && !is_call {
            let is_congested = slot.is_some_and(UploadSlot::is_congested);
            let patience = if is_congested { CONGESTED_GRACE } else { Millis::MAX };
            due.sooner(self.client_guard_in.deadline_within(now, patience), Fault::BodyTimeout);
            crowded_at = slot.map(|_| now + CONGESTION_CHECK_INTERVAL);
        }
        if self.waits.client_to_take {
            due.sooner(self.client_guard_out.deadline(now), Fault::ClientSlow);
        }
        let idle_at = self.attempt.last_progress_at + self.patience.idle;
        if self.waits.upstream_to_take {
            due.sooner(idle_at, Fault::UpstreamIdle);
        } else if self.waits.client_to_send && is_call {
            // A client may be silent during a gRPC call for as long as its endpoint.
            due.sooner(idle_at, Fault::BodyTimeout);
        }
        let has_consent_to_give = self.waits.endpoint_to_continue && self.stage == ResponseStage::Head;
        let is_upstreams_turn = !self.waits.client_to_send && !self.waits.upstream_to_take;
        if self.waits.upstream_to_send && is_upstreams_turn && !has_consent_to_give {
            match self.stage {
                ResponseStage::Head => {
                    let first_at = self.attempt.last_progress_at + self.patience.first_byte;
                    due.sooner(first_at, Fault::FirstByteTimeout);
                }
                ResponseStage::Filter | ResponseStage::Body | ResponseStage::FilteredBody => {
                    due.sooner(idle_at, Fault::UpstreamIdle);
                }
            }
        }
        due.sooner(self.client.deadline(), Fault::ClientGone);
        if due.at <= now {
            return Err(due.fault);
        }
        let hedge = self.ctx.exchange.hedge.as_ref();
        let race_at = hedge.map(|hedge| hedge.wakes_at(self.patience.first_byte));
        let consent_at = has_consent_to_give.then_some(self.consent_deadline);
        let wakes_at = [self.waits.filter_at, race_at, consent_at, crowded_at].into_iter().flatten().min();
        let timer = &self.ctx.down.timer;
        timer.register(cx);
        timer.arm_at(wakes_at.map_or(due.at, |wakes_at| wakes_at.min(due.at)));
        Ok(())
    }
}
