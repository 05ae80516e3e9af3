//! Writing of staged output to the client, where nothing else is to be moved.

use std::future::poll_fn;
use std::task::{Context, Poll};

use crate::downstream::{Downstream, RateGuard};
use crate::exchange::context::ExchangeCx;
use crate::exchange::state::Exchange;
use crate::fault::Fault;

/// Writes the staged bytes to the client.
pub(crate) async fn flush(ctx: &mut ExchangeCx<'_>) -> Result<(), Fault> {
    let mut guard = RateGuard::of(&ctx.listener.config.timeouts);
    let ExchangeCx { down, exchange, worker, .. } = ctx;
    poll_fn(|cx| {
        while exchange.answer.has_output() {
            match down.poll_write_response(cx, &mut exchange.answer, &mut exchange.response_input) {
                Poll::Ready(Ok(count)) => guard.moved(count as u64, worker.timers.now()),
                Poll::Ready(Err(_)) => return Poll::Ready(Err(Fault::ClientGone)),
                Poll::Pending => {
                    let now = worker.timers.now();
                    let deadline = guard.deadline(now).min(exchange.due.at);
                    if deadline <= now {
                        return Poll::Ready(Err(Fault::ClientSlow));
                    }
                    down.timer.register(cx);
                    down.timer.arm_at(deadline);
                    return Poll::Pending;
                }
            }
        }
        Poll::Ready(Ok(()))
    })
    .await
}

/// Writes the staged bytes to the client, which is given any time; pending while the client takes none.
///
/// # Errors
/// [`Fault::ClientGone`]
pub(crate) fn poll_flush(
    down: &mut Downstream,
    exchange: &mut Exchange,
    cx: &mut Context<'_>,
) -> Result<Poll<()>, Fault> {
    while exchange.answer.has_output() {
        match down.poll_write_response(cx, &mut exchange.answer, &mut exchange.response_input) {
            Poll::Ready(written) => written.map(drop).map_err(|_| Fault::ClientGone)?,
            Poll::Pending => return Ok(Poll::Pending),
        }
    }
    Ok(Poll::Ready(()))
}
