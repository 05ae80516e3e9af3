//! Phases of an exchange, in order.

/// Phase of an exchange. Each phase returns the next one. A phase may be skipped but is not repeated, except that a
/// retry returns to [`ExchangePhase::Endpoint`], as does [`ExchangePhase::Upload`], and that hedging returns to
/// [`ExchangePhase::Link`] when only attempts without a link are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ExchangePhase {
    /// Read and parse the request head.
    Head,
    /// Decide whether the request is processed at all: limits, overload, validity of its path.
    Rules,
    /// Find the matching rule and its action.
    Route,
    /// Pass the request through the filters, then carry out the rule's action.
    Filter,
    /// Select an endpoint of the cluster.
    Endpoint,
    /// Buffer the request body first, when too many requests with an incomplete body occupy endpoints.
    Upload,
    /// Obtain a link to the endpoint and write the request head.
    Link,
    /// Transfer the bodies and the response.
    Transfer,
    /// Relay bytes in both directions once the response has turned the connections into a tunnel.
    Tunnel,
    /// Respond without an endpoint: fixed response, redirect or fault.
    Reply,
    /// Update counters, write the access log entry, and decide what happens to the connection.
    Finish,
}
