//! Local replies: a fixed response, a redirect, or a fault.

use eddy_http::{
    Fields, GrpcReply, HeadFault, LocalReply, Method, ResponseBody, Version, status_reason, write_local_head,
};

use crate::exchange::answer::{self, may_keep_alive};
use crate::exchange::context::ExchangeCx;
use crate::exchange::flush::flush;
use crate::exchange::phase::ExchangePhase;
use crate::exchange::state::{Exchange, HeadSource, LocalBody, SiteState};
use crate::exchange::{demo, filter, grpc, site, upgrade};
use crate::fault::Fault;
use crate::message::OutputFraming;
use crate::resolved::Route;

/// Writes the whole response.
pub(crate) async fn send(ctx: &mut ExchangeCx<'_>) -> ExchangePhase {
    if let Some(phase) = site::show_error_page(ctx) {
        return phase;
    }
    if let Some(fault) = ctx.exchange.fault {
        let status = site::status_of(ctx, fault);
        ctx.exchange.reply_with_fault(fault, status);
        if matches!(fault, Fault::ClientGone | Fault::ClientSlow | Fault::FilterReset | Fault::RuleClose) {
            return ExchangePhase::Finish;
        }
    }
    ctx.exchange.upgrade.clear();
    if upgrade::check_client_accepts(ctx.exchange, ctx.exchange.status).is_err() {
        let fault = Fault::RequestHead(HeadFault::ConnectRefused);
        ctx.exchange.reply_with_fault(fault, fault.status());
    }
    if matches!(ctx.exchange.local.body, LocalBody::Echo)
        && let Err(fault) = Box::pin(demo::collect(ctx)).await
    {
        ctx.exchange.reply_with_fault(fault, fault.status());
        if fault == Fault::ClientGone {
            return ExchangePhase::Finish;
        }
    }
    if ctx.exchange.answer.is_half_sent() {
        // The client has received part of an interim response; only closing the connection can follow.
        return ExchangePhase::Finish;
    }
    grpc::settle(ctx);
    // Discard what was staged of an endpoint's response that turned out to be broken.
    ctx.exchange.answer.clear();
    if let Err(fault) = write(ctx).await {
        ctx.exchange.fault = Some(fault);
        return ExchangePhase::Finish;
    }
    let drip = if let LocalBody::Drip(drip) = ctx.exchange.local.body { Some(drip) } else { None };
    let sent = match (flush(ctx).await, drip) {
        (Ok(()), Some(drip)) => Box::pin(demo::drip(ctx, drip)).await,
        (Ok(()), None) if filter::is_streaming(ctx) => Box::pin(filter::stream(ctx)).await,
        (sent, _) => sent,
    };
    if let Err(fault) = sent {
        ctx.exchange.fault = Some(fault);
    }
    ExchangePhase::Finish
}

/// Stages the head and, if available, the body.
async fn write(ctx: &mut ExchangeCx<'_>) -> Result<(), Fault> {
    if !filter::sees_local_replies(ctx) {
        return write_plain(ctx);
    }
    // Boxed, so that the many exchanges without filtered replies reserve no space for it.
    match Box::pin(write_filtered(ctx)).await {
        // A filter failed on a local reply: the client gets the fault as response, without filters.
        Err(fault @ (Fault::FilterFailed | Fault::FilterTimeout | Fault::FilterBody)) => {
            ctx.exchange.reply_with_fault(fault, fault.status());
            ctx.exchange.answer.clear();
            grpc::settle(ctx);
            write_plain(ctx)
        }
        written => written,
    }
}

fn write_plain(ctx: &mut ExchangeCx<'_>) -> Result<(), Fault> {
    let keep_alive = may_keep_alive(ctx) && discard_received_body(ctx);
    let date = ctx.worker.date();
    let own_edits = site::answer_edits(ctx, ctx.exchange.status);
    let route_edits = ctx.route.response_edits();
    let exchange = &mut *ctx.exchange;
    let version = exchange.head.version;
    let body_len = body_len(exchange, &ctx.route);
    exchange.keeps_alive = keep_alive;
    exchange.is_local = true;
    exchange.is_answered = true;
    let status = exchange.status;
    let reply = LocalReply {
        status,
        content_type: Some(content_type_of(&exchange.local.body, exchange.site.as_deref(), &ctx.route)),
        location: (!exchange.local.location.is_empty()).then_some(exchange.local.location.as_slice()),
        edits: own_edits.as_ref().unwrap_or(route_edits),
        body_len,
        keep_alive: exchange.keeps_alive,
        version,
        date: &date,
        request_id: None,
        grpc: grpc_reply(
            &exchange.local.body,
            || grpc::format(&exchange.head, &exchange.head_bytes),
            &exchange.scratch,
        ),
    };
    exchange.answer.out.clear();
    write_local_head(&mut exchange.answer.out, &reply);
    check_egress(ctx, ResponseBody::Length(body_len))?;
    let exchange = &mut *ctx.exchange;
    exchange.answer.end_head();
    if version == Version::Http2 {
        exchange.answer.set_framing(OutputFraming::Frames, None);
    }
    if has_body(exchange) {
        let Exchange { answer, local, scratch, .. } = exchange;
        let body = text_of(&local.body, scratch, status, &ctx.route);
        answer.out.extend_from_slice(body);
        answer.written_bytes += body.len() as u64;
    }
    if !matches!(exchange.local.body, LocalBody::Drip(_)) {
        exchange.answer.finish(Fields::default());
    }
    Ok(())
}

