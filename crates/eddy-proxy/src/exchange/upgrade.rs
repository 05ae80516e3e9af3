//! Upgrades and CONNECT tunnels: what the client asks for, what the rule allows, and the endpoint's response.
//!
//! Only HTTP passes in either direction before the endpoint has agreed: bytes that the client sends behind its request
//! stay buffered, and are its next request if the endpoint refuses.

use eddy_config::{Action, Connect, WEBSOCKET};
use eddy_filter::HttpFilterChain;
use eddy_http::{
    HeadFault, Method, RequestBody, ResponseBody, is_websocket_key, websocket_accept, websocket_key,
};
use eddy_io::BufferPool;
use eddy_upstream::Rng;

use crate::exchange::context::ExchangeCx;
use crate::exchange::state::{Exchange, UpgradeStage};
use crate::fault::Fault;
use crate::upstream::UpstreamChannel;

/// Decides whether the endpoint is asked for a tunnel. Links shared by several requests carry only WebSockets, see
/// [`check`].
///
/// # Errors
/// [`HeadFault::ConnectRefused`] when the client requires a tunnel and the rule does not allow it.
pub(crate) fn decide(ctx: &mut ExchangeCx<'_>, is_shared: bool) -> Result<(), Fault> {
    let Exchange { upgrade, head, head_bytes, .. } = &mut *ctx.exchange;
    upgrade.clear();
    if !head.has_upgrade && !head.wants_tunnel() {
        return Ok(());
    }
    let action = ctx.route.action();
    // Its configuration is refused where tunnels are allowed expressly.
    let is_filtered = ctx.route.chain.as_ref().is_some_and(|chain| expects_tunnels(&chain.chain));
    if head.method == Method::Connect {
        upgrade.stage = match action.map_or(Connect::Refuse, |action| action.upgrades.connect) {
            _ if is_shared || is_filtered => return Err(Fault::RequestHead(HeadFault::ConnectRefused)),
            Connect::Refuse => return Err(Fault::RequestHead(HeadFault::ConnectRefused)),
            Connect::Pass => UpgradeStage::Connect,
            Connect::Open => UpgradeStage::Open,
        };
        return Ok(());
    }
    let mut keys = head.fields(head_bytes).all_named(KEY);
    let key = keys.next().filter(|key| is_websocket_key(key) && keys.next().is_none());
    let is_takeable = |protocol: &&[u8]| {
        let is_websocket = protocol.eq_ignore_ascii_case(WEBSOCKET.as_bytes());
        let is_proper = !is_websocket || (key.is_some() && head.method == Method::Get);
        is_proper
            && (is_websocket || !is_shared)
            && !is_filtered
            && action.is_some_and(|action: &Action| action.upgrades.allow(protocol))
    };
    match head.upgrades(head_bytes).find(is_takeable) {
        Some(protocol) => {
            upgrade.stage = UpgradeStage::Switch;
            upgrade.protocol.extend_from_slice(protocol);
            if protocol.eq_ignore_ascii_case(WEBSOCKET.as_bytes()) {
                upgrade.accept = key.map(websocket_accept);
            }
            Ok(())
        }
        None if head.wants_tunnel() => Err(Fault::RequestHead(HeadFault::ConnectRefused)),
        None => Ok(()),
    }
}

/// Whether a filter of the chain is meant to see the data of tunnels, which no filter does.
fn expects_tunnels(chain: &HttpFilterChain) -> bool {
    chain.steps().iter().any(|step| !step.is_disabled && step.filter.info.expects_tunnels)
}

/// Adds the `Sec-WebSocket-Key` of HTTP/1.1 to an extended `CONNECT`; a key that the client has sent is replaced.
pub(crate) fn add_key(exchange: &mut Exchange, rng: &mut Rng) {
    let random = u128::from(rng.bits()) << 64 | u128::from(rng.bits());
    let key = websocket_key(random.to_be_bytes());
    if exchange.head.edit(&mut exchange.head_bytes).set(KEY, &key).is_err() {
        // A head without room for another header goes on without the key, and is refused for that.
        tracing::debug!("the request head has no room for `sec-websocket-key`");
    }
}

/// Abandons an upgrade that is not possible: a filter has given the request a body, which would have to be sent first,
/// or the link does not support it.
///
/// # Errors
/// [`HeadFault::ConnectRefused`] when the client requires a tunnel.
pub(crate) fn check(
    exchange: &mut Exchange,
    body: RequestBody,
    upstream: &UpstreamChannel,
) -> Result<(), Fault> {
    let is_possible = body.is_empty() && upstream.supports_tunnels();
    if exchange.upgrade.is_asked() && !is_possible {
        exchange.upgrade.clear();
        if exchange.head.wants_tunnel() {
            return Err(Fault::RequestHead(HeadFault::ConnectRefused));
        }
    }
    Ok(())
}

/// Provides the response of an endpoint that is itself the destination of the tunnel.
pub(crate) fn open(exchange: &mut Exchange, buffers: &BufferPool) {
    buffers.release(&mut exchange.response_input);
    exchange.response_input = buffers.take_small();
    exchange.response_input.append(b"HTTP/1.1 200 OK\r\n\r\n");
}

/// Records from the endpoint's final response whether it has agreed to the requested upgrade.
///
/// # Errors
/// When it has agreed to something else, or when the client requires a tunnel and would mistake the response for one.
pub(crate) fn hear(exchange: &mut Exchange) -> Result<(), Fault> {
    let Exchange { upgrade, head, response, response_input, response_bytes, .. } = exchange;
    let status = response.status;
    if !upgrade.asked(head.method).switches_protocol(status) {
        return check_client_accepts(exchange, status);
    }
    let bytes = response_input.front(*response_bytes);
    let fields = response.fields(bytes);
    if let Some(protocol) = upgrade.protocol() {
        let is_one = fields.all_named(b"upgrade").count() == 1;
        let is_same =
            fields.first_named(b"upgrade").is_some_and(|answer| answer.eq_ignore_ascii_case(protocol));
        let is_accepted = match &upgrade.accept {
            Some(accept) => fields.all_named(ACCEPT).eq([accept.as_slice()]),
            None => true,
        };
        if !(is_one && is_same && is_accepted) {
            return Err(Fault::ResponseHead(HeadFault::UnaskedSwitch));
        }
    }
    upgrade.stage = UpgradeStage::Done;
    Ok(())
}

/// Abandons the tunnel when a filter has replaced the endpoint's response.
///
/// # Errors
/// As [`check_client_accepts`].
pub(crate) fn settle(exchange: &mut Exchange) -> Result<(), Fault> {
    let status = exchange.response.status;
    if exchange.upgrade.is_done() && !exchange.upgrade.asked(exchange.head.method).switches_protocol(status) {
        exchange.upgrade.clear();
        exchange.response.body = ResponseBody::Length(0);
    }
    if exchange.upgrade.is_done() {
        // No HTTP follows.
        exchange.head.keep_alive = false;
    }
    check_client_accepts(exchange, status)
}

/// Checks whether a status may be sent to the client: a client that requires a tunnel would take success for one.
///
/// # Errors
/// [`HeadFault::NoTunnel`]
pub(crate) fn check_client_accepts(exchange: &Exchange, status: u16) -> Result<(), Fault> {
    let is_success = (200..300).contains(&status);
    if is_success && exchange.is_head_whole && exchange.head.wants_tunnel() && !exchange.upgrade.is_done() {
        return Err(Fault::ResponseHead(HeadFault::NoTunnel));
    }
    Ok(())
}

const KEY: &[u8] = b"sec-websocket-key";
const ACCEPT: &[u8] = b"sec-websocket-accept";
