//! Checks that decide whether a request is processed at all, before any work is done for it.

use eddy_http::{Method, RequestBody, RequestHead, TargetForm};

use crate::exchange::context::ExchangeCx;
use crate::exchange::grpc;
use crate::exchange::phase::ExchangePhase;
use crate::exchange::target::{derive_target, take_target};
use crate::fault::Fault;
use crate::plan::ListenerHandler;
use crate::runtime::Waited;

/// Applies the limits of the listener and the gateway, and derives the path that all later phases use.
pub(crate) fn apply(ctx: &mut ExchangeCx<'_>) -> ExchangePhase {
    grpc::note_request(ctx.exchange);
    match check(ctx) {
        Ok(()) if is_for_this_hop(&ctx.exchange.head) || is_refused_by_site(ctx) => {
            let is_options = ctx.exchange.head.method == Method::Options;
            ctx.exchange.status = if is_options { 204 } else { 405 };
            ExchangePhase::Reply
        }
        Ok(()) => ExchangePhase::Route,
        Err(fault) => ctx.fail(fault),
    }
}

/// Whether the request addresses this hop rather than the endpoint: `OPTIONS *`, or `Max-Forwards: 0`.
///
/// `TRACE` is not answered by echoing the request: that would expose a client's credentials to a script.
///
/// # Spec
/// RFC 9110 §7.6.2, §9.3.7
fn is_for_this_hop(head: &RequestHead) -> bool {
    head.form == TargetForm::Asterisk || head.max_forwards == Some(0)
}

/// Whether the request is a `TRACE` to a listener served by an `nginx.conf`: NGINX answers all of them 405.
fn is_refused_by_site(ctx: &ExchangeCx<'_>) -> bool {
    ctx.exchange.head.method == Method::Trace && matches!(ctx.listener.handler, ListenerHandler::Sites(_))
}

fn check(ctx: &mut ExchangeCx<'_>) -> Result<(), Fault> {
    let is_site = matches!(ctx.listener.handler, ListenerHandler::Sites(_));
    let config = &ctx.listener.config;
    let normaliser = config.normaliser;
    let strips_port = config.strips_port;
    let timeout = config.timeouts.exchange;
    let body_bytes_max = config.limits.body_bytes_max;
    if let Some(timeout) = timeout {
        ctx.set_due(timeout);
    }
    let waited = std::mem::take(&mut ctx.down.waited);
    if waited == Waited::TooLong || !ctx.worker.admits(&ctx.plan) {
        ctx.worker.series.shed.increment();
        // The connection stays open: opening another would cost more than the request.
        return Err(Fault::Overload);
    }
    grpc::set_deadline(ctx)?;
    let exchange = &mut *ctx.exchange;
    exchange.normaliser = normaliser;
    if strips_port && exchange.head.method != Method::Connect {
        // The port of `CONNECT` is the destination of the tunnel (RFC 9110 §9.3.6).
        exchange.head.authority = exchange.head.host;
        exchange.head.client_authority = exchange.head.host;
    }
    if let (RequestBody::Length(length), Some(max)) = (exchange.head.body, body_bytes_max)
        && length > max
    {
        return Err(Fault::BodyTooLarge);
    }
    if is_site {
        // NGINX locations have their own normaliser, which rejects invalid paths.
        take_target(exchange);
        return Ok(());
    }
    derive_target(exchange).map_err(Fault::RequestPath)
}
