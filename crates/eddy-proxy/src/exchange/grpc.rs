//! gRPC calls: the `grpc-timeout` deadline, mapping local replies to `grpc-status`, reading the final status, and
//! retries.

use eddy_http::{ErrorCode, FieldId, GrpcEnd, GrpcKind, GrpcStatus, RequestHead, parse_grpc_timeout};
use eddy_ids::{Millis, TICK};
use eddy_io::monotonic_time;

use crate::downstream::Wire;
use crate::exchange::attempt::{AttemptFailure, is_failure_status};
use crate::exchange::context::ExchangeCx;
use crate::exchange::state::{Exchange, HeadSource, LocalBody};
use crate::fault::Fault;
use crate::message::BodyCopy;
use crate::plan::ListenerHandler;

/// Records whether the request, as its client sent it, is a gRPC call.
pub(crate) fn note_request(exchange: &mut Exchange) {
    let content_type = exchange.head.fields(&exchange.head_bytes).first(FieldId::ContentType);
    exchange.grpc.kind = content_type.and_then(GrpcKind::of);
}

/// Applies the `grpc-timeout` deadline of a call to the exchange; the header is forwarded unchanged.
///
/// # Errors
/// [`Fault::GrpcTimeout`] when the header cannot be parsed.
pub(crate) fn set_deadline(ctx: &mut ExchangeCx<'_>) -> Result<(), Fault> {
    let exchange = &*ctx.exchange;
    if !exchange.grpc.is_call() {
        return Ok(());
    }
    let fields = exchange.head.fields(&exchange.head_bytes);
    let Some(value) = fields.first(FieldId::GrpcTimeout) else { return Ok(()) };
    // With two values it is undefined which one applies.
    if fields.all(FieldId::GrpcTimeout).nth(1).is_some() {
        return Err(Fault::GrpcTimeout);
    }
    let timeout = parse_grpc_timeout(value).map_err(|_| Fault::GrpcTimeout)?;
    ctx.set_due(timeout);
    ctx.exchange.grpc.has_deadline = true;
    Ok(())
}

/// Returns the fault of an attempt that failed with `fault`: that of the call's deadline, if the endpoint ended the
/// stream because the deadline has passed.
///
/// The endpoint knows the deadline from `grpc-timeout` and resets the stream on time, while the worker's timers fire up
/// to two ticks later. It is not to blame, and the client is to learn the reason.
pub(crate) fn fault_at_deadline(exchange: &Exchange, fault: Fault) -> Fault {
    let is_ended = matches!(fault, Fault::StreamReset | Fault::ResponseCut);
    // The timer is set to a tick after the deadline. The worker's own clock may be older than the reset.
    let has_passed = || monotonic_time() + CLOCK_STEP + TICK >= exchange.due.at;
    if is_ended && exchange.grpc.has_deadline && has_passed() { Fault::ExchangeTimeout } else { fault }
}

/// Resets the stream of a call whose response was cut at the deadline with CANCEL: the client learns that the call is
/// over, even where the reset arrives before its own timer has fired, and not that the gateway is broken.
///
/// # Spec
/// [gRPC over HTTP/2](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md), Errors
pub(crate) fn cancel_at_deadline(ctx: &ExchangeCx<'_>) {
    let is_late = ctx.exchange.grpc.has_deadline && ctx.exchange.fault == Some(Fault::ExchangeTimeout);
    if let (true, Wire::Http2(stream)) = (is_late, &ctx.down.wire) {
        stream.end_with(ErrorCode::Cancel);
    }
}

/// Judgement of an endpoint by its response head.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judged {
    /// Whether the response counts as a failure of the endpoint.
    pub(crate) is_failure: bool,
    /// Failure with which the rule might try another endpoint.
    pub(crate) failure: AttemptFailure,
}

/// Judges an endpoint by its response head, and records the gRPC status if the head contains it.
pub(crate) fn judge(ctx: &mut ExchangeCx<'_>) -> Judged {
    let exchange = &mut *ctx.exchange;
    if exchange.grpc.is_call() {
        let bytes = HeadSource::Endpoint.bytes(exchange);
        exchange.grpc.head_end = GrpcEnd::of(exchange.response.fields(bytes));
    }
    let (end, status) = (exchange.grpc.head_end, exchange.response.status);
    match end {
        GrpcEnd::Status(end) => {
            Judged { is_failure: end == GrpcStatus::Unavailable, failure: AttemptFailure::Grpc(end) }
        }
        GrpcEnd::NoStatus | GrpcEnd::Other => {
            Judged { is_failure: is_failure_status(ctx, status), failure: AttemptFailure::Status(status) }
        }
    }
}

/// Frees the kept copy of a request that will not be sent again.
pub(crate) fn drop_kept_request(exchange: &mut Exchange) {
    if !exchange.mirroring.is_pending() {
        exchange.upload.copy = None;
    }
}

/// Returns the outcome of the call, or `None` when the request is not one, or is gRPC-Web that is passed through
/// unchanged.
pub(crate) fn end(exchange: &Exchange) -> Option<GrpcEnd> {
    if !has_grpc_client(exchange) {
        return None;
    }
    let is_in_response = exchange.grpc.head_end != GrpcEnd::NoStatus;
    // Before the endpoint's response has begun, the reader still holds the trailers of an earlier message.
    if is_in_response || exchange.is_local || !exchange.is_answered {
        return Some(exchange.grpc.head_end);
    }
    Some(GrpcEnd::of(exchange.answer.reader.trailers()))
}

