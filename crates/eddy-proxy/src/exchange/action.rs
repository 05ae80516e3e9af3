//! Action of a rule: a cluster, a fixed response, or a redirect.

use std::rc::Rc;

use eddy_config::Redirect;

use crate::exchange::context::ExchangeCx;
use crate::exchange::phase::ExchangePhase;
use crate::exchange::state::LocalBody;
use crate::fault::Fault;
use crate::resolved::{ActionPlan, Destination, draw};

/// Carries out an action.
pub(crate) fn follow(ctx: &mut ExchangeCx<'_>, action: &ActionPlan) -> ExchangePhase {
    if let Some(timeout) = action.config.timeout {
        ctx.set_due(timeout);
    }
    match &action.to {
        Destination::Cluster(cluster) => {
            ctx.route.cluster = Some(Rc::clone(cluster));
            ExchangePhase::Endpoint
        }
        Destination::Weighted(clusters) => {
            ctx.route.cluster = draw(clusters, &mut ctx.worker.rng.borrow_mut()).cloned();
            ExchangePhase::Endpoint
        }
        Destination::Split(shares) => {
            let drawn = draw(shares, &mut ctx.worker.rng.borrow_mut());
            let Some(share) = drawn else { return ctx.fail(Fault::NoEndpoint) };
            ctx.route.action = Some(Rc::clone(share));
            follow(ctx, share)
        }
        Destination::Respond(respond) => {
            ctx.exchange.status = respond.status;
            ctx.exchange.local.body = LocalBody::Respond;
            ExchangePhase::Reply
        }
        Destination::Redirect(redirect) => {
            locate(ctx, redirect);
            ctx.exchange.status = redirect.status;
            ExchangePhase::Reply
        }
        // The NGINX location was determined together with the rule.
        Destination::Sites => ctx.fail(Fault::NoRule),
    }
}

/// Writes the `Location` of a redirect (RFC 9110 §10.2.2).
///
/// A relative reference, unless the redirect is absolute or gives a scheme, host or port; the missing parts are then
/// those of the request.
fn locate(ctx: &mut ExchangeCx<'_>, redirect: &Redirect) {
    let exchange = &mut *ctx.exchange;
    let location = &mut exchange.local.location;
    location.clear();
    if redirect.is_absolute || redirect.scheme.is_some() || redirect.host.is_some() || redirect.port.is_some()
    {
        let own = ctx.down.client.scheme();
        let scheme = redirect.scheme.as_deref().unwrap_or(own);
        location.extend_from_slice(scheme.as_bytes());
        location.extend_from_slice(b"://");
        let authority = exchange.head.authority.of(&exchange.head_bytes);
        let bare = exchange.head.host.of(&exchange.head_bytes);
        let port_of_own: &[u8] = if own == "https" { b":443" } else { b":80" };
        let is_port_of_scheme = scheme != own && authority.ends_with(port_of_own);
        location.extend_from_slice(match &redirect.host {
            Some(host) => host.as_bytes(),
            None if redirect.is_absolute && redirect.port.is_none() && !is_port_of_scheme => authority,
            // The client's port belongs to the scheme that it used.
            None => bare,
        });
        if let Some(port) = redirect.port {
            location.extend_from_slice(format!(":{port}").as_bytes());
        }
    } else if exchange.target.starts_with(b"//") {
        // Two slashes would begin a host; a dot segment in front keeps the reference a path (RFC 3986 §4.2).
        location.extend_from_slice(b"/.");
    }
    let target = exchange.target.as_slice();
    let (path, query) = target.split_at(query_start(target));
    match redirect.path.as_deref() {
        // A query in the configured path replaces the request's query.
        Some(own) if own.contains('?') => return location.extend_from_slice(own.as_bytes()),
        Some(own) => location.extend_from_slice(own.as_bytes()),
        None => location.extend_from_slice(path),
    }
    if !redirect.strip_query {
        location.extend_from_slice(query);
    }
}

/// Returns the index of the query of a target, `?` included.
fn query_start(target: &[u8]) -> usize {
    target.iter().position(|byte| *byte == b'?').unwrap_or(target.len())
}
