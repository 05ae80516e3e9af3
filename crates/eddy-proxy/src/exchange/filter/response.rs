//! The endpoint response's passage through the filter chain.

use eddy_filter::{Direction, IncomingBody, Phase, StepOrder};
use eddy_http::{ResponseBody, Version};

use crate::exchange::context::ExchangeCx;
use crate::exchange::filter::request::{changes_bodies, has};

/// Phases in which filters may see the response.
const PHASES: [Phase; 4] = [Phase::ResponseHead, Phase::ResponseBody, Phase::ResponseTrailers, Phase::Log];

/// Prepares the response head for filters; returns whether any filter wants to see the response.
pub(crate) fn begin_response(ctx: &mut ExchangeCx<'_>) -> bool {
    let Some(chain) = &ctx.route.chain else { return false };
    if !PHASES.iter().any(|phase| chain.chain.has(*phase)) {
        return false;
    }
    let travel = StepOrder::new(Direction::Response, &chain.chain);
    let exchange = &mut *ctx.exchange;
    let head = exchange.response_input.front(exchange.response_bytes);
    exchange.filtering.response_head.clear();
    exchange.filtering.response_head.extend_from_slice(head);
    exchange.response_input.consume(exchange.response_bytes);
    exchange.response_bytes = 0;
    exchange.answer.reader.begin_response(exchange.response.body_read());
    let body = if exchange.answer.reader.is_done() { IncomingBody::Absent } else { IncomingBody::Streamed };
    exchange.filtering.run.response.begin(travel, body);
    if let Some(endpoint) = &exchange.endpoint {
        exchange.filtering.endpoint_text.show(endpoint);
    }
    true
}

/// Whether filters still see the body, or have buffered it, once the head is written.
pub(crate) fn has_response_body(ctx: &ExchangeCx<'_>) -> bool {
    ctx.exchange.filtering.run.response.has_data()
        || has(ctx, Phase::ResponseBody)
        || has(ctx, Phase::ResponseTrailers)
}

/// Returns the framing of the response body towards the client.
pub(crate) fn framing(ctx: &ExchangeCx<'_>, version: Version) -> ResponseBody {
    let exchange = &*ctx.exchange;
    let body = exchange.response.body;
    let message = &exchange.filtering.run.response;
    if body == ResponseBody::None {
        return body;
    }
    let whole = message.whole();
    if let Some(whole) = whole.filter(|_| message.trailers().is_empty()) {
        return ResponseBody::Length(whole.len() as u64);
    }
    let has_length = matches!(body, ResponseBody::Length(1..));
    let is_open = whole.is_some() || message.is_length_open();
    if has_length && (is_open || changes_bodies(ctx, Phase::ResponseBody)) {
        return ResponseBody::Chunked.towards(version);
    }
    exchange.response.body_towards(version)
}
