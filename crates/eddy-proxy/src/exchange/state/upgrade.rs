//! Upgrade or tunnel that a request asks for.

use eddy_http::{Method, ResponseContext, Switched, Version, WEBSOCKET_ACCEPT_BYTES};

/// Upgrade state of an exchange.
#[derive(Debug, Default)]
pub(crate) struct Upgrade {
    pub(in crate::exchange) stage: UpgradeStage,
    /// Protocol that the endpoint is asked to switch to, as the client wrote it.
    pub(in crate::exchange) protocol: Vec<u8>,
    /// Value of `Sec-WebSocket-Accept` that the endpoint must send.
    pub(in crate::exchange) accept: Option<[u8; WEBSOCKET_ACCEPT_BYTES]>,
}

/// Stage of an upgrade.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::exchange) enum UpgradeStage {
    /// No upgrade.
    #[default]
    No,
    /// The endpoint is asked to switch protocols.
    Switch,
    /// `CONNECT` is forwarded to the endpoint.
    Connect,
    /// The endpoint is itself the destination of the tunnel and is sent no request.
    Open,
    /// The endpoint has agreed.
    Done,
}

impl Upgrade {
    pub(crate) fn clear(&mut self) {
        self.stage = UpgradeStage::No;
        self.protocol.clear();
        self.accept = None;
    }

    /// Returns the protocol that the endpoint is asked to switch to, if any.
    pub(crate) fn protocol(&self) -> Option<&[u8]> {
        (!self.protocol.is_empty()).then_some(&self.protocol)
    }

    /// Whether the endpoint is asked for a tunnel.
    pub(crate) fn is_asked(&self) -> bool {
        self.stage != UpgradeStage::No
    }

    /// Whether the endpoint is itself the destination of the tunnel and is sent no request.
    pub(crate) fn is_open(&self) -> bool {
        self.stage == UpgradeStage::Open
    }

    /// Whether the endpoint has agreed.
    pub(crate) fn is_done(&self) -> bool {
        self.stage == UpgradeStage::Done
    }

    /// Returns what the client's connection becomes with the response, if it changes.
    pub(crate) fn switched(&self) -> Option<Switched<'_>> {
        match (self.stage, self.protocol()) {
            (UpgradeStage::Done, Some(protocol)) => Some(Switched::To(protocol)),
            (UpgradeStage::Done, None) => Some(Switched::Tunnel),
            _ => None,
        }
    }

    /// Returns the context in which the endpoint's response is parsed.
    pub(crate) fn asked(&self, method: Method) -> ResponseContext {
        ResponseContext { method, has_upgrade: !self.protocol.is_empty() }
    }

    /// Returns the context of the response that is sent to the client.
    pub(crate) fn response_context(&self, method: Method, version: Version) -> ResponseContext {
        match self.stage {
            UpgradeStage::Done if version == Version::Http2 => Method::Connect.into(),
            UpgradeStage::Done => self.asked(method),
            // A refusal may have any status except success, which [`crate::exchange::upgrade::check_client_accepts`] checks.
            UpgradeStage::No | UpgradeStage::Switch | UpgradeStage::Connect | UpgradeStage::Open => {
                method.into()
            }
        }
    }
}
