//! Begin of an attempt that has its link: the request head is written, and the body prepared.

use eddy_config::MirrorHost;
use eddy_http::{RequestBody, Version};

use crate::exchange::attempt::request::write_request;
use crate::exchange::attempt::retry::fail;
use crate::exchange::attempt::state::{Attempt, PooledAttempt};
use crate::exchange::context::ExchangeCx;
use crate::exchange::phase::ExchangePhase;
use crate::exchange::state::Exchange;
use crate::exchange::{filter, grpc, mirror, upgrade};
use crate::fault::Fault;
use crate::message::{BodyCopy, OutputFraming};
use crate::upstream::UpstreamChannel;

/// Begins the transfer of an attempt that has its link.
pub(crate) fn begin(ctx: &mut ExchangeCx<'_>, attempt: Attempt) -> ExchangePhase {
    ctx.exchange.note_endpoint(&attempt);
    match write_head(ctx, &attempt.upstream) {
        Ok(()) => ExchangePhase::Transfer(PooledAttempt::new(attempt)),
        Err(fault) => {
            drop(attempt);
            fail(ctx, fault)
        }
    }
}

/// Writes the request head for the endpoint and prepares the body.
pub(crate) fn write_head(ctx: &mut ExchangeCx<'_>, upstream: &UpstreamChannel) -> Result<(), Fault> {
    let body = filter::request_framing(ctx);
    let ExchangeCx { down, exchange, .. } = &mut *ctx;
    // Body bytes that an earlier attempt has read from the client are sent again.
    let taken = exchange.upload.take_copied(&mut down.input);
    exchange.upload.restart();
    upgrade::check(ctx.exchange, body, upstream)?;
    ctx.exchange.forwards_expectation = forwards_expectation(ctx, body);
    if ctx.exchange.upgrade.is_open() {
        upgrade::open(ctx.exchange, &ctx.worker.buffers);
    } else {
        let mut out = std::mem::take(&mut ctx.exchange.upload.out);
        let written = write_request(ctx, body, MirrorHost::Same, &mut out);
        ctx.exchange.upload.out = out;
        written?;
    }
    let exchange = &mut *ctx.exchange;
    exchange.upload.end_head();
    let announced = if let RequestBody::Length(length) = body { Some(length) } else { None };
    let framing = match body {
        _ if upstream.version() == Version::Http2 => OutputFraming::Frames,
        RequestBody::Chunked => OutputFraming::Chunked,
        RequestBody::Length(_) | RequestBody::None => OutputFraming::Plain,
    };
    exchange.upload.set_framing(framing, announced);
    // On a shared link, an endpoint may refuse the stream after its body has been sent.
    if framing == OutputFraming::Frames && !body.is_empty() {
        exchange.upload.copy = Some(BodyCopy::for_resend());
    }
    // A tunnel is never mirrored: it has exactly two ends.
    if !ctx.exchange.upgrade.is_asked() {
        mirror::begin(ctx);
    }
    grpc::keep_request(ctx);
    let Exchange { filtering, upload, .. } = &mut *ctx.exchange;
    filtering.run.request.seal();
    if !filter::stage_buffered_body(&filtering.run.request, upload) {
        upload.push_data(&taken);
    }
    Ok(())
}

/// Whether `Expect: 100-continue` is passed on to the endpoint: no `100` has been sent to the client, and no body byte
/// has arrived.
fn forwards_expectation(ctx: &ExchangeCx<'_>, body: RequestBody) -> bool {
    let exchange = &*ctx.exchange;
    exchange.head.expects_continue
        && !exchange.is_continued
        && !body.is_empty()
        && !exchange.filtering.has_whole_request()
        && !exchange.upgrade.is_asked()
        && !ctx.down.has_body_begun()
}
