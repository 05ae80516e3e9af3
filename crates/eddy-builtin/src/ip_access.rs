//! Allowlist and denylist of client addresses.

use eddy_filter::{Interest, Phase, Verdict};
use eddy_http::GrpcStatus;

use super::address::{ClientAddress, ClientConfig, IpBlock};
use super::context::{BuiltinContext, MetricCounter};
use super::library::{Builtin, PhaseContext};

/// Configuration of `ip_access`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IpAccessConfig {
    /// Denied addresses; takes precedence over `allow`.
    pub deny: Vec<IpBlock>,
    /// Allowed addresses; if not empty, all others are denied.
    pub allow: Vec<IpBlock>,
    /// Source of the client address.
    pub client: ClientConfig,
}

/// Filter that allows or denies client addresses.
#[derive(Debug)]
pub(super) struct IpAccess {
    config: IpAccessConfig,
    refused: MetricCounter,
}

impl IpAccess {
    /// Creates the filter.
    pub(super) fn new(config: &IpAccessConfig, context: &BuiltinContext) -> Self {
        Self { config: config.clone(), refused: context.counter("refused") }
    }

    fn is_client_allowed(&self, client: ClientAddress) -> bool {
        let ClientAddress::Ip(address) = client else {
            return client == ClientAddress::Unix && self.config.allow.is_empty();
        };
        let is_in = |blocks: &[IpBlock]| blocks.iter().any(|block| block.contains(address));
        !is_in(&self.config.deny) && (self.config.allow.is_empty() || is_in(&self.config.allow))
    }
}

impl Builtin for IpAccess {
    fn interest(&self) -> Interest {
        Interest::of(&[Phase::RequestHead])
    }

    fn enter(&self, answer: &mut PhaseContext<'_>) -> Verdict {
        if answer.view.phase != Phase::RequestHead
            || self.is_client_allowed(self.config.client.client(answer.view))
        {
            return Verdict::Continue;
        }
        self.refused.count(answer.worker);
        let verdict = answer.reply(403, "forbidden\n", "ip_access");
        answer.reply_grpc(GrpcStatus::PermissionDenied);
        verdict
    }
}
