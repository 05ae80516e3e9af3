//! Selection of the matching rule, and its action.

use std::rc::Rc;
use std::sync::Arc;

use eddy_config::{Action, ActionKind, Connect, Redirect};
use eddy_http::{HeadFault, Method};
use eddy_route::{PrecedenceStep, RouteRequest};
use eddy_upstream::Rng;

use crate::exchange::phase::ExchangePhase;
use crate::exchange::rules::{append_query, reset_target, set_due};
use crate::exchange::run::ExchangeCx;
use crate::exchange::state::LocalBody;
use crate::exchange::{demo, filter, site};
use crate::fault::Fault;
use crate::plan::ListenerHandler;

/// Matches the request to a rule, and prepares the filters of that rule.
pub(crate) fn choose(ctx: &mut ExchangeCx<'_>) -> ExchangePhase {
    if let Some(phase) = answer_challenge(ctx) {
        return phase;
    }
    let found = find(ctx);
    if refuses_connect(ctx) {
        return fail(ctx, Fault::RequestHead(HeadFault::ConnectRefused));
    }
    let begun = match found {
        // The listener's filters also see requests that match no rule, and those for the demo endpoint: a filter may
        // reply to or change them.
        Ok(()) | Err(Fault::NoRule) => filter::begin(ctx),
        Err(fault) => Err(fault),
    };
    match begun {
        Ok(()) => ExchangePhase::Filter,
        Err(fault) => fail(ctx, fault),
    }
}

/// Responds to an ACME HTTP-01 challenge before any rule or filter can interfere (RFC 8555 §8.3).
fn answer_challenge(ctx: &mut ExchangeCx<'_>) -> Option<ExchangePhase> {
    let challenges = ctx.plan.plan.challenges.as_ref()?;
    if !matches!(ctx.exchange.head.method, Method::Get | Method::Head) {
        return None;
    }
    let body = challenges.answer_to(&ctx.exchange.path)?;
    ctx.exchange.status = 200;
    ctx.exchange.local.body = LocalBody::Fixed { body, content_type: "application/octet-stream".into() };
    Some(ExchangePhase::Reply)
}

/// Whether the request is a `CONNECT` that its rule refuses; filters do not see such a request.
fn refuses_connect(ctx: &ExchangeCx<'_>) -> bool {
    if ctx.exchange.head.method != Method::Connect {
        return false;
    }
    let action = ctx.action();
    action.is_none_or(|action| action.upgrades.connect == Connect::Refuse)
}

/// Matches the request to a rule again after a filter has changed it.
///
/// # Errors
/// [`Fault::RewriteFailed`]. A request that no longer matches any rule is answered after the filters have finished.
pub(crate) fn again(ctx: &mut ExchangeCx<'_>) -> Result<(), Fault> {
    ctx.exchange.rule = None;
    ctx.exchange.step = "-";
    ctx.exchange.action = None;
    ctx.exchange.cluster = None;
    ctx.exchange.filtering.is_target_own = false;
    reset_target(ctx.exchange);
    match find(ctx) {
        Ok(()) | Err(Fault::NoRule) => filter::begin(ctx),
        Err(fault) => Err(fault),
    }
}

/// Carries out the action of the rule.
pub(crate) fn act(ctx: &mut ExchangeCx<'_>) -> ExchangePhase {
    // Clones the worker's own reference count: that of the plan itself is shared by all workers.
    let plan = Rc::clone(&ctx.plan);
    let plan = &plan.plan;
    if let Some(ListenerHandler::Demo) = plan.listeners.get(ctx.index).map(|listener| &listener.handler) {
        return demo::prepare(ctx);
    }
    let is_site = ctx.exchange.site.as_ref().is_some_and(|site| site.is_under_way);
    let action = plan.action(ctx.exchange.action);
    if action.is_none() && !is_site {
        return fail(ctx, Fault::NoRule);
    }
    let rules = ctx.plan.series.rules.get(ctx.index);
    if let Some(series) = rules.zip(ctx.exchange.rule).and_then(|(rules, rule)| rules.get(rule)) {
        series.requests.increment();
    }
    match action {
        _ if is_site => site::act(ctx, action),
        Some(action) => follow(ctx, action),
        None => fail(ctx, Fault::NoRule),
    }
}

