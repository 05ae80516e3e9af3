//! Whether a request makes a tunnel of what it came by: what the client asks for, what the rule allows, and what the
//! endpoint says to it.
//!
//! Nothing but HTTP goes either way before the endpoint has agreed: what the client sends behind its request stays held,
//! and is the next request where the endpoint did not.

use eddy_config::{Action, Connect, WEBSOCKET};
use eddy_http::{
    HeadFault, Method, RequestBody, ResponseBody, ResponseContext, Switched, Version, WEBSOCKET_ACCEPT_BYTES,
    is_websocket_key, websocket_accept, websocket_key,
};
use eddy_io::BufferPool;
use eddy_upstream::Rng;

use crate::exchange::run::ExchangeCx;
use crate::exchange::state::Exchange;
use crate::fault::Fault;
use crate::link::UpstreamChannel;

/// What an exchange makes of what it came by.
#[derive(Debug, Default)]
pub(crate) struct Upgrade {
    stage: UpgradeStage,
    /// The protocol that the endpoint is asked to switch to, as the client wrote it.
    protocol: Vec<u8>,
    /// What the endpoint has to say to the key of a WebSocket.
    accept: Option<[u8; WEBSOCKET_ACCEPT_BYTES]>,
}

/// How far it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum UpgradeStage {
    /// Nothing but HTTP is spoken.
    #[default]
    No,
    /// The endpoint is asked to switch to a protocol.
    Switch,
    /// The endpoint is sent the `CONNECT`.
    Connect,
    /// The endpoint is what the tunnel leads to, and is sent nothing.
    Open,
    /// The endpoint has agreed.
    Done,
}

impl Upgrade {
    /// Makes as good as new.
    pub(crate) fn clear(&mut self) {
        self.stage = UpgradeStage::No;
        self.protocol.clear();
        self.accept = None;
    }

    /// The protocol that the endpoint is asked to switch to, if it is.
    pub(crate) fn protocol(&self) -> Option<&[u8]> {
        (!self.protocol.is_empty()).then_some(&self.protocol)
    }

    /// Whether the endpoint is asked for a tunnel.
    pub(crate) fn is_asked(&self) -> bool {
        self.stage != UpgradeStage::No
    }

    /// Whether the tunnel leads to the endpoint itself, which is sent no request.
    pub(crate) fn is_open(&self) -> bool {
        self.stage == UpgradeStage::Open
    }

    /// Whether the endpoint has agreed.
    pub(crate) fn is_done(&self) -> bool {
        self.stage == UpgradeStage::Done
    }

    /// What becomes of the client's connection with the response, if it becomes something else.
    pub(crate) fn switched(&self) -> Option<Switched<'_>> {
        match (self.stage, self.protocol()) {
            (UpgradeStage::Done, Some(protocol)) => Some(Switched::To(protocol)),
            (UpgradeStage::Done, None) => Some(Switched::Tunnel),
            _ => None,
        }
    }

    /// What the endpoint's response answers.
    pub(crate) fn asked(&self, method: Method) -> ResponseContext {
        ResponseContext { method, has_upgrade: !self.protocol.is_empty() }
    }

    /// What the client's response answers.
    pub(crate) fn asked_by(&self, method: Method, version: Version) -> ResponseContext {
        match self.stage {
            UpgradeStage::Done if version == Version::Http2 => Method::Connect.into(),
            UpgradeStage::Done => self.asked(method),
            // One that is refused may be told so in any way but success, which is seen to elsewhere.
            UpgradeStage::No | UpgradeStage::Switch | UpgradeStage::Connect | UpgradeStage::Open => {
                method.into()
            }
        }
    }
}

