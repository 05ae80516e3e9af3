//! The steps of an exchange, in order.

/// Where an exchange stands. Each step says which comes next; a step is skipped but never repeated, except
/// that a retry goes back to [`Phase::Endpoint`], as does [`Phase::Upload`], and a race of attempts to [`Phase::Link`] where only such are left in it that
/// have no link yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ExchangePhase {
    /// Read and check the request's head.
    Head,
    /// Decide whether the request may be worked on at all: limits, overload, the form of its path.
    Rules,
    /// Find the rule that wins and what it does.
    Route,
    /// Take the request through the filters, then do what the rule says.
    Filter,
    /// Choose an endpoint of the cluster.
    Endpoint,
    /// Wait for the body first, where too many requests wait for theirs at endpoints.
    Upload,
    /// Obtain a link to it and write the request's head.
    Link,
    /// Move the bodies and the response.
    Transfer,
    /// Pass on what both sides say once the response has made a tunnel of their connections.
    Tunnel,
    /// Answer without an endpoint: a fixed response, a redirect or a fault.
    Reply,
    /// Count, record, and say what becomes of the connection.
    Finish,
}
