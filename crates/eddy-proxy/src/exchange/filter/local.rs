//! Filter replies, and filters applied to local replies.

use std::future::poll_fn;
use std::task::{Context, Poll};

use eddy_filter::{Direction, IncomingBody, StepOrder};
use eddy_http::{FieldId, Fields, HeadLimits, LocalReply, write_local_head};
use eddy_ids::WorkerTime;
use eddy_io::Reusable;

use crate::downstream::RateGuard;
use crate::exchange::context::ExchangeCx;
use crate::exchange::filter::direction::{FilterProgress, advance, stage_filtered};
use crate::exchange::filter::step::{chain_of, fail};
use crate::exchange::flush::poll_flush;
use crate::exchange::phase::ExchangePhase;
use crate::exchange::state::LocalBody;
use crate::exchange::watch::Watch;
use crate::fault::Fault;
use crate::stats::FailureKind;

/// Makes a filter's reply the response of the exchange.
pub(crate) fn answer(ctx: &mut ExchangeCx<'_>) -> ExchangePhase {
    let exchange = &mut *ctx.exchange;
    let reply = &mut exchange.filtering.reply;
    exchange.status = reply.status;
    // The reply now belongs to the exchange; a filter may still reply later.
    reply.status = 0;
    exchange.scratch.clear();
    exchange.scratch.extend_from_slice(&reply.body);
    exchange.local.body = LocalBody::Scratch;
    exchange.local.location.clear();
    exchange.filtering.details.clear();
    exchange.filtering.details.extend_from_slice(&exchange.filtering.reply.details);
    exchange.local.grpc_code = exchange.filtering.reply.grpc_status;
    ExchangePhase::Reply
}

/// Whether filters have seen the request of a local reply, and therefore see the reply.
pub(crate) fn sees_local_replies(ctx: &ExchangeCx<'_>) -> bool {
    // The slow bodies of the demo endpoint are not buffered and bypass the filters.
    ctx.exchange.filtering.handle.is_some() && !matches!(ctx.exchange.local.body, LocalBody::Drip(_))
}

/// Passes a local reply through the response phases of the filters that saw the request.
pub(crate) async fn local(
    ctx: &mut ExchangeCx<'_>,
    reply: &LocalReply<'_>,
    body: &[u8],
) -> Result<(), Fault> {
    build(ctx, reply, body)?;
    poll_fn(|cx| poll(ctx, cx)).await
}

/// Lays out the reply as if an endpoint had sent it.
fn build(ctx: &mut ExchangeCx<'_>, reply: &LocalReply<'_>, body: &[u8]) -> Result<(), Fault> {
    let exchange = &mut *ctx.exchange;
    let filtering = &mut exchange.filtering;
    filtering.response_head.clear();
    write_local_head(&mut filtering.response_head, reply);
    let limits = HeadLimits { head_bytes_max: 1024 * 1024, ..HeadLimits::default() };
    exchange
        .response
        .parse(&filtering.response_head, &limits, exchange.head.method)
        .map_err(|_| Fault::Egress)?;
    let mut fields = exchange.response.edit(&mut filtering.response_head);
    let mut has_content_type = false;
    let mut refused = None;
    for (name, value) in filtering.reply.fields.iter() {
        let is_content_type = FieldId::from_name(name) == FieldId::ContentType;
        // The end of a gRPC call has its own content type.
        if is_content_type && reply.grpc.is_some() {
            continue;
        }
        let is_first = is_content_type && !has_content_type;
        has_content_type |= is_content_type;
        let done = if is_first { fields.set(name, value) } else { fields.add(name, value) };
        if let Err(fault) = done {
            refused = Some((filtering.reply.place, fault));
            break;
        }
    }
    filtering.reply.reset();
    if let Some((place, fault)) = refused {
        let why = format!("a header of its reply is invalid: {fault}");
        // The filter's reply is not sent, whatever its failure policy.
        let _ = fail(ctx, &chain_of(ctx), place, FailureKind::Edit, &why);
        return Err(Fault::FilterFailed);
    }
    let travel = StepOrder::new(Direction::Response, &chain_of(ctx).chain);
    ctx.exchange.filtering.run.response.begin(travel, IncomingBody::Whole(body));
    ctx.exchange.is_local = true;
    Ok(())
}

/// Whether a filter sends the body of a local reply piece by piece.
pub(crate) fn is_streaming(ctx: &ExchangeCx<'_>) -> bool {
    ctx.exchange.filtering.run.response.is_streaming()
}

/// Sends the rest of a local reply whose head is written, as filters send it.
///
/// # Errors
/// When the client has left or takes nothing, or a filter fails.
pub(crate) async fn stream(ctx: &mut ExchangeCx<'_>) -> Result<(), Fault> {
    let mut streaming = LocalStreaming::default();
    poll_fn(|cx| streaming.poll(ctx, cx)).await
}

/// Progress of a local reply that filters send piece by piece.
#[derive(Default)]
struct LocalStreaming {
    client: Watch,
    /// Guard while the client takes nothing.
    guard: Option<RateGuard>,
}

impl LocalStreaming {
    fn poll(&mut self, ctx: &mut ExchangeCx<'_>, cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        loop {
            let now = ctx.worker.timers.now();
            let mut due = WorkerTime::NEVER;
            if poll_flush(ctx.down, ctx.exchange, cx)?.is_pending() {
                let guard = self.guard.get_or_insert_with(|| RateGuard::of(&ctx.listener.config.timeouts));
                due = guard.deadline(now);
                if due <= now {
                    return Poll::Ready(Err(Fault::ClientSlow));
                }
            } else {
                self.guard = None;
                if ctx.exchange.answer.is_end_staged() {
                    return Poll::Ready(Ok(()));
                }
                match stage_filtered(ctx, cx, Direction::Response)? {
                    FilterProgress::Waiting => {
                        if ctx.exchange.upload.reader.is_done() {
                            self.client.watch(cx, ctx)?;
                        }
                        if self.client.deadline() <= now {
                            return Poll::Ready(Err(Fault::ClientGone));
                        }
                        let wakes_at = ctx.exchange.filtering.wakes_at(Direction::Response, None);
                        due = wakes_at.unwrap_or(due).min(self.client.deadline());
                    }
                    FilterProgress::Output => continue,
                    FilterProgress::Replied => {
                        // The reply that is under way is kept.
                        ctx.exchange.filtering.reply.reset();
                        continue;
                    }
                    FilterProgress::Head | FilterProgress::Whole | FilterProgress::NeedInput => {
                        ctx.exchange.answer.finish(Fields::default());
                        continue;
                    }
                }
            }
            let timer = &ctx.down.timer;
            timer.register(cx);
            timer.arm_at(due);
            return Poll::Pending;
        }
    }
}

fn poll(ctx: &mut ExchangeCx<'_>, cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
    loop {
        match advance(ctx, cx, Direction::Response)? {
            FilterProgress::Head | FilterProgress::Whole | FilterProgress::Output => {
                return Poll::Ready(Ok(()));
            }
            FilterProgress::Replied => {
                // A reply to a reply could go on without end; the first one is kept.
                ctx.exchange.filtering.reply.reset();
            }
            FilterProgress::NeedInput | FilterProgress::Waiting => {
                let wakes_at = ctx.exchange.filtering.wakes_at(Direction::Response, None);
                let timer = &ctx.down.timer;
                timer.register(cx);
                timer.arm_at(wakes_at.unwrap_or(WorkerTime::NEVER));
                return Poll::Pending;
            }
        }
    }
}
