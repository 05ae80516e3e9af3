//! Why a session of datagrams ends, and what that says of its endpoint.

use crate::fault::Fault;

/// Why a session has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DatagramSessionEnd {
    /// Nothing came either way for too long.
    Idle,
    /// Every datagram of the client's has had its answers.
    Answered,
    /// The room was needed, or the listener is gone.
    Closed,
    /// The endpoint is no member of its cluster any more, or not well.
    Left,
    /// The endpoint takes no datagrams.
    Refused,
    /// The endpoint, which has to answer, has not.
    Unanswered,
}

impl DatagramSessionEnd {
    /// What it says of the endpoint, if it does.
    pub(super) fn fault(self) -> Option<Fault> {
        match self {
            Self::Refused => Some(Fault::ConnectFailed),
            Self::Unanswered => Some(Fault::UpstreamIdle),
            Self::Idle | Self::Answered | Self::Closed | Self::Left => None,
        }
    }

    /// A word for the access record.
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
