//! Decides whether a request may be worked on at all, before any work is done for it.

use eddy_http::{Method, RequestBody, RequestHead, TargetForm};
use eddy_io::TICK_MS;
use eddy_route::normalise::{Normal, PathFault};

use crate::exchange::grpc;
use crate::exchange::phase::ExchangePhase;
use crate::exchange::run::ExchangeCx;
use crate::exchange::state::Exchange;
use crate::fault::Fault;
use crate::plan::ListenerHandler;
use crate::worker::{Waited, millis};

/// Applies the limits of the listener and the gateway, and derives the path that everything later goes by.
pub(crate) fn apply(ctx: &mut ExchangeCx<'_>) -> ExchangePhase {
    grpc::note_request(ctx.exchange);
    match check(ctx) {
        Ok(()) if is_for_us(&ctx.exchange.head) || is_refused_by_site(ctx) => {
            let is_options = ctx.exchange.head.method == Method::Options;
            ctx.exchange.status = if is_options { 204 } else { 405 };
            ExchangePhase::Reply
        }
        Ok(()) => ExchangePhase::Route,
        Err(fault) => {
            ctx.exchange.fault = Some(fault);
            ExchangePhase::Reply
        }
    }
}

/// Whether the request asks this hop rather than what is behind it: `OPTIONS *`, or no hop left to take.
///
/// `TRACE` is not answered with what was sent: that would show a client's secrets to a script.
///
/// # Spec
/// RFC 9110 §7.6.2, §9.3.7
fn is_for_us(head: &RequestHead) -> bool {
    head.form == TargetForm::Asterisk || head.max_forwards == Some(0)
}

/// Whether the request is a `TRACE` that meets an `nginx.conf`: NGINX answers them all 405.
fn is_refused_by_site(ctx: &ExchangeCx<'_>) -> bool {
    ctx.exchange.head.method == Method::Trace && matches!(ctx.listener().handler, ListenerHandler::Sites(_))
}

fn check(ctx: &mut ExchangeCx<'_>) -> Result<(), Fault> {
    let is_site = matches!(ctx.listener().handler, ListenerHandler::Sites(_));
    let config = &ctx.listener().config;
    let normaliser = config.normaliser;
    let strips_port = config.strips_port;
    let timeout = config.timeouts.exchange;
    let body_bytes_max = config.limits.body_bytes_max;
    if let Some(timeout) = timeout {
        set_due(ctx, timeout);
    }
    let waited = std::mem::take(&mut ctx.down.waited);
    if waited == Waited::TooLong || !ctx.worker.admits(&ctx.plan) {
        ctx.worker.series.shed.increment();
        // The connection stays: opening another would cost more than the request.
        return Err(Fault::Overload);
    }
    grpc::set_deadline(ctx)?;
    let exchange = &mut *ctx.exchange;
    exchange.normaliser = normaliser;
    if strips_port && exchange.head.method != Method::Connect {
        // The port of `CONNECT` is where the tunnel leads to (RFC 9110 §9.3.6).
        exchange.head.authority = exchange.head.host;
        exchange.head.client_authority = exchange.head.host;
    }
    if let (RequestBody::Length(length), Some(max)) = (exchange.head.body, body_bytes_max)
        && length > max
    {
        return Err(Fault::BodyTooLarge);
    }
    if is_site {
        // Locations have a normaliser of their own, and refuse what it refuses.
        take_target(exchange);
        return Ok(());
    }
    derive_target(exchange).map_err(Fault::RequestPath)
}

/// Sets the time by which the exchange must be over; the earlier one counts.
pub(crate) fn set_due(ctx: &mut ExchangeCx<'_>, timeout: std::time::Duration) {
    let timeout_ms = millis(timeout);
    // The worker's clock may be a tick behind.
    let due_ms = ctx.worker.timers.now_ms().saturating_add(timeout_ms).saturating_add(TICK_MS);
    ctx.exchange.due_ms = ctx.exchange.due_ms.min(due_ms);
}

/// Fills in the path that is matched and the target that is sent, from what the head says.
///
/// Invariant: from here on, router, rewrites and the endpoint see the same path.
///
/// # Errors
/// Why the path is refused.
pub(crate) fn derive_target(exchange: &mut Exchange) -> Result<(), PathFault> {
    let sent = match exchange.head.path.of(&exchange.head_bytes) {
        b"" => b"/",
        path => path,
    };
    exchange.path.clear();
    if sent == b"*" {
        exchange.path.push(b'*');
    } else {
        let normal = exchange.normaliser.apply(sent, &mut exchange.path)?;
        if normal == Normal::AsIs {
            exchange.path.clear();
            exchange.path.extend_from_slice(sent);
        }
    }
    reset_target(exchange);
    Ok(())
}

/// Takes path and target as they were sent.
fn take_target(exchange: &mut Exchange) {
    exchange.path.clear();
    exchange.path.extend_from_slice(match exchange.head.path.of(&exchange.head_bytes) {
        b"" => b"/",
        path => path,
    });
    reset_target(exchange);
}

/// Makes the path that is matched, with the request's query, the target that is sent.
pub(crate) fn reset_target(exchange: &mut Exchange) {
    exchange.target.clear();
    exchange.target.extend_from_slice(&exchange.path);
    append_query(exchange);
}

/// Puts the request's query behind the target.
pub(crate) fn append_query(exchange: &mut Exchange) {
    if let Some(query) = exchange.head.query {
        exchange.target.push(b'?');
        exchange.target.extend_from_slice(query.of(&exchange.head_bytes));
    }
}
