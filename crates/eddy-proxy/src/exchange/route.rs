//! Selection of the matching rule, and its action.

use eddy_config::Connect;
use eddy_http::{HeadFault, Method};

use crate::exchange::action::follow;
use crate::exchange::context::ExchangeCx;
use crate::exchange::matching::find;
use crate::exchange::phase::ExchangePhase;
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
        return ctx.fail(Fault::RequestHead(HeadFault::ConnectRefused));
    }
    let begun = match found {
        // The listener's filters also see requests that match no rule, and those for the demo endpoint: a filter may
        // reply to or change them.
        Ok(()) | Err(Fault::NoRule) => filter::begin(ctx),
        Err(fault) => Err(fault),
    };
    match begun {
        Ok(()) => ExchangePhase::Filter,
        Err(fault) => ctx.fail(fault),
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
    ctx.exchange.local.body = LocalBody::Challenge(body);
    Some(ExchangePhase::Reply)
}

/// Whether the request is a `CONNECT` that its rule refuses; filters do not see such a request.
fn refuses_connect(ctx: &ExchangeCx<'_>) -> bool {
    if ctx.exchange.head.method != Method::Connect {
        return false;
    }
    let action = ctx.route.action();
    action.is_none_or(|action| action.upgrades.connect == Connect::Refuse)
}

/// Carries out the action of the rule.
pub(crate) fn act(ctx: &mut ExchangeCx<'_>) -> ExchangePhase {
    if let ListenerHandler::Demo = ctx.listener.handler {
        return demo::prepare(ctx);
    }
    let is_site = ctx.exchange.site.is_some();
    let action = ctx.route.action.clone();
    if action.is_none() && !is_site {
        return ctx.fail(Fault::NoRule);
    }
    if let Some(rule) = &ctx.route.rule {
        rule.series.requests.increment();
    }
    match action {
        _ if is_site => site::act(ctx),
        Some(action) => follow(ctx, &action),
        None => ctx.fail(Fault::NoRule),
    }
}
