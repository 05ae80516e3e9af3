//! Phases of an exchange, in order.

use std::rc::Rc;

use crate::exchange::attempt::{ChosenEndpoint, PooledAttempt};
use crate::upstream::WorkerCluster;

/// Phase of an exchange, with what only that phase has. Each phase returns the next one. A phase may be skipped but is
/// not repeated, except that a retry returns to [`ExchangePhase::Endpoint`], as does [`ExchangePhase::Upload`], and that
/// hedging returns from the transfer to [`ExchangePhase::HedgedLink`] when only attempts without a link are left.
#[derive(Debug)]
pub(crate) enum ExchangePhase {
    /// Read and parse the request head.
    Head,
    /// Decide whether the request is processed at all: limits, overload, validity of its path.
    Rules,
    /// Find the matching rule and its action.
    Route,
    /// Pass the request through the filters, then carry out the rule's action.
    Filter,
    /// Select an endpoint of the cluster, and take a link that is at hand.
    Endpoint,
    /// Buffer the request body first, when too many requests with an incomplete body occupy endpoints
    /// of this cluster.
    Upload(Rc<WorkerCluster>),
    /// Wait for a link to the endpoint.
    Link(Box<ChosenEndpoint>),
    /// Wait for the first of several hedged attempts to get its link.
    HedgedLink,
    /// Transfer the bodies and the response.
    Transfer(PooledAttempt),
    /// Relay bytes in both directions once the response has turned the connections into a tunnel.
    Tunnel(PooledAttempt),
    /// Respond without an endpoint: fixed response, redirect or fault.
    Reply,
    /// Update counters, write the access log entry, and decide what happens to the connection.
    Finish,
}
