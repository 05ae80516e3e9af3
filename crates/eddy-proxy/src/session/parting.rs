//! State in which a connection is left when it has been served.

/// State of a connection after serving HTTP/1 or forwarding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parting {
    /// The last message on it was complete.
    Whole,
    /// The last message on it was truncated.
    Cut,
    /// The connection continues with HTTP/2.
    Framed,
}
