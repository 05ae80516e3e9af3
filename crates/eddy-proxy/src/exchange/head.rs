//! Reading of the request head.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Instant;

use eddy_http::{H2Head, HeadFault, HeadLimits, RequestHead, Version};
use eddy_ids::Millis;
use eddy_io::Fill;

use crate::downstream::Wire;
use crate::exchange::context::ExchangeCx;
use crate::exchange::phase::ExchangePhase;
use crate::exchange::state::Exchange;
use crate::exchange::upgrade;
use crate::fault::Fault;

/// Reads and parses the head. Returns `None` when the client disconnects before a head has begun.
///
/// Invariant: the input buffer is not empty, because the session waits for the first byte and nothing is consumed
/// before the head is complete.
pub(crate) async fn read(ctx: &mut ExchangeCx<'_>) -> Option<ExchangePhase> {
    let limits = ctx.listener.config.limits.head;
    if let Wire::Http2(stream) = &ctx.down.wire {
        let head = stream.take_head();
        return Some(accept_http2(ctx, head, &limits));
    }
    let timeout = Millis::of(ctx.listener.config.timeouts.head);
    let mut is_timed = false;
    loop {
        let ExchangeCx { down, exchange, worker, .. } = ctx;
        match look(exchange, down.input.held(), &limits) {
            Ok(Some(length)) => return Some(accept(ctx, length)),
            Ok(None) => {}
            Err(fault) => return Some(refuse(ctx, Fault::RequestHead(fault))),
        }
        if !is_timed {
            down.timer.arm(timeout);
            is_timed = true;
        }
        if down.input.room().is_empty() {
            let capacity = down.input.capacity();
            down.input.grow(capacity * 2);
        }
        let filled = poll_fn(|cx| {
            down.timer.register(cx);
            match down.poll_fill(cx, &worker.buffers) {
                Poll::Ready(filled) => Poll::Ready(Some(filled)),
                Poll::Pending if down.timer.is_expired() => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            }
        });
        match filled.await {
            Some(Ok(Fill::Bytes(_))) => {}
            Some(Ok(Fill::End) | Err(_)) if ctx.exchange.scanner.started() => {
                return Some(refuse(ctx, Fault::ClientGone));
            }
            Some(Ok(Fill::End) | Err(_)) => return None,
            None => return Some(refuse(ctx, Fault::HeadTimeout)),
        }
    }
}

/// Parses the head if it is complete; returns its length.
fn look(exchange: &mut Exchange, held: &[u8], limits: &HeadLimits) -> Result<Option<usize>, HeadFault> {
    debug_assert!(!held.is_empty(), "an exchange begins with the first byte");
    // Most heads arrive whole. Others are scanned as they grow and parsed when complete.
    if !exchange.scanner.started()
        && let Some(length) = exchange.head.parse_start(held, limits)?
    {
        return Ok(Some(length));
    }
    let Some(length) = exchange.scanner.scan(held, limits)? else { return Ok(None) };
    exchange.head.parse(held.get(..length).expect("the head was found in these bytes"), limits)?;
    Ok(Some(length))
}

fn accept(ctx: &mut ExchangeCx<'_>, length: usize) -> ExchangePhase {
    let ExchangeCx { down, exchange, worker, .. } = ctx;
    exchange.started = Some(Instant::now());
    exchange.head_bytes.clear();
    exchange.head_bytes.extend_from_slice(down.input.front(length));
    down.input.consume(length);
    down.release(&worker.buffers);
    exchange.is_head_whole = true;
    if exchange.head.wants_tunnel() {
        // The following bytes may be meant for the tunnel; if no tunnel is opened, they are not a request either.
        exchange.head.keep_alive = false;
    }
    exchange.upload.reader.begin_request(exchange.head.body);
    ExchangePhase::Rules
}

/// Takes the head of a request that arrived in HTTP/2 frames.
fn accept_http2(ctx: &mut ExchangeCx<'_>, framed: H2Head, limits: &HeadLimits) -> ExchangePhase {
    let H2Head { text, fault, has_body, is_tunnel } = framed;
    let exchange = &mut *ctx.exchange;
    exchange.started = Some(Instant::now());
    exchange.head_bytes = text;
    let read = match fault {
        None => exchange.head.parse_http2(&exchange.head_bytes, limits, has_body && !is_tunnel),
        Some(fault) => Err(fault),
    };
    if let Err(fault) = read {
        // The head of an earlier exchange does not belong to this request.
        exchange.head = RequestHead::new();
        exchange.head.version = Version::Http2;
        return refuse(ctx, Fault::RequestHead(fault));
    }
    exchange.is_head_whole = true;
    if exchange.head.has_upgrade {
        upgrade::add_key(exchange, &mut ctx.worker.rng.borrow_mut());
    }
    exchange.upload.reader.begin_http2(exchange.head.body);
    ExchangePhase::Rules
}

/// Responds to a request whose framing cannot be trusted any more; the connection ends with the response.
fn refuse(ctx: &mut ExchangeCx<'_>, fault: Fault) -> ExchangePhase {
    ctx.exchange.started = Some(Instant::now());
    ctx.exchange.head.keep_alive = false;
    ctx.exchange.fault = Some(fault);
    ExchangePhase::Reply
}
