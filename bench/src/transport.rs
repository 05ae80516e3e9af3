//! What connections do that is more or less than requests of HTTP/1.

/// A way of keeping a target busy whose windows have a count and a cost, and no latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportScenario {
    /// 1 GiB on a connection of TCP.
    Bulk,
    /// Messages of 100 bytes there and back, one under way on each connection of TCP.
    Messages,
    /// The same as messages of WebSockets.
    WebSocket,
    /// GET of 128 bytes by HTTP/2; endpoints speak HTTP/1.1.
    Http2 {
        /// Connections of clients.
        connections: usize,
        /// Requests at once on each of them.
        streams: usize,
        /// Whether they are inside of TLS.
        is_tls: bool,
    },
    /// Calls of gRPC with a message each way, by HTTP/2 in cleartext on both sides.
    Call,
    /// Connections over TLS 1.3 that end as soon as they are agreed on.
    Handshake(Shake),
}

/// How a connection over TLS is agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shake {
    /// With a certificate, keys by X25519.
    Full,
    /// By the ticket of a session before, keys by X25519.
    Resumed,
    /// With a certificate, keys by X25519 and ML-KEM-768 together.
    PostQuantum,
}

/// Connections of calls.
pub const CALL_CONNECTIONS: usize = 16;
/// Calls at once on each of them.
pub const CALL_STREAMS: usize = 10;
