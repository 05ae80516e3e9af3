//! The endpoint's response on its way through the chain.

use std::task::Context;

use eddy_filter::{Direction, Phase};
use eddy_http::{ResponseBody, Version};

use crate::exchange::drive::Drive;
use crate::exchange::filter::request::{changes_bodies, has};
use crate::exchange::filter::way::{Progress, advance};
use crate::fault::Fault;

/// The phases in which a filter may be shown the response.
const PHASES: [Phase; 4] = [Phase::ResponseHead, Phase::ResponseBody, Phase::ResponseTrailers, Phase::Log];

/// Makes the response's head ready for filters, if one wants to see it; whether that is so.
pub(crate) fn begin_response(drive: &mut Drive<'_>) -> bool {
    if drive.exchange.filtering.chain.is_none() || !PHASES.iter().any(|phase| has(drive, *phase)) {
        return false;
    }
    let exchange = &mut *drive.exchange;
    let head = exchange.response_input.held().get(..exchange.response_bytes).unwrap_or_default();
    exchange.filtering.response_head.clear();
    exchange.filtering.response_head.extend_from_slice(head);
    exchange.response_input.consume(exchange.response_bytes);
    exchange.response_bytes = 0;
    exchange.answer.reader.begin_response(exchange.response.body_read());
    let has_body = !exchange.answer.reader.is_done();
    exchange.filtering.response.begin(has_body);
    if let Some(endpoint) = &exchange.endpoint {
        exchange.filtering.endpoint_text.show(endpoint);
    }
    true
}

/// Takes the response as far as it goes.
///
/// # Errors
/// What ends the exchange.
pub(crate) fn stage_response(drive: &mut Drive<'_>, cx: &Context<'_>) -> Result<Progress, Fault> {
    loop {
        let progress = advance(drive, cx, Direction::Response)?;
        let answer = &drive.exchange.answer;
        // A piece of which a filter left nothing is no reason to wait for more.
        if progress != Progress::Output || answer.has_output() || answer.is_ending() {
            return Ok(progress);
        }
    }
}

/// Whether filters are shown the body, or have it, once the head is written.
pub(crate) fn has_response_body(drive: &Drive<'_>) -> bool {
    drive.exchange.filtering.response.is_whole
        || has(drive, Phase::ResponseBody)
        || has(drive, Phase::ResponseTrailers)
}

/// How the response's body is framed towards the client.
pub(crate) fn framing(drive: &Drive<'_>, version: Version) -> ResponseBody {
    let exchange = &*drive.exchange;
    let body = exchange.response.body;
    let way = &exchange.filtering.response;
    if body == ResponseBody::None {
        return body;
    }
    if way.is_whole && way.trailers.fields.is_empty() {
        return ResponseBody::Length(way.collected.len() as u64);
    }
    let has_length = matches!(body, ResponseBody::Length(1..));
    let is_open = way.is_whole || way.is_length_open;
    if has_length && (is_open || changes_bodies(drive, Phase::ResponseBody)) {
        return ResponseBody::Chunked.towards(version);
    }
    exchange.response.body_towards(version)
}
