//! Reasons why a datagram session ends, and which of them are faults of the endpoint.

use crate::fault::Fault;

/// Reason why a session has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DatagramSessionEnd {
    /// No datagram passed in either direction for too long.
    Idle,
    /// All datagrams of the client have got their responses.
    Answered,
    /// The session was closed to make room, or the listener is gone.
    Closed,
    /// The endpoint has left its cluster or is unhealthy.
    Left,
    /// The endpoint does not accept datagrams.
    Refused,
    /// The endpoint did not respond although responses are expected.
    Unanswered,
}

impl DatagramSessionEnd {
    /// Returns the fault of the endpoint, if the end is one.
    pub(super) fn fault(self) -> Option<Fault> {
        match self {
            Self::Refused => Some(Fault::ConnectFailed),
            Self::Unanswered => Some(Fault::UpstreamIdle),
            Self::Idle | Self::Answered | Self::Closed | Self::Left => None,
        }
    }

    /// Returns the reason for the access log entry.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Answered => "answered",
            Self::Closed => "closed",
            Self::Left => "endpoint_left",
            Self::Refused | Self::Unanswered => self.fault().map_or("-", Fault::reason),
        }
    }
}
