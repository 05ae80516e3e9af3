//! The rule that a request matches.

use std::rc::Rc;

use eddy_route::{PrecedenceStep, RouteRequest};

use crate::exchange::context::ExchangeCx;
use crate::exchange::target::{append_query, reset_target};
use crate::exchange::{filter, site};
use crate::fault::Fault;
use crate::plan::ListenerHandler;
use crate::resolved::Destination;

/// Matches the request to a rule again after a filter has changed it.
///
/// # Errors
/// [`Fault::RewriteFailed`]. A request that no longer matches any rule is answered after the filters have finished.
pub(crate) fn again(ctx: &mut ExchangeCx<'_>) -> Result<(), Fault> {
    ctx.route.forget();
    ctx.exchange.step = None;
    ctx.exchange.filtering.is_target_own = false;
    reset_target(ctx.exchange);
    match find(ctx) {
        Ok(()) | Err(Fault::NoRule) => filter::begin(ctx),
        Err(fault) => Err(fault),
    }
}

/// Matches the request to a rule.
///
/// # Errors
/// [`Fault::NoRule`], or [`Fault::RewriteFailed`] when the rule's rewrite fails.
pub(crate) fn find(ctx: &mut ExchangeCx<'_>) -> Result<(), Fault> {
    let listener = Rc::clone(&ctx.listener);
    let plan = &ctx.plan.plan;
    // Before a filter changed the request, it may have matched another rule.
    ctx.exchange.end_walk();
    let router = match &listener.handler {
        ListenerHandler::Router(router) => router,
        ListenerHandler::Sites(_) => {
            let entry = listener.sites.clone();
            return site::find(ctx, entry.expect("a listener for NGINX servers has them"));
        }
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
    let every = u64::from(plan.config.settings.route_check);
    if every > 0 && ctx.worker.rng.borrow_mut().below(every) == 0 {
        ctx.worker.series.route_checks.increment();
        if !router.agrees(found, &request, &mut scratch) {
            ctx.worker.series.route_mismatches.increment();
        }
    }
    let found = found.ok_or(Fault::NoRule)?;
    if plan.access.as_ref().is_some_and(|access| access.config.has_step) && listener.config.has_access_log {
        let step = router.deciding_step(&request, &mut scratch);
        exchange.step = Some(step.map_or("only", PrecedenceStep::name));
    }
    exchange.scratch.clear();
    let is_rewritten = found
        .rewrite(&exchange.path, &mut scratch, &mut exchange.scratch)
        .map_err(|_| Fault::RewriteFailed)?;
    drop(scratch);
    let rule = listener.rule(found.rule.index);
    ctx.route.rule = Some(Rc::clone(rule));
    ctx.route.action.clone_from(&rule.action);
    if let Some(entry) = &rule.sites {
        return site::find(ctx, entry.clone());
    }
    if is_rewritten && !exchange.filtering.is_target_own {
        std::mem::swap(&mut exchange.target, &mut exchange.scratch);
        append_query(exchange);
    }
    if let Some(Destination::Cluster(cluster)) = rule.action.as_ref().map(|action| &action.to) {
        // Filters see this cluster. A weighted cluster is drawn after the filters have finished.
        ctx.route.cluster = Some(Rc::clone(cluster));
    }
    Ok(())
}
