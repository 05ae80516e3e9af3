//! Response head: read from the endpoint, written for the client.

use std::rc::Rc;

use eddy_http::{
    HeadLimits, RequestId, ResponseBody, ResponseWrite, Switched, Version, write_interim_head,
    write_response_head,
};
use eddy_upstream::client::RequestChannel;

use crate::exchange::attempt::Attempt;
use crate::exchange::context::ExchangeCx;
use crate::exchange::state::{Exchange, HeadSource};
use crate::exchange::{filter, site, upgrade};
use crate::fault::Fault;
use crate::message::OutputFraming;

/// Result of reading a response head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseHeadProgress {
    /// More bytes are needed.
    Incomplete,
    /// An interim response, written for the client; another follows.
    Interim,
    /// The final response, parsed but not yet written.
    Final,
}

/// Reads one head from the bytes that the endpoint sent.
pub(crate) fn read(ctx: &mut ExchangeCx<'_>, attempt: &mut Attempt) -> Result<ResponseHeadProgress, Fault> {
    let limits = HeadLimits::default();
    let exchange = &mut *ctx.exchange;
    let asked = exchange.upgrade.asked(exchange.head.method);
    let held = exchange.response_input.held();
    let parsed = exchange.response.parse_growing(&mut attempt.scanner, held, &limits, asked);
    let Some(length) = parsed.map_err(Fault::ResponseHead)? else {
        if exchange.response_input.room().is_empty() {
            let capacity = exchange.response_input.capacity();
            exchange.response_input.grow(capacity * 2);
        }
        return Ok(ResponseHeadProgress::Incomplete);
    };
    attempt.scanner.reset();
    if let Some(has_body) = attempt.upstream.http2_body() {
        exchange.response.note_http2(has_body);
    }
    if !exchange.response.is_interim() {
        exchange.response_bytes = length;
        upgrade::hear(exchange)?;
        return Ok(ResponseHeadProgress::Final);
    }
    let is_consent = exchange.response.status == CONTINUE && exchange.head.expects_continue;
    let is_repeated = is_consent && std::mem::replace(&mut exchange.is_continued, true);
    // HTTP/1.0 clients do not know interim responses (RFC 9110 §15.2). A client that expects `100 Continue` gets one,
    // from the endpoint or from eddy, whichever is first.
    if exchange.head.version != Version::Http10 && !is_repeated {
        let bytes = exchange.response_input.front(length);
        write_interim_head(&mut exchange.answer.out, bytes, &exchange.response);
        exchange.answer.end_head();
    }
    exchange.response_input.consume(length);
    Ok(ResponseHeadProgress::Interim)
}

/// Writes the final head for the client and begins the body.
///
/// `is_uploaded`: whether the endpoint has taken the whole request. If not, the rest of the request cannot be
/// distinguished from a next request, so the connection ends with the response.
pub(crate) fn write(ctx: &mut ExchangeCx<'_>, source: HeadSource, is_uploaded: bool) -> Result<(), Fault> {
    let listener = Rc::clone(&ctx.listener);
    let config = &listener.config;
    let keep_alive = may_keep_alive(ctx) && is_uploaded;
    let date = ctx.worker.date();
    let own_edits = site::before_answer(ctx, source);

    // A status that replaces the upstream's response may be a success.
    upgrade::settle(ctx.exchange)?;
    let version = ctx.exchange.head.version;
    let body = match source {
        HeadSource::Filters => filter::response_framing(ctx, version),
        HeadSource::Endpoint => ctx.exchange.response.body_towards(version),
    };
    let route_edits = ctx.route.response_edits();
    let exchange = &mut *ctx.exchange;
    exchange.keeps_alive = keep_alive && body != ResponseBody::UntilClose;
    let switched = exchange.upgrade.switched();
    let is_framed = version == Version::Http2;
    exchange.status = match switched {
        Some(Switched::To(_)) if is_framed => 200,
        _ => exchange.response.status,
    };
    let head_from = exchange.answer.out.len();
    let bytes = match source {
        HeadSource::Filters => &exchange.filtering.response_head,
        HeadSource::Endpoint => exchange.response_input.front(exchange.response_bytes),
    };
    let response = ResponseWrite {
        bytes,
        head: &exchange.response,
        edits: own_edits.as_ref().unwrap_or(route_edits),
        body,
        client_version: version,
        keep_alive: exchange.keeps_alive,
        via: config.via.as_deref(),
        date: &date,
        request_id: config.request_id.as_deref().map(|name| RequestId {
            name,
            value: &exchange.request_id,
            replace: true,
        }),
        switched,
    };
    write_response_head(&mut exchange.answer.out, &response);
    let written = exchange.answer.out.get(head_from..).expect("the head was appended");
    let asked = exchange.upgrade.response_context(exchange.head.method, version);
    let checked = ctx.worker.egress.borrow_mut().check_response(written, exchange.status, body, asked);
    if let Err(fault) = checked {
        ctx.worker.series.egress_stopped.increment();
        tracing::error!(?fault, "egress check failed; the response was not sent");
        exchange.answer.out.truncate(head_from);
        return Err(Fault::Egress);
    }
    exchange.answer.end_head();
    match body {
        // The bytes that follow are not a body and have an end of their own.
        _ if exchange.upgrade.is_done() => exchange.answer.set_framing(OutputFraming::Plain, None),
        ResponseBody::Length(length) if version == Version::Http2 => {
            exchange.answer.set_framing(OutputFraming::Frames, Some(length));
        }
        _ if version == Version::Http2 => exchange.answer.set_framing(OutputFraming::Frames, None),
        ResponseBody::Chunked => exchange.answer.set_framing(OutputFraming::Chunked, None),
        ResponseBody::Length(length) => exchange.answer.set_framing(OutputFraming::Plain, Some(length)),
        ResponseBody::None | ResponseBody::UntilClose => {
            exchange.answer.set_framing(OutputFraming::Plain, None)
        }
    }
    let Exchange { filtering, answer, .. } = exchange;
    if source == HeadSource::Endpoint {
        exchange.response_input.consume(exchange.response_bytes);
        answer.reader.begin_response(exchange.response.body_read());
        return Ok(());
    }
    filtering.run.response.seal();
    filter::stage_buffered_body(&filtering.run.response, answer);
    Ok(())
}

/// Whether the client's connection may be reused, as far as request and gateway are concerned.
pub(crate) fn may_keep_alive(ctx: &ExchangeCx<'_>) -> bool {
    let requests_max = ctx.listener.config.limits.requests_per_connection_max;
    ctx.exchange.head.keep_alive
        && !ctx.worker.is_draining.get()
        && (requests_max == 0 || ctx.down.requests < requests_max)
}

/// Interim status that asks the client for the request body.
const CONTINUE: u16 = 100;
