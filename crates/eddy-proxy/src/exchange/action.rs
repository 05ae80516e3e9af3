//! Action of a rule: a cluster, a fixed response, or a redirect.

use std::rc::Rc;
use std::sync::Arc;

use eddy_config::{Action, ActionKind, Redirect};
use eddy_upstream::Rng;

use crate::exchange::context::ExchangeCx;
use crate::exchange::phase::ExchangePhase;
use crate::exchange::state::LocalBody;
use crate::fault::Fault;

/// Carries out an action.
pub(crate) fn follow(ctx: &mut ExchangeCx<'_>, action: &Action) -> ExchangePhase {
    if let Some(timeout) = action.timeout {
        ctx.set_due(timeout);
    }
    match &action.kind {
        ActionKind::Cluster(cluster) => {
            ctx.exchange.cluster = Some(*cluster);
            ExchangePhase::Endpoint
        }
        ActionKind::Weighted(clusters) => {
            let drawn = draw(clusters, |cluster| cluster.weight, &mut ctx.worker.rng.borrow_mut());
            ctx.exchange.cluster = drawn.map(|cluster| cluster.cluster);
            ExchangePhase::Endpoint
        }
        ActionKind::Split(shares) => {
            let drawn = draw(shares, |share| share.weight, &mut ctx.worker.rng.borrow_mut());
            let plan = Rc::clone(&ctx.plan);
            let action = plan.plan.action(drawn.map(|share| share.action));
            match action {
                Some(action) if !matches!(action.kind, ActionKind::Split(_)) => {
                    ctx.exchange.action = drawn.map(|share| share.action);
                    follow(ctx, action)
                }
                Some(_) | None => ctx.fail(Fault::NoEndpoint),
            }
        }
        ActionKind::Respond(respond) => {
            ctx.exchange.status = respond.status;
            ctx.exchange.local.body = LocalBody::Fixed {
                body: Arc::clone(&respond.body),
                content_type: Arc::clone(&respond.content_type),
            };
            ExchangePhase::Reply
        }
        ActionKind::Redirect(redirect) => {
            locate(ctx, redirect);
            ctx.exchange.status = redirect.status;
            ExchangePhase::Reply
        }
        // The NGINX location was determined together with the rule.
        ActionKind::Sites(_) => ctx.fail(Fault::NoRule),
    }
}

fn draw<'s, T>(shares: &'s [T], weight_of: impl Fn(&T) -> u32, rng: &mut Rng) -> Option<&'s T> {
    let total: u64 = shares.iter().map(|share| u64::from(weight_of(share))).sum();
    if total == 0 {
        return None;
    }
    let mut left = rng.below(total);
    for share in shares {
        let weight = u64::from(weight_of(share));
        if left < weight {
            return Some(share);
        }
        left -= weight;
    }
    None
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_drawn_by_weight() {
        let clusters = [(0, 3), (1, 0), (2, 1)];
        let mut rng = Rng::new(7);
        let mut counts = [0; 3];
        (0..4000).for_each(|_| counts[draw(&clusters, |cluster| cluster.1, &mut rng).unwrap().0] += 1);
        assert!((2800..=3200).contains(&counts[0]) && counts[1] == 0, "{counts:?}");
        assert_eq!(draw(&clusters[1..2], |cluster| cluster.1, &mut rng), None);
    }
}