/// Turns a local reply into the end of a gRPC call when the client speaks gRPC.
///
/// Replies that are gRPC responses already stay unchanged, and so do those of NGINX locations and of the demo endpoint,
/// which define their own content.
///
/// # Spec
/// [gRPC over HTTP/2](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md), Trailers-Only
pub(crate) fn settle(ctx: &mut ExchangeCx<'_>) {
    let filter_code = ctx.exchange.local.grpc_code.take();
    if !needs_grpc_status(ctx) {
        return;
    }
    let exchange = &mut *ctx.exchange;
    let code = filter_code.unwrap_or_else(|| {
        let status = exchange.fault.map(Fault::grpc_status);
        status.unwrap_or_else(|| GrpcStatus::of_http(exchange.status)).code()
    });
    let message = match &exchange.local.body {
        LocalBody::Status => Some(eddy_http::status_reason(exchange.status).as_bytes()),
        LocalBody::Respond => ctx.route.respond().map(|respond| first(&respond.body)),
        LocalBody::Challenge(body) => Some(first(body)),
        LocalBody::Scratch
        | LocalBody::SiteText
        | LocalBody::Echo
        | LocalBody::Drip(_)
        | LocalBody::GrpcEnd(_) => None,
    };
    if let Some(message) = message {
        exchange.scratch.clear();
        exchange.scratch.extend_from_slice(message);
    }
    exchange.scratch.truncate(exchange.scratch.trim_ascii_end().len());
    exchange.grpc.head_end = GrpcEnd::of_code(code);
    exchange.local.body = LocalBody::GrpcEnd(code);
    exchange.status = 200;
}

/// Returns the message format of the request's content type, as filters have left it: `+proto`, `+json` or nothing.
pub(crate) fn format<'b>(head: &'b RequestHead, bytes: &'b [u8]) -> &'b [u8] {
    head.fields(bytes).first(FieldId::ContentType).map_or(&[], GrpcKind::format)
}

/// Whether the local reply has to be mapped to a gRPC status.
fn needs_grpc_status(ctx: &ExchangeCx<'_>) -> bool {
    let exchange = &*ctx.exchange;
    if exchange.site.is_some() || !has_grpc_client(exchange) {
        return false;
    }
    let is_grpc = |content_type: &[u8]| GrpcKind::of(content_type).is_some();
    let is_filters_own = exchange.filtering.reply.fields.iter().any(|(name, value)| {
        let name = FieldId::from_name(name);
        name == FieldId::GrpcStatus || name == FieldId::ContentType && is_grpc(value)
    });
    let is_rules_own =
        ctx.route.action().is_some_and(|action| action.response_edits.decides(FieldId::GrpcStatus.name()));
    let is_own = match &exchange.local.body {
        LocalBody::Echo | LocalBody::Drip(_) => true,
        LocalBody::Respond => {
            let content_type = ctx.route.respond().map(|respond| respond.content_type.as_bytes());
            is_rules_own || content_type.is_some_and(is_grpc)
        }
        // Replies of NGINX places were returned above.
        LocalBody::SiteText | LocalBody::Challenge(_) => is_rules_own,
        LocalBody::Scratch => is_filters_own || matches!(ctx.listener.handler, ListenerHandler::Demo),
        LocalBody::Status | LocalBody::GrpcEnd(_) => false,
    };
    !is_own
}

/// Whether the recipient of the response speaks gRPC: the client, or a filter that translates to gRPC-Web.
fn has_grpc_client(exchange: &Exchange) -> bool {
    match exchange.grpc.kind {
        None => false,
        Some(GrpcKind::Plain) => true,
        Some(GrpcKind::Web | GrpcKind::WebText) => {
            let content_type = exchange.head.fields(&exchange.head_bytes).first(FieldId::ContentType);
            content_type.and_then(GrpcKind::of) == Some(GrpcKind::Plain)
        }
    }
}

/// Keeps a copy of a call's request body as it is sent, if the rule may retry on a gRPC status.
pub(crate) fn keep_request(ctx: &mut ExchangeCx<'_>) {
    let exchange = &mut *ctx.exchange;
    let retry = ctx.route.action().map(|action| &action.retry);
    let may_retry = retry
        .is_some_and(|retry| !retry.grpc_statuses.is_empty() && exchange.attempts_here() <= retry.attempts);
    if exchange.grpc.is_call() && may_retry && !exchange.mirroring.is_pending() {
        exchange.upload.copy = Some(BodyCopy::for_others());
    }
}

/// Returns the part of a reply that is used as the `grpc-message` text.
fn first(body: &[u8]) -> &[u8] {
    body.get(..TEXT_BYTES_MAX).unwrap_or(body)
}

/// Time by which the kernel's coarse clock may be late.
const CLOCK_STEP: Millis = Millis::new(10);

/// Maximum number of reply bytes that are used as the `grpc-message` text.
const TEXT_BYTES_MAX: usize = 4096;
