//! Buffering of a request body before an endpoint is selected, when too many requests with incomplete bodies occupy
//! endpoints.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use eddy_http::BodyProbe;
use eddy_ids::{Millis, WorkerTime};
use eddy_model::LimitKind;

use crate::downstream::{Downstream, RateGuard};
use crate::exchange::attempt::fail_over_or_reply;
use crate::exchange::context::ExchangeCx;
use crate::exchange::flush::poll_flush;
use crate::exchange::phase::ExchangePhase;
use crate::fault::Fault;
use crate::upstream::{Upload, WorkerCluster};

/// Size of the first part of a body, by which an upload proves that it makes progress.
const FIRST_PART_BYTES: usize = 16 * 1024;

/// Takes an upload slot if the request needs one; returns false when none is free, so that the body has to be buffered
/// first.
pub(super) fn take_slot(ctx: &mut ExchangeCx<'_>, cluster: &WorkerCluster) -> bool {
    if ctx.exchange.upload_slot.is_some() || !is_incomplete(ctx, cluster) {
        return true;
    }
    ctx.exchange.upload_slot = cluster.uploads().take(progress(ctx.down), capacity(ctx, cluster));
    ctx.exchange.upload_slot.is_some()
}

fn progress(down: &Downstream) -> Upload {
    if down.unread_body().bytes >= FIRST_PART_BYTES { Upload::BodyStarted } else { Upload::AwaitingBody }
}

/// Whether the endpoint would have to wait for the client to send the body.
fn is_incomplete(ctx: &ExchangeCx<'_>, cluster: &WorkerCluster) -> bool {
    let exchange = &*ctx.exchange;
    let reader = &exchange.upload.reader;
    if reader.is_done() || exchange.filtering.has_whole_request() {
        return false;
    }
    // A gRPC call may send its messages over hours, and shares its connection with other calls.
    let is_shared_call = exchange.grpc.is_call() && cluster.shares_links();
    !is_shared_call && !ctx.down.has_whole_body(&mut reader.probe())
}

/// Returns the number of requests that this worker may have in progress at the cluster.
fn capacity(ctx: &ExchangeCx<'_>, cluster: &WorkerCluster) -> u32 {
    let config = &cluster.config;
    let endpoints = match config.balance.balances_by_key() {
        // All requests may have keys that lead to the same endpoint.
        true => 1,
        false => u32::try_from(cluster.state().borrow().endpoints().len()).unwrap_or(u32::MAX).max(1),
    };
    let active_max = config.endpoints.iter().filter_map(|endpoint| endpoint.terms.active_max).min();
    let links = config.links_max.min(active_max.unwrap_or(u32::MAX)).saturating_mul(endpoints);
    let limit_of = |kind| config.limits.of(kind).map_or(u32::MAX, |max| ctx.worker.share_of(max));
    let links = links.min(limit_of(LimitKind::Connections));
    let requests = if cluster.shares_links() { links.saturating_mul(STREAMS_OF_LINK) } else { links };
    requests.min(limit_of(LimitKind::Requests))
}

/// Waits until the whole body has arrived, or its first part and a free slot, without holding any resource of the
/// cluster.
pub(super) async fn wait(ctx: &mut ExchangeCx<'_>, cluster: Rc<WorkerCluster>) -> ExchangePhase {
    let mut passage = UploadWait {
        guard: RateGuard::of(&ctx.listener.config.timeouts),
        slot_deadline: WorkerTime::NEVER,
        probe: ctx.exchange.upload.reader.probe(),
    };
    match passage.run(ctx, &cluster).await {
        Ok(()) => ExchangePhase::Endpoint,
        Err(fault) => fail_over_or_reply(ctx, fault),
    }
}

/// State of a waiting request.
struct UploadWait {
    guard: RateGuard,
    /// Deadline for a slot, once the first part of the body has arrived.
    slot_deadline: WorkerTime,
    /// Search position for the end of the body.
    probe: BodyProbe,
}

impl UploadWait {
    async fn run(&mut self, ctx: &mut ExchangeCx<'_>, cluster: &WorkerCluster) -> Result<(), Fault> {
        loop {
            let upload = progress(ctx.down);
            let waiting = cluster.uploads().wait(upload);
            let mut released = pin!(waiting.released());
            let came = poll_fn(|cx| {
                if released.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(Ok(()));
                }
                match upload {
                    Upload::AwaitingBody => self.poll_body(ctx, cx),
                    Upload::BodyStarted => self.poll_timeout(ctx, cx),
                }
            });
            came.await?;
            if take_slot(ctx, cluster) {
                return Ok(());
            }
        }
    }

    /// Reads until the body is complete or its first part has arrived; sends `100 Continue` first if the client waits
    /// for it.
    fn poll_body(&mut self, ctx: &mut ExchangeCx<'_>, cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        let ExchangeCx { down, exchange, .. } = &mut *ctx;
        if exchange.head.expects_continue && !exchange.is_continued {
            exchange.is_continued = true;
            if !down.has_body_begun() {
                exchange.answer.push_continue();
            }
        }
        if poll_flush(down, exchange, cx)?.is_pending() {
            return self.poll_deadline(ctx, cx);
        }
        loop {
            let ExchangeCx { down, exchange, worker, .. } = &mut *ctx;
            if progress(down) == Upload::BodyStarted || down.has_whole_body(&mut self.probe) {
                return Poll::Ready(Ok(()));
            }
            if down.input.capacity() > 0 && down.input.room().is_empty() {
                down.input.grow(FIRST_PART_BYTES);
            }
            match down.poll_body(cx, &worker.buffers, &mut exchange.upload.reader) {
                Poll::Ready(Ok(count)) => self.guard.moved(count as u64, worker.timers.now()),
                Poll::Ready(Err(_)) => return Poll::Ready(Err(Fault::ClientGone)),
                Poll::Pending => {
                    down.release(&worker.buffers);
                    return self.poll_deadline(ctx, cx);
                }
            }
        }
    }

    fn poll_deadline(&mut self, ctx: &ExchangeCx<'_>, cx: &Context<'_>) -> Poll<Result<(), Fault>> {
        let deadline = self.guard.deadline(ctx.worker.timers.now());
        if deadline == WorkerTime::NEVER {
            // Without a minimum rate, the wait for a slot has the deadline.
            return self.poll_timeout(ctx, cx);
        }
        poll_due(ctx, cx, deadline, Fault::BodyTimeout)
    }

    /// Waits without reading; the client's rate does not count meanwhile.
    fn poll_timeout(&mut self, ctx: &ExchangeCx<'_>, cx: &Context<'_>) -> Poll<Result<(), Fault>> {
        if ctx.down.is_request_cancelled(cx) {
            return Poll::Ready(Err(Fault::ClientGone));
        }
        if self.slot_deadline == WorkerTime::NEVER {
            let patience = Millis::of(ctx.listener.config.timeouts.body_grace);
            self.slot_deadline = ctx.worker.timers.now() + patience;
        }
        poll_due(ctx, cx, self.slot_deadline, Fault::LinksExhausted)
    }
}

fn poll_due(ctx: &ExchangeCx<'_>, cx: &Context<'_>, at: WorkerTime, fault: Fault) -> Poll<Result<(), Fault>> {
    let mut due = ctx.exchange.due;
    due.sooner(at, fault);
    if due.at <= ctx.worker.timers.now() {
        return Poll::Ready(Err(due.fault));
    }
    let timer = &ctx.down.timer;
    timer.register(cx);
    timer.arm_at(due.at);
    Poll::Pending
}

/// Number of concurrent requests assumed per shared connection.
const STREAMS_OF_LINK: u32 = 100;
