//! Waits for a request's body before an endpoint is taken, where too many requests wait for theirs at endpoints.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use eddy_upstream::LimitKind;

use crate::exchange::attempt::cluster;
use crate::exchange::body::BodyProbe;
use crate::exchange::due::Due;
use crate::exchange::failover::go_on_or_fail;
use crate::exchange::phase::ExchangePhase;
use crate::exchange::run::ExchangeCx;
use crate::fault::Fault;
use crate::session::RateGuard;
use crate::worker::{SlotWait, Upload, UploadSlots, WorkerCluster, millis, share};

/// How much of a body makes the first part by which an upload proves itself.
const FIRST_PART_BYTES: usize = 16 * 1024;

/// Takes an upload slot where the request needs one; false where there is none, so that its body has to be waited for.
pub(super) fn take_slot(ctx: &mut ExchangeCx<'_>, cluster: &WorkerCluster) -> bool {
    if ctx.exchange.upload_slot.is_some() || !is_incomplete(ctx, cluster) {
        return true;
    }
    let has_part = ctx.down.unread_body().bytes >= FIRST_PART_BYTES;
    let upload = if has_part { Upload::Proven } else { Upload::Unproven };
    ctx.exchange.upload_slot = cluster.uploads().take(upload, capacity(ctx, cluster));
    ctx.exchange.upload_slot.is_some()
}

/// Whether the endpoint would have to wait for the client to send the body.
fn is_incomplete(ctx: &ExchangeCx<'_>, cluster: &WorkerCluster) -> bool {
    let exchange = &*ctx.exchange;
    let reader = &exchange.upload.reader;
    if reader.is_done() || exchange.filtering.has_whole_request() {
        return false;
    }
    // A gRPC call may send its messages over hours, and shares its connection with others.
    let is_shared_call = exchange.grpc.is_call() && cluster.shares_links();
    !is_shared_call && !ctx.down.has_whole_body(&mut reader.probe())
}

/// How many requests of this worker may be under way at the cluster.
fn capacity(ctx: &ExchangeCx<'_>, cluster: &WorkerCluster) -> u32 {
    let config = &cluster.config;
    let endpoints = match config.balance.goes_by_key() {
        // Any of them may be the one that a key leads to.
        true => 1,
        false => u32::try_from(cluster.state().borrow().endpoints().len()).unwrap_or(u32::MAX).max(1),
    };
    let active_max = config.endpoints.iter().filter_map(|endpoint| endpoint.terms.active_max).min();
    let links = config.links_max.min(active_max.unwrap_or(u32::MAX)).saturating_mul(endpoints);
    let limit_of = |kind| config.limits.of(kind).map_or(u32::MAX, |max| share(max, ctx.worker.workers));
    let links = links.min(limit_of(LimitKind::Connections));
    let requests = if cluster.shares_links() { links.saturating_mul(STREAMS_OF_LINK) } else { links };
    requests.min(limit_of(LimitKind::Requests))
}

/// Waits until the body is there, or enough of it and a slot, while nothing of the cluster is held.
pub(super) async fn wait(ctx: &mut ExchangeCx<'_>) -> ExchangePhase {
    let Some(cluster) = cluster(ctx) else { return ExchangePhase::Endpoint };
    let timeouts = ctx.listener().config.timeouts;
    let mut passage = UploadWait {
        guard: RateGuard::new(timeouts.body_rate_min, timeouts.body_grace),
        slot_due_ms: u64::MAX,
        probe: ctx.exchange.upload.reader.probe(),
    };
    let uploads = Rc::clone(cluster.uploads());
    match passage.run(ctx, &cluster, &uploads).await {
        Ok(()) => ExchangePhase::Endpoint,
        Err(fault) => go_on_or_fail(ctx, fault),
    }
}

/// A request that waits.
struct UploadWait {
    guard: RateGuard,
    /// When a request whose first part is there has waited for long enough.
    slot_due_ms: u64,
    /// How far what has come was looked through for the end.
    probe: BodyProbe,
}

