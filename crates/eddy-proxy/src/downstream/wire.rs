//! Connection or stream that carries a request and its response.

use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use eddy_io::Stream;

use crate::h2::H2Stream;
use crate::message::DuplexStream;

/// Connection or stream that carries a request and its response.
#[derive(Debug)]
pub(crate) enum Wire {
    /// HTTP/1 connection, on which messages follow each other.
    Connection(Stream),
    /// Stream of an HTTP/2 connection, which carries one request and its response.
    Http2(H2Stream),
}

impl Wire {
    /// Returns the client's end of a tunnel.
    pub(crate) fn duplex(&mut self) -> &mut dyn DuplexStream {
        match self {
            Self::Connection(stream) => stream,
            Self::Http2(stream) => stream,
        }
    }

    /// Waits until there may be something to read, without a buffer to read it into.
    pub(crate) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Connection(stream) => stream.poll_readable(cx),
            Self::Http2(_) => Poll::Ready(Ok(())),
        }
    }

    /// Whether the peer of a connection has closed its side, as far as the event loop knows.
    pub(crate) fn is_ended(&self) -> bool {
        matches!(self, Self::Connection(stream) if stream.is_ended())
    }

    /// Shuts down eddy's side of a connection; a stream is ended by its response.
    ///
    /// # Errors
    /// When the peer has already reset the connection.
    pub(crate) fn shutdown_write(&mut self) -> io::Result<()> {
        match self {
            Self::Connection(stream) => stream.shutdown_write(),
            Self::Http2(_) => Ok(()),
        }
    }

    /// Sends the end-of-connection message of protocols that have one, such as TLS.
    pub(crate) fn send_tls_close(&mut self) {
        if let Self::Connection(stream) = self {
            stream.send_tls_close();
        }
    }

    /// Returns the local address of a connection, if it has one.
    pub(crate) fn local_address(&self) -> Option<SocketAddr> {
        match self {
            Self::Connection(stream) => stream.local_address(),
            Self::Http2(_) => None,
        }
    }
}