/// As [`write_plain`], but through the filters: they see a local reply as they see an endpoint's response.
async fn write_filtered(ctx: &mut ExchangeCx<'_>) -> Result<(), Fault> {
    let exchange = &mut *ctx.exchange;
    let content_type = content_type_of(&exchange.local.body, exchange.site.as_deref(), &ctx.route).to_owned();
    let local = std::mem::take(&mut exchange.local.body);
    let format = if matches!(local, LocalBody::GrpcEnd(_)) {
        grpc::format(&exchange.head, &exchange.head_bytes).to_vec()
    } else {
        Vec::new()
    };
    let scratch = std::mem::take(&mut exchange.scratch);
    let location = std::mem::take(&mut exchange.local.location);
    let body = text_of(&local, &scratch, exchange.status, &ctx.route).to_vec();
    let has_body = has_body(exchange);
    let reply = LocalReply {
        content_type: Some(&content_type),
        location: (!location.is_empty()).then_some(&location),
        body_len: body.len() as u64,
        keep_alive: true,
        grpc: grpc_reply(&local, || format.as_slice(), &scratch),
        ..LocalReply::new(exchange.status)
    };
    filter::local(ctx, &reply, if has_body { &body } else { &[] }).await?;
    let is_swallowed = discard_received_body(ctx);
    ctx.exchange.is_local = true;
    ctx.exchange.is_answered = true;
    answer::write(ctx, HeadSource::Filters, is_swallowed)?;
    if !ctx.exchange.answer.is_end_staged() && !filter::is_streaming(ctx) {
        ctx.exchange.answer.finish(Fields::default());
    }
    Ok(())
}

fn check_egress(ctx: &mut ExchangeCx<'_>, body: ResponseBody) -> Result<(), Fault> {
    let exchange = &mut *ctx.exchange;
    let body = if has_body(exchange) { body } else { ResponseBody::None };
    let mut egress = ctx.worker.egress.borrow_mut();
    egress.check_response(&exchange.answer.out, exchange.status, body, exchange.head.method).map_err(
        |fault| {
            ctx.worker.series.egress_stopped.increment();
            tracing::error!(?fault, "egress check failed; the local reply was not sent");
            exchange.answer.out.clear();
            Fault::Egress
        },
    )
}

/// Discards the part of the request body that has already arrived; returns whether that was all of it.
///
/// Bytes that have not arrived cannot be distinguished from a next request, so the connection then ends with the
/// response.
fn discard_received_body(ctx: &mut ExchangeCx<'_>) -> bool {
    let ExchangeCx { down, exchange, .. } = ctx;
    while !exchange.upload.reader.is_done() {
        match exchange.upload.reader.next(down.input.held()) {
            Ok(piece) => {
                down.input.consume(piece.skip + piece.data);
                if piece.data == 0 {
                    break;
                }
            }
            Err(_) => return false,
        }
    }
    // Bytes that an attempt has taken from the client but not sent are lost with the attempt.
    exchange.upload.reader.is_done() && !exchange.upload.has_data_ready()
}

fn body_len(exchange: &Exchange, route: &Route) -> u64 {
    if let LocalBody::Drip(drip) = &exchange.local.body {
        return demo::drip_bytes(*drip);
    }
    text_of(&exchange.local.body, &exchange.scratch, exchange.status, route).len() as u64
}

/// Returns the bytes of a local reply that are known when its head is written.
fn text_of<'a>(body: &'a LocalBody, scratch: &'a [u8], status: u16, route: &'a Route) -> &'a [u8] {
    match body {
        LocalBody::Status => status_reason(status).as_bytes(),
        LocalBody::Respond => route.respond().map_or(&[], |respond| &respond.body),
        LocalBody::Challenge(body) => body,
        LocalBody::Scratch | LocalBody::SiteText | LocalBody::Echo => scratch,
        LocalBody::Drip(_) | LocalBody::GrpcEnd(_) => &[],
    }
}

fn content_type_of<'a>(body: &LocalBody, site: Option<&SiteState>, route: &'a Route) -> &'a str {
    let own = match body {
        LocalBody::Respond => route.respond().map(|respond| &*respond.content_type),
        LocalBody::Challenge(_) => Some("application/octet-stream"),
        LocalBody::SiteText => site.and_then(|site| site::text_type(site, route)),
        LocalBody::Status
        | LocalBody::Scratch
        | LocalBody::Echo
        | LocalBody::Drip(_)
        | LocalBody::GrpcEnd(_) => None,
    };
    own.unwrap_or("text/plain; charset=utf-8")
}

/// Returns the `grpc-status` to write, if the reply is the end of a gRPC call.
fn grpc_reply<'a>(
    body: &LocalBody,
    format: impl FnOnce() -> &'a [u8],
    message: &'a [u8],
) -> Option<GrpcReply<'a>> {
    let LocalBody::GrpcEnd(code) = body else { return None };
    Some(GrpcReply { format: format(), code: *code, message })
}

/// Whether the body of a local reply is sent.
fn has_body(exchange: &Exchange) -> bool {
    exchange.head.method != Method::Head && !matches!(exchange.status, 204 | 304)
}