impl UploadWait {
    async fn run(
        &mut self,
        ctx: &mut ExchangeCx<'_>,
        cluster: &WorkerCluster,
        uploads: &UploadSlots,
    ) -> Result<(), Fault> {
        loop {
            let has_part = ctx.down.unread_body().bytes >= FIRST_PART_BYTES;
            let upload = if has_part { Upload::Proven } else { Upload::Unproven };
            let waiting: SlotWait<'_> = uploads.wait(upload);
            let mut released = pin!(waiting.released());
            let came = poll_fn(|cx| {
                if released.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(Ok(()));
                }
                match upload {
                    Upload::Unproven => self.poll_body(ctx, cx),
                    Upload::Proven => self.poll_patience(ctx, cx),
                }
            });
            came.await?;
            if take_slot(ctx, cluster) {
                return Ok(());
            }
        }
    }

    /// Reads until the body is whole or its first part is there, after having asked for it where the client waits to be asked.
    fn poll_body(&mut self, ctx: &mut ExchangeCx<'_>, cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        let ExchangeCx { down, exchange, .. } = &mut *ctx;
        if exchange.head.expects_continue && !exchange.is_continued {
            exchange.is_continued = true;
            if !down.has_body_begun() {
                exchange.answer.push_continue();
            }
        }
        while exchange.answer.has_output() {
            match down.poll_answer(cx, &mut exchange.answer, &mut exchange.response_input) {
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(_)) => return Poll::Ready(Err(Fault::ClientGone)),
                Poll::Pending => return self.poll_deadline(ctx, cx),
            }
        }
        loop {
            let ExchangeCx { down, exchange, worker, .. } = &mut *ctx;
            let has_part = down.unread_body().bytes >= FIRST_PART_BYTES;
            if has_part || down.has_whole_body(&mut self.probe) {
                return Poll::Ready(Ok(()));
            }
            if down.input.capacity() > 0 && down.input.room().is_empty() {
                down.input.grow(FIRST_PART_BYTES);
            }
            match down.poll_body(cx, &worker.buffers, &mut exchange.upload.reader) {
                Poll::Ready(Ok(count)) => self.guard.moved(count as u64, worker.timers.now_ms()),
                Poll::Ready(Err(_)) => return Poll::Ready(Err(Fault::ClientGone)),
                Poll::Pending => {
                    down.release(&worker.buffers);
                    return self.poll_deadline(ctx, cx);
                }
            }
        }
    }

    fn poll_deadline(&mut self, ctx: &ExchangeCx<'_>, cx: &Context<'_>) -> Poll<Result<(), Fault>> {
        let due_ms = self.guard.deadline(ctx.worker.timers.now_ms());
        if due_ms == u64::MAX {
            // Without a least rate it is the wait for a slot that has an end.
            return self.poll_patience(ctx, cx);
        }
        poll_due(ctx, cx, due_ms, Fault::BodyTimeout)
    }

    /// Waits with nothing to be read: it is not the client who is late now.
    fn poll_patience(&mut self, ctx: &ExchangeCx<'_>, cx: &Context<'_>) -> Poll<Result<(), Fault>> {
        if ctx.down.is_taken_back(cx) {
            return Poll::Ready(Err(Fault::ClientGone));
        }
        if self.slot_due_ms == u64::MAX {
            let patience_ms = millis(ctx.listener().config.timeouts.body_grace);
            self.slot_due_ms = ctx.worker.timers.now_ms().saturating_add(patience_ms);
        }
        poll_due(ctx, cx, self.slot_due_ms, Fault::LinksExhausted)
    }
}

fn poll_due(ctx: &ExchangeCx<'_>, cx: &Context<'_>, at_ms: u64, fault: Fault) -> Poll<Result<(), Fault>> {
    let mut due = Due { at_ms: ctx.exchange.due_ms, fault: Fault::ExchangeTimeout };
    due.sooner(at_ms, fault);
    if due.at_ms <= ctx.worker.timers.now_ms() {
        return Poll::Ready(Err(due.fault));
    }
    let timer = &ctx.down.timer;
    timer.register(cx);
    timer.arm_at(due.at_ms);
    Poll::Pending
}

/// How many requests at once go by a connection that is shared.
const STREAMS_OF_LINK: u32 = 100;
