//! Checked configuration of rule actions.

use std::time::Duration;

use eddy_http::{FieldEdits, GrpcStatuses};
use eddy_ids::{ClusterId, Shared};

use crate::filter::RuleFilterConfig;
use crate::upgrade::Upgrades;

/// Action of a rule: what is done with a request that matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// Where the response comes from.
    pub kind: ActionKind,
    /// Changes to the request headers.
    pub request_edits: FieldEdits,
    /// Changes to the response headers.
    pub response_edits: FieldEdits,
    /// Host that is sent upstream instead of the client's.
    pub host_rewrite: Option<Shared<str>>,
    /// Maximum time of an exchange under this rule; overrides the listener's.
    pub timeout: Option<Duration>,
    /// Maximum time of one attempt, from the selection of an endpoint to the end of its response.
    pub attempt_timeout: Option<Duration>,
    /// When another endpoint is tried.
    pub retry: RetryConfig,
    /// When a second attempt is sent while the first may still be answered.
    pub hedge: Option<HedgeConfig>,
    /// Clusters that are tried in order when the rule's own cluster could not serve the request.
    pub failover: Vec<Failover>,
    /// Overrides for the filters of the listener.
    pub filters: Vec<RuleFilterConfig>,
    /// Mirrors: where copies of the requests are sent.
    pub mirrors: Vec<Mirror>,
    /// Protocol upgrades and `CONNECT`.
    pub upgrades: Upgrades,
}

/// A failover cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failover {
    /// The cluster.
    pub cluster: ClusterId,
    /// Outcomes at the previous cluster for which this one is tried.
    pub when: Vec<FailoverReason>,
}

/// Why a request fails over to another cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailoverReason {
    /// The cluster could not serve the request: no endpoint was reached, no response came, or its status was 404, or
    /// 500 or above.
    Any,
    /// No endpoint has processed the request.
    Unreachable,
    /// The response was 404.
    NotFound,
}

/// Where copies of requests are sent; their responses are discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// The cluster.
    pub cluster: ClusterId,
    /// Numerator of the share of requests that are copied.
    pub numerator: u32,
    /// Denominator of that share; at least 1.
    pub denominator: u32,
    /// Host in the copies.
    pub host: MirrorHost,
}

/// Host in the copies of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MirrorHost {
    /// The host of the request.
    #[default]
    Same,
    /// The host of the request with `-shadow` appended, before the port. An address in brackets is unchanged, as it
    /// would no longer be an address.
    Shadow,
}

impl Action {
    /// Returns an action with default settings that changes nothing.
    pub fn new(kind: ActionKind) -> Self {
        Self {
            kind,
            request_edits: FieldEdits::new(),
            response_edits: FieldEdits::new(),
            host_rewrite: None,
            timeout: None,
            attempt_timeout: None,
            retry: RetryConfig::default(),
            hedge: None,
            failover: Vec::new(),
            filters: Vec::new(),
            mirrors: Vec::new(),
            upgrades: Upgrades::default(),
        }
    }
}

/// Where the response to a request comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum ActionKind {
    /// One cluster.
    Cluster(ClusterId),
    /// Several clusters, selected by weight.
    Weighted(Vec<WeightedCluster>),
    /// Several other actions, one of which is selected by weight and carried out instead. None of them is itself a
    /// split.
    Split(Vec<WeightedAction>),
    /// A local reply.
    Respond(Respond),
    /// A local reply that redirects the client.
    Redirect(Redirect),
    /// The servers of an NGINX configuration.
    Sites(SitesAt),
}

/// A cluster and its share of a rule's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightedCluster {
    /// The cluster.
    pub cluster: ClusterId,
    /// Share relative to the other clusters.
    pub weight: u32,
}

/// An action and its share of a rule's requests.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedAction {
    /// The action. Its filter settings have no effect: those of the rule apply.
    pub action: Shared<Action>,
    /// Share relative to the other actions.
    pub weight: u32,
}

/// A fixed response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Respond {
    /// Status code, 200 to 599.
    pub status: u16,
    /// Complete body; at most 1 MiB.
    pub body: Shared<[u8]>,
    /// `Content-Type` of the body.
    pub content_type: Shared<str>,
}

/// A redirect; parts that are not given are taken from the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// 301, 302, 303, 307 or 308.
    pub status: u16,
    /// `http` or `https`.
    pub scheme: Option<Shared<str>>,
    /// Host, with an optional port.
    pub host: Option<Shared<str>>,
    /// Whether the query of the request is dropped.
    pub strip_query: bool,
    /// Port that is appended to the host.
    pub port: Option<u16>,
    /// Path that replaces the request's; may include a query.
    pub path: Option<Shared<str>>,
    /// Whether scheme and host are always written; the request's are used where none are given.
    pub is_absolute: bool,
}
// The path of a redirect is the rule's path rewrite if there is one, else the request's path.

/// When a request is retried at another endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryConfig {
    /// Attempts in addition to the first. Default 1.
    pub attempts: u8,
    /// Response statuses for which an idempotent request without a body is retried. Default none. Connect failures and
    /// reused upstream connections that closed before the first byte are always retried.
    pub statuses: Vec<u16>,
    /// Whether an idempotent request without a body is retried when a new upstream connection closed without a
    /// response. Default no.
    pub on_reset: bool,
    /// Whether an idempotent request without a body is retried when an attempt got no response in time. Default no.
    pub on_timeout: bool,
    /// gRPC statuses for which a call is retried when the endpoint ended it without a response message. Default none.
    pub grpc_statuses: GrpcStatuses,
    /// Statuses that count as failures of the endpoint. Default 502, 503 and 504.
    pub failure_statuses: FailureStatuses,
}

/// Response statuses that count as failures of the endpoint, for its ejection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailureStatuses {
    /// 502, 503 and 504.
    #[default]
    Gateway,
    /// The statuses of [`RetryConfig::statuses`] except 403 and 404, for requests that may be sent again and have
    /// attempts left.
    Retried,
}

/// When a request is sent to a second endpoint because the first has not answered yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HedgeConfig {
    /// Time without a response to the latest attempt after which the next one is sent.
    pub after: Duration,
    /// Attempts in addition to the first; at least 1. Retries count as attempts.
    pub attempts: u8,
}

impl Default for RetryConfig {
    fn default() -> Self {
        Self {
            attempts: 1,
            statuses: Vec::new(),
            on_reset: false,
            on_timeout: false,
            grpc_statuses: GrpcStatuses::default(),
            failure_statuses: FailureStatuses::default(),
        }
    }
}

/// The servers of an NGINX configuration that listen at one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SitesAt {
    /// Index of the NGINX configuration in [`GatewayConfig::sites`].
    pub sites: usize,
    /// Index of the address within it.
    pub address: usize,
}
