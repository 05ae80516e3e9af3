//! The embedded demo endpoint, a target for trying a gateway before there is a service.

use std::fmt::Write;
use std::future::poll_fn;
use std::task::Poll;

use eddy_http::{Fields, Method};
use eddy_ids::Millis;

use crate::exchange::context::ExchangeCx;
use crate::exchange::flush::flush;
use crate::exchange::phase::ExchangePhase;
use crate::exchange::state::{Drip, LocalBody};
use crate::fault::Fault;

/// Number of pieces of the slow body, unless the query sets it; `PIECES_MAX` is the maximum.
const PIECES: u32 = 5;
const PIECES_MAX: u32 = 1_000;
/// Pause before each piece.
const PAUSE: Millis = Millis::new(500);
const PAUSE_MAX: Millis = Millis::new(60_000);
/// Body size of `/fixed`, unless the query sets it, and the maximum.
const FIXED_BYTES: usize = 13;
const FIXED_BYTES_MAX: usize = 1024 * 1024;
/// Maximum number of bytes echoed.
const ECHO_BYTES_MAX: usize = 64 * 1024;
const PIECE: &[u8] = b"drip\n";

/// Prepares the response for the request path.
pub(crate) fn prepare(ctx: &mut ExchangeCx<'_>) -> ExchangePhase {
    let exchange = &mut *ctx.exchange;
    let query = exchange.head.query.map(|query| query.of(&exchange.head_bytes)).unwrap_or_default();
    exchange.status = 200;
    match exchange.path.as_slice() {
        b"/fixed" => {
            exchange.scratch.clear();
            match fixed_bytes(query) {
                Some(bytes) => {
                    let line = b"Hello, world\n".iter().copied().cycle();
                    exchange.scratch.extend(line.take(bytes));
                }
                None => {
                    let refusal = format!("bytes: a number from 0 to {FIXED_BYTES_MAX}\n");
                    exchange.scratch.extend_from_slice(refusal.as_bytes());
                    exchange.status = 400;
                }
            }
            exchange.local.body = LocalBody::Scratch;
        }
        b"/slow" => {
            let pieces =
                number(query, "pieces").map_or(PIECES, |pieces| u32::try_from(pieces).unwrap_or(PIECES_MAX));
            let pieces = pieces.min(PIECES_MAX);
            let pause = number(query, "pause_ms").map_or(PAUSE, Millis::new).min(PAUSE_MAX);
            exchange.local.body = LocalBody::Drip(Drip { pieces, pause });
        }
        _ => {
            let mut text = String::new();
            let method = String::from_utf8_lossy(exchange.head.method_name(&exchange.head_bytes));
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{method} {}", String::from_utf8_lossy(&exchange.target));
            for field in exchange.head.fields(&exchange.head_bytes).iter() {
                let (name, value) =
                    (String::from_utf8_lossy(field.name), String::from_utf8_lossy(field.value));
                let _ = writeln!(text, "{name}: {value}");
            }
            exchange.scratch.clear();
            exchange.scratch.extend_from_slice(text.as_bytes());
            exchange.local.body = LocalBody::Echo;
        }
    }
    ExchangePhase::Reply
}

/// Appends the request body to the lines that describe its head, to be echoed.
pub(crate) async fn collect(ctx: &mut ExchangeCx<'_>) -> Result<(), Fault> {
    let grace = ctx.listener.config.timeouts.body_grace;
    let ExchangeCx { down, exchange, .. } = ctx;
    down.timer.arm(Millis::of(grace));
    if exchange.head.expects_continue && down.input.is_empty() && !exchange.upload.reader.is_done() {
        exchange.answer.push_continue();
        flush(ctx).await?;
    }
    let ExchangeCx { down, exchange, worker, .. } = ctx;
    let whole = exchange.filtering.run.request.whole();
    if !exchange.upload.reader.is_done() || whole.is_some() {
        exchange.scratch.push(b'\n');
    }
    // A body that a filter has buffered is not read again.
    exchange.scratch.extend_from_slice(whole.unwrap_or_default());
    while !exchange.upload.reader.is_done() {
        let piece = exchange.upload.reader.next(down.input.held()).map_err(Fault::RequestChunk)?;
        down.input.consume(piece.skip);
        exchange.scratch.extend(down.input.front(piece.data));
        down.input.consume(piece.data);
        exchange.upload.data_bytes += piece.data as u64;
        if exchange.scratch.len() > ECHO_BYTES_MAX {
            return Err(Fault::BodyTooLarge);
        }
        if piece.data > 0 || exchange.upload.reader.is_done() {
            continue;
        }
        let filled = poll_fn(|cx| {
            down.timer.register(cx);
            match down.poll_body(cx, &worker.buffers, &mut exchange.upload.reader) {
                Poll::Ready(Ok(_)) => Poll::Ready(Ok(())),
                Poll::Ready(Err(_)) => Poll::Ready(Err(Fault::ClientGone)),
                Poll::Pending if down.timer.is_expired() => Poll::Ready(Err(Fault::BodyTimeout)),
                Poll::Pending => Poll::Pending,
            }
        });
        filled.await?;
    }
    Ok(())
}

/// Returns the length of a slow body.
pub(crate) fn drip_bytes(drip: Drip) -> u64 {
    u64::from(drip.pieces) * PIECE.len() as u64
}

/// Sends a slow body, one piece at a time.
pub(crate) async fn drip(ctx: &mut ExchangeCx<'_>, drip: Drip) -> Result<(), Fault> {
    let pieces = if ctx.exchange.head.method == Method::Head { 0 } else { drip.pieces };
    for _ in 0..pieces {
        pause(ctx, drip.pause).await;
        ctx.exchange.answer.out.extend_from_slice(PIECE);
        ctx.exchange.answer.written_bytes += PIECE.len() as u64;
        flush(ctx).await?;
    }
    ctx.exchange.answer.finish(Fields::default());
    flush(ctx).await
}

async fn pause(ctx: &mut ExchangeCx<'_>, pause: Millis) {
    let timer = &ctx.down.timer;
    timer.arm(pause);
    poll_fn(|cx| {
        timer.register(cx);
        if timer.is_expired() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Returns the body size that `/fixed` is asked for; `None` when it is not a number up to the limit.
fn fixed_bytes(query: &[u8]) -> Option<usize> {
    let Some(written) = parameter(query, "bytes") else { return Some(FIXED_BYTES) };
    std::str::from_utf8(written).ok()?.parse().ok().filter(|bytes| *bytes <= FIXED_BYTES_MAX)
}

/// Returns the value of a query parameter, if it is a number.
fn number(query: &[u8], name: &str) -> Option<u64> {
    std::str::from_utf8(parameter(query, name)?).ok()?.parse().ok()
}

/// Returns the value of a query parameter.
fn parameter<'q>(query: &'q [u8], name: &str) -> Option<&'q [u8]> {
    query.split(|byte| *byte == b'&').find_map(|pair| {
        let value = pair.strip_prefix(name.as_bytes())?;
        value.strip_prefix(b"=")
    })
}
