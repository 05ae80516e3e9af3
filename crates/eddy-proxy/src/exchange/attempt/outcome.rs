//! Ends of attempts whose response does not become the client's.

use eddy_http::GrpcStatus;

use crate::fault::Fault;

/// Failure of an attempt, as far as retries and failover are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttemptFailure {
    /// The endpoint brought no complete response head.
    Fault(Fault),
    /// The endpoint responded with this status, which the rule may retry.
    Status(u16),
    /// The endpoint ended the gRPC call, without a message, with this status, which the rule may retry.
    Grpc(GrpcStatus),
}

/// End of an attempt whose response does not become the client's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttemptEnd {
    /// The attempt has failed.
    Failed(Fault),
    /// The response is discarded: another attempt in progress may bring a better one.
    Deferred,
    /// The response is discarded: the request is sent again, and that has been claimed.
    Repeated,
    /// An error page replaces the response, which has this status.
    ErrorPage(u16),
    /// A filter replies in place of the endpoint.
    FilterReply,
}

impl From<Fault> for AttemptEnd {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault)
    }
}