pub(crate) fn fail(ctx: &mut ExchangeCx<'_>, fault: Fault) -> ExchangePhase {
    ctx.exchange.fault = Some(fault);
    ExchangePhase::Reply
}

fn find(ctx: &mut ExchangeCx<'_>) -> Result<(), Fault> {
    let plan = Rc::clone(&ctx.plan);
    let plan = &plan.plan;
    let Some(listener) = plan.listeners.get(ctx.index) else { return Err(Fault::NoRule) };
    if let Some(site) = &mut ctx.exchange.site {
        // Before a filter changed the request, it may have matched another rule.
        site.is_under_way = false;
    }
    let router = match &listener.handler {
        ListenerHandler::Router(router) => router,
        ListenerHandler::Sites(at) => return site::find(ctx, *at),
        ListenerHandler::Demo | ListenerHandler::Forward(_) => return Err(Fault::NoRule),
    };
    let exchange = &mut *ctx.exchange;
    let head = &exchange.head;
    let bytes = exchange.head_bytes.as_slice();
    let request = RouteRequest {
        host: head.host.of(bytes),
        authority: head.authority.of(bytes),
        path: &exchange.path,
        query: head.query.map(|query| query.of(bytes)).unwrap_or_default(),
        target: &exchange.target,
        scheme: ctx.down.client.scheme().as_bytes(),
        method: head.method_name(bytes),
        random: if router.has_fractions() { ctx.worker.rng.borrow_mut().bits() } else { 0 },
        fields: head.fields(bytes),
    };
    let mut scratch = ctx.worker.route.borrow_mut();
    let found = router.lookup(&request, &mut scratch);
    let every = u64::from(plan.config.route_check);
    if every > 0 && ctx.worker.rng.borrow_mut().below(every) == 0 {
        ctx.worker.series.route_checks.increment();
        if !router.agrees(found, &request, &mut scratch) {
            ctx.worker.series.route_mismatches.increment();
        }
    }
    let found = found.ok_or(Fault::NoRule)?;
    if plan.access.as_ref().is_some_and(|access| access.has_step) && listener.config.has_access_log {
        exchange.step = router.deciding_step(&request, &mut scratch).map_or("only", PrecedenceStep::name);
    }
    exchange.scratch.clear();
    let is_rewritten = found
        .rewrite(&exchange.path, &mut scratch, &mut exchange.scratch)
        .map_err(|_| Fault::RewriteFailed)?;
    drop(scratch);
    let rule = found.rule.index as usize;
    exchange.rule = Some(rule);
    exchange.action = Some(found.rule.action as usize);
    let action = plan.config.actions.get(found.rule.action as usize);
    if let Some(ActionKind::Sites(at)) = action.map(|action| &action.kind) {
        return site::find(ctx, *at);
    }
    if is_rewritten && !exchange.filtering.is_target_own {
        std::mem::swap(&mut exchange.target, &mut exchange.scratch);
        append_query(exchange);
    }
    if let Some(ActionKind::Cluster(cluster)) = action.map(|action| &action.kind) {
        // Filters see this cluster. A weighted cluster is drawn after the filters have finished.
        ctx.exchange.cluster = Some(*cluster);
    }
    Ok(())
}

pub(crate) fn follow(ctx: &mut ExchangeCx<'_>, action: &Action) -> ExchangePhase {
    if let Some(timeout) = action.timeout {
        set_due(ctx, timeout);
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
                Some(_) | None => fail(ctx, Fault::NoEndpoint),
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
        ActionKind::Sites(_) => fail(ctx, Fault::NoRule),
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
