//! The request's passage through the filter chain.

use std::future::poll_fn;
use std::task::{Context, Poll};

use eddy_filter::{Direction, Phase};
use eddy_http::RequestBody;
use eddy_io::BUFFER_BYTES_SMALL;

use crate::downstream::RateGuard;
use crate::exchange::context::ExchangeCx;
use crate::exchange::filter::direction::{FilterProgress, advance};
use crate::exchange::filter::local::answer;
use crate::exchange::filter::step::step_of;
use crate::exchange::flush::poll_flush;
use crate::exchange::watch::Watch;
use crate::exchange::{phase, route};
use crate::fault::Fault;

/// Passes the request head through the chain, and the body if a filter wants all of it; then carries out the rule's
/// action.
pub(crate) async fn request(ctx: &mut ExchangeCx<'_>) -> phase::ExchangePhase {
    if ctx.route.chain.is_none() {
        return route::act(ctx);
    }
    let mut passage =
        RequestFiltering { guard: RateGuard::of(&ctx.listener.config.timeouts), client: Watch::default() };
    match poll_fn(|cx| passage.poll(ctx, cx)).await {
        Ok(FilterProgress::Replied) => answer(ctx),
        Ok(_) => route::act(ctx),
        Err(fault) => {
            ctx.exchange.fault = Some(fault);
            phase::ExchangePhase::Reply
        }
    }
}

/// Returns the framing of the request body towards the endpoint.
pub(crate) fn framing(ctx: &ExchangeCx<'_>) -> RequestBody {
    let exchange = &*ctx.exchange;
    let message = &exchange.filtering.run.request;
    if let Some(whole) = message.whole() {
        return match (message.trailers().is_empty(), whole.len() as u64) {
            (true, 0) if exchange.head.body.is_empty() => RequestBody::None,
            (true, length) => RequestBody::Length(length),
            (false, _) => RequestBody::Chunked,
        };
    }
    let body = exchange.head.body;
    let has_body = matches!(body, RequestBody::Length(1..));
    if has_body && (message.is_length_open() || changes_bodies(ctx, Phase::RequestBody)) {
        RequestBody::Chunked
    } else {
        body
    }
}

/// Whether a filter may change the length of bodies in this phase.
pub(crate) fn changes_bodies(ctx: &ExchangeCx<'_>, phase: Phase) -> bool {
    let chain = ctx.route.chain.as_ref();
    chain.is_some_and(|chain| {
        chain.chain.order(phase).iter().any(|entry| !step_of(chain, entry.step).filter.info.keeps_length)
    })
}

/// Whether any filter is called in this phase.
pub(crate) fn has(ctx: &ExchangeCx<'_>, phase: Phase) -> bool {
    let chain = ctx.route.chain.as_ref();
    chain.is_some_and(|chain| chain.chain.has(phase))
}

/// Passage of a request through the chain before an endpoint is selected.
struct RequestFiltering {
    guard: RateGuard,
    client: Watch,
}

impl RequestFiltering {
    fn poll(
        &mut self,
        ctx: &mut ExchangeCx<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<FilterProgress, Fault>> {
        loop {
            let now = ctx.worker.timers.now();
            let mut due = ctx.exchange.due;
            match advance(ctx, cx, Direction::Request)? {
                FilterProgress::NeedInput => match self.poll_input(ctx, cx)? {
                    Poll::Ready(()) => continue,
                    Poll::Pending => due.sooner(self.guard.deadline(now), Fault::BodyTimeout),
                },
                FilterProgress::Waiting => {
                    if ctx.exchange.upload.reader.is_done() {
                        self.client.watch(cx, ctx)?;
                    }
                    due.sooner(self.client.deadline(), Fault::ClientGone);
                }
                progress @ (FilterProgress::Head
                | FilterProgress::Whole
                | FilterProgress::Output
                | FilterProgress::Replied) => {
                    return Poll::Ready(Ok(progress));
                }
            }
            if due.at <= now {
                return Poll::Ready(Err(due.fault));
            }
            // The end of a pause is detected in `advance`; the timer only wakes the exchange.
            let wakes_at = ctx.exchange.filtering.wakes_at(Direction::Request, None);
            let timer = &ctx.down.timer;
            timer.register(cx);
            timer.arm_at(wakes_at.map_or(due.at, |wakes_at| wakes_at.min(due.at)));
            return Poll::Pending;
        }
    }

    /// Reads more of the body; sends `100 Continue` first if the client waits for it.
    fn poll_input(&mut self, ctx: &mut ExchangeCx<'_>, cx: &mut Context<'_>) -> Result<Poll<()>, Fault> {
        let ExchangeCx { down, exchange, worker, .. } = ctx;
        if exchange.head.expects_continue && !exchange.is_continued {
            exchange.is_continued = true;
            if down.input.is_empty() {
                exchange.answer.push_continue();
            }
        }
        if poll_flush(down, exchange, cx)?.is_pending() {
            return Ok(Poll::Pending);
        }
        if exchange.upload.reader.is_bulk(BUFFER_BYTES_SMALL) {
            down.enlarge(&worker.buffers);
        }
        match down.poll_body(cx, &worker.buffers, &mut exchange.upload.reader) {
            Poll::Ready(Ok(count)) => {
                self.guard.moved(count as u64, worker.timers.now());
                Ok(Poll::Ready(()))
            }
            Poll::Ready(Err(_)) => Err(Fault::ClientGone),
            Poll::Pending => {
                down.release(&worker.buffers);
                Ok(Poll::Pending)
            }
        }
    }
}
