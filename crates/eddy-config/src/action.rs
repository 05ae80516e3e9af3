//! The part of the checked configuration that says what rules do.

use std::sync::Arc;
use std::time::Duration;

use eddy_http::{FieldEdits, GrpcStatuses};

use crate::config::{RuleFilterConfig, SitesAt};
use crate::upgrade::Upgrades;

/// What a rule does with a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// Who answers.
    pub kind: ActionKind,
    /// Edits to the request's fields.
    pub request_edits: FieldEdits,
    /// Edits to the response's fields.
    pub response_edits: FieldEdits,
    /// The host sent upstream instead of the client's.
    pub host_rewrite: Option<Arc<str>>,
    /// Longest time of the exchange under this rule; overrides the listener's.
    pub timeout: Option<Duration>,
    /// Longest time of one attempt, from the choice of an endpoint to the end of its response.
    pub attempt_timeout: Option<Duration>,
    /// When to try another endpoint.
    pub retry: RetryConfig,
    /// When another endpoint is asked although the first may still answer.
    pub hedge: Option<HedgeConfig>,
    /// Where requests go that its cluster could not serve, one after the other.
    pub failover: Vec<Failover>,
    /// What it says of filters of the listener.
    pub filters: Vec<RuleFilterConfig>,
    /// Where copies of its requests go.
    pub mirrors: Vec<Mirror>,
    /// What connections may become.
    pub upgrades: Upgrades,
}

/// A cluster that requests go on to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failover {
    /// The cluster, by index.
    pub cluster: usize,
    /// What has to have happened at the one before.
    pub when: Vec<FailoverReason>,
}

/// Why a request goes on to another cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailoverReason {
    /// It could not be served: nobody was reached, or there was no answer, or one of 404 or 500 and above.
    Any,
    /// No endpoint has looked at it.
    Unreachable,
    /// The answer was 404.
    NotFound,
}

/// Where copies of requests go, whose answers nobody waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// The cluster, by index.
    pub cluster: usize,
    /// Of so many requests …
    pub numerator: u32,
    /// … of so many; at least 1.
    pub denominator: u32,
    /// The host that copies name.
    pub host: MirrorHost,
}

/// The host that copies of a request name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MirrorHost {
    /// That of the request.
    #[default]
    Same,
    /// The same with `-shadow` behind it, before the port; an address in brackets stays, since it would be none any more.
    Shadow,
}

impl Action {
    /// An action that changes nothing on the way, with default settings.
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

/// Who answers a request.
#[derive(Clone, Debug, PartialEq)]
pub enum ActionKind {
    /// One cluster, by index.
    Cluster(usize),
    /// Several clusters, drawn by weight.
    Weighted(Vec<WeightedCluster>),
    /// Other actions, drawn by weight, one of which is done instead. None of them is a split again.
    Split(Vec<WeightedAction>),
    /// eddy itself.
    Respond(Respond),
    /// eddy itself, sending the client elsewhere.
    Redirect(Redirect),
    /// Whoever answers at servers of NGINX's.
    Sites(SitesAt),
}

/// A cluster and its share of a rule's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightedCluster {
    /// The cluster, by index.
    pub cluster: usize,
    /// Its share relative to the others.
    pub weight: u32,
}

/// An action and its share of a rule's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightedAction {
    /// The action, by index.
    pub action: usize,
    /// Its share relative to the others.
    pub weight: u32,
}

/// A fixed answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Respond {
    /// Status code, 200 to 599.
    pub status: u16,
    /// The whole body; at most 1 MiB.
    pub body: Arc<[u8]>,
    /// `Content-Type` of the body.
    pub content_type: Arc<str>,
}

/// A redirect; what is not given stays as in the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// 301, 302, 303, 307 or 308.
    pub status: u16,
    /// `http` or `https`.
    pub scheme: Option<Arc<str>>,
    /// Host, perhaps with a port.
    pub host: Option<Arc<str>>,
    /// Drop the request's query.
    pub strip_query: bool,
    /// A port, put behind the host.
    pub port: Option<u16>,
    /// The path instead of the request's, with a query of its own perhaps.
    pub path: Option<Arc<str>>,
    /// Always name scheme and host, the request's where none are given.
    pub is_absolute: bool,
}
// The path of a redirect is the rule's path rewrite, where it has one, else the request's.

/// When a request is tried again at another endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryConfig {
    /// Attempts beside the first. Default 1.
    pub attempts: u8,
    /// Statuses of the endpoint, beside a failure to connect or a reused link that closed before the first byte,
    /// for which an idempotent request without a body is tried again. Default none.
    pub statuses: Vec<u16>,
    /// Whether an idempotent request without a body is tried again after its endpoint closed a fresh link without an answer. Default no.
    pub on_reset: bool,
    /// Statuses of gRPC with which an endpoint ends a call, without an answer, that is tried again. Default none.
    pub grpc_statuses: GrpcStatuses,
    /// Statuses that count as failures of the endpoint. Default 502, 503 and 504.
    pub failure_statuses: FailureStatuses,
}

/// Statuses of answers that count as failures of their endpoint, for its ejection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailureStatuses {
    /// 502, 503 and 504.
    #[default]
    Gateway,
    /// Those of [`RetryConfig::statuses`] without 403 and 404, for requests that may be sent again while attempts are left.
    Retried,
}

/// When a request is sent to another endpoint, too, as the first has not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HedgeConfig {
    /// How long the latest attempt is given alone.
    pub after: Duration,
    /// Attempts beside the first; at least 1. Those that were tried again count.
    pub attempts: u8,
}

impl Default for RetryConfig {
    fn default() -> Self {
        Self {
            attempts: 1,
            statuses: Vec::new(),
            on_reset: false,
            grpc_statuses: GrpcStatuses::default(),
            failure_statuses: FailureStatuses::default(),
        }
    }
}