/// Finds out whether the endpoint is to be asked for a tunnel. Links that are shared by requests carry WebSockets alone, see
/// [`check_link`].
///
/// # Errors
/// [`HeadFault::ConnectRefused`] where the client wants a tunnel or nothing, and the rule has none for it.
pub(crate) fn decide(ctx: &mut ExchangeCx<'_>, is_shared: bool) -> Result<(), Fault> {
    let Exchange { upgrade, head, head_bytes, action, .. } = &mut *ctx.exchange;
    upgrade.clear();
    if !head.has_upgrade && !head.wants_tunnel() {
        return Ok(());
    }
    let action = ctx.plan.plan.action(*action);
    if head.method == Method::Connect {
        upgrade.stage = match action.map_or(Connect::Refuse, |action| action.upgrades.connect) {
            _ if is_shared => return Err(Fault::RequestHead(HeadFault::ConnectRefused)),
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

/// Gives an extended `CONNECT` the key that a WebSocket has over HTTP/1.1; what a client says there is no key.
pub(crate) fn add_key(exchange: &mut Exchange, rng: &mut Rng) {
    let random = u128::from(rng.bits()) << 64 | u128::from(rng.bits());
    let key = websocket_key(random.to_be_bytes());
    if exchange.head.edit(&mut exchange.head_bytes).set(KEY, &key).is_err() {
        // A head that is full of other fields goes on without, and is refused for that.
        tracing::debug!("there is no room for the key of a WebSocket");
    }
}

/// Gives up on a switch where a filter has given the request a body, which would have to come first.
///
/// # Errors
/// [`HeadFault::ConnectRefused`] where the client wants a tunnel or nothing.
pub(crate) fn check_body(exchange: &mut Exchange, body: RequestBody) -> Result<(), Fault> {
    if exchange.upgrade.is_asked() && !body.is_empty() {
        exchange.upgrade.clear();
        if exchange.head.wants_tunnel() {
            return Err(Fault::RequestHead(HeadFault::ConnectRefused));
        }
    }
    Ok(())
}

/// Gives up on a switch where the link has none.
///
/// # Errors
/// As [`check_body`].
pub(crate) fn check_link(exchange: &mut Exchange) -> Result<(), Fault> {
    let takes_tunnels = exchange.upstream.as_ref().is_none_or(UpstreamChannel::takes_tunnels);
    if exchange.upgrade.is_asked() && !takes_tunnels {
        exchange.upgrade.clear();
        if exchange.head.wants_tunnel() {
            return Err(Fault::RequestHead(HeadFault::ConnectRefused));
        }
    }
    Ok(())
}

/// Says what an endpoint would say that had been asked for the tunnel which leads to it.
pub(crate) fn open(exchange: &mut Exchange, buffers: &BufferPool) {
    exchange.release_input(buffers);
    exchange.response_input = buffers.take_small();
    exchange.response_input.append(b"HTTP/1.1 200 OK\r\n\r\n");
}

/// Takes note of the endpoint's final response: whether it has agreed, and to what was asked for.
///
/// # Errors
/// When it has agreed to something else, or the client wants a tunnel and would take the response for one.
pub(crate) fn hear(exchange: &mut Exchange) -> Result<(), Fault> {
    let Exchange { upgrade, head, response, response_input, response_bytes, .. } = exchange;
    let status = response.status;
    if !upgrade.asked(head.method).is_switched_by(status) {
        return may_say(exchange, status);
    }
    let bytes = response_input.held().get(..*response_bytes).unwrap_or_default();
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

/// Gives up on the tunnel where the answer is not the endpoint's any more: a filter has put another in its place.
///
/// # Errors
/// As [`may_say`].
pub(crate) fn settle(exchange: &mut Exchange) -> Result<(), Fault> {
    let status = exchange.response.status;
    if exchange.upgrade.is_done() && !exchange.upgrade.asked(exchange.head.method).is_switched_by(status) {
        exchange.upgrade.clear();
        exchange.response.body = ResponseBody::Length(0);
    }
    if exchange.upgrade.is_done() {
        // Nothing of HTTP follows.
        exchange.head.keep_alive = false;
    }
    may_say(exchange, status)
}

/// Whether a status may go to the client: success would be a tunnel to one that wants one.
///
/// # Errors
/// [`HeadFault::NoTunnel`]
pub(crate) fn may_say(exchange: &Exchange, status: u16) -> Result<(), Fault> {
    let is_success = (200..300).contains(&status);
    if is_success && exchange.is_head_whole && exchange.head.wants_tunnel() && !exchange.upgrade.is_done() {
        return Err(Fault::ResponseHead(HeadFault::NoTunnel));
    }
    Ok(())
}

const KEY: &[u8] = b"sec-websocket-key";
const ACCEPT: &[u8] = b"sec-websocket-accept";
