//! Side of an HTTP/2 connection.

/// Side of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Http2Role {
    Server,
    /// Scheme of the requests: `http` or `https`.
    Client {
        scheme: &'static str,
    },
}
