//! Transports other than HTTP/1.1 requests.

/// A kind of load whose windows have a count and a cost, but no latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportScenario {
    /// 1 GiB on a TCP connection.
    Bulk,
    /// Messages of 100 bytes in both directions, one in flight on each TCP connection.
    Messages,
    /// WebSocket messages of 100 bytes in both directions, one in flight on each connection.
    WebSocket,
    /// GET of 128 bytes, sent by h2load; endpoints use HTTP/1.1.
    Requests {
        /// Protocol of the client connections.
        protocol: RequestProtocol,
        /// Client connections.
        connections: usize,
        /// Concurrent requests per connection.
        streams: usize,
    },
    /// gRPC calls with a message each way, over cleartext HTTP/2 on both sides.
    Call,
    /// TLS 1.3 connections that are closed right after the handshake.
    Handshake(Shake),
}

/// Protocol of a client connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestProtocol {
    /// Cleartext HTTP/2.
    Http2,
    /// HTTP/2 over TLS 1.3.
    Http2OverTls,
    /// HTTP/1.1 over TLS 1.3.
    Http1OverTls,
}

/// Kind of TLS handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shake {
    /// Full handshake with a certificate, X25519 key exchange.
    Full,
    /// Resumed by the ticket of an earlier session, X25519 key exchange.
    Resumed,
    /// Full handshake with a certificate, hybrid X25519 and ML-KEM-768 key exchange.
    PostQuantum,
}

/// Connections for gRPC calls.
pub const CALL_CONNECTIONS: usize = 16;
/// Concurrent gRPC calls per connection.
pub const CALL_STREAMS: usize = 10;
